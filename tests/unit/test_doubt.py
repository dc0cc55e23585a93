"""What doubts of corrected reads count."""

from types import SimpleNamespace

import numpy as np
import pytest

from overlapper.correction import thresholds
from overlapper.correction.pileup_source import PileupSource
from overlapper.correction.pileups import Rows
from overlapper.io.read_store import ReadStore
from overlapper.params.correction import CorrectParams
from overlapper.tables import Reads


@pytest.mark.parametrize(
    ("outside", "in_runs", "doubt"),
    [
        (0, 0, 8),  # not divided: half a doubt
        (0, 20, 16),  # 20 of 100,000 bases are, all in runs
        (10, 10, 21),  # half of them elsewhere: 2 (11 / 30)^2 more
        (310, 10, 89),  # the fourth root of 16 times as many, nearly all elsewhere
        (5_000, 5_000, 72),  # three doubts at most, before it counts where they are
    ],
)
def test_doubts_count_more_where_reads_are_divided_outside_of_runs(monkeypatch, outside, in_runs, doubt):
    def consensus(pileups, params, threads, *, doubt):
        kept = outside * (params.thresholds[-1] < 45) + in_runs * (params.run_threshold < 45)
        return SimpleNamespace(codes=np.zeros(100_000 + kept))

    monkeypatch.setattr(thresholds, "consensus", consensus)
    store = ReadStore.of(Reads.from_sequences(["a"], ["ACGT"]))
    pileups = PileupSource.of_rows(store, store, Rows.empty(), None, targets_vote=True)
    assert thresholds.fit_doubt(pileups, CorrectParams().of_corrected_reads(0.0), 1) == doubt
