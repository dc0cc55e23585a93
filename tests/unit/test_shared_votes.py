"""CPU and GPUs share the windows of a consensus; no GPU is needed, as the CPU does what one is given."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from overlapper import find_overlaps, random_genome, simulate_reads
from overlapper.correct import consensus, consensus_gpu
from overlapper.correct.pileups import Pileups, rows_of
from overlapper.correct.resources import Workers
from overlapper.correct.voting_rows import MOST_SURPLUS
from overlapper.kernels.consensus.consensus import correct_windows
from overlapper.kernels.consensus.layers import Sequences
from overlapper.params.correction import CorrectParams
from overlapper.simulate import adapted_model
from tests.read_sets import columns_of


@pytest.mark.parametrize("threads", [1, 6])
def test_windows_that_are_shared_are_voted_on_as_by_the_cpu_alone(monkeypatch, threads):
    batches = []

    def there(gpus, targets, reads, windows, rows, settings):
        batches.append(len(windows.target))
        sequences = Sequences.of(targets), Sequences.of(reads)
        crowded = np.zeros(len(windows.target), bool)  # their rows are chosen already
        return correct_windows(*sequences, windows, rows, crowded, MOST_SURPLUS, settings)

    monkeypatch.setattr(consensus_gpu, "correct_windows", there)
    monkeypatch.setattr(consensus, "GPU_LEAST_BASES", 100_000)
    monkeypatch.setattr(consensus, "BLOCK_BASES", 3_000)
    model = adapted_model("hifi", mean_length=2000)
    reads, _ = simulate_reads(random_genome(20_000, seed=1), model, coverage=15, seed=2)
    rows = rows_of(find_overlaps(reads, "hifi", min_overlap=300))
    pileups = Pileups(reads, reads, rows, targets_vote=True)
    params = dataclasses.replace(CorrectParams(), thresholds=(30, 57), run_threshold=57)
    alone = consensus.consensus(pileups, params, Workers(threads))
    assert not batches
    shared = consensus.consensus(pileups, params, Workers(threads, SimpleNamespace(slots=2)))
    for column in dataclasses.fields(shared)[:-1]:
        assert np.array_equal(getattr(shared, column.name), getattr(alone, column.name))
    assert columns_of(shared.alike) == columns_of(alone.alike)
    assert len(alone.alike) > len(reads)
    assert max(batches) > 1
    assert (sum(batches) == len(reads)) == (threads == 1)

    few = pileups.sample(2)
    batches.clear()
    consensus.consensus(few, params, Workers(threads, SimpleNamespace(slots=2)))
    assert not batches
