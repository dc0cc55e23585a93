"""Qualities of contigs that exact overlaps were laid out to."""

import numpy as np

from overlapper.assemble.agreement import AGREED, with_agreement
from overlapper.correct.own_reads import OwnReads
from overlapper.correct.polish import Unitigs
from overlapper.tables import Reads


def on(intervals):
    """Reads on unitigs, as unitig, start and bases."""
    unitig, start, bases = np.array(intervals, np.int64).T
    none = np.zeros(len(unitig), np.int64)
    return OwnReads(
        unitig.astype(np.int32), none.astype(np.int32), start, none.astype(bool), none.astype(np.int32),
        bases.astype(np.int32), none, bases,
    )  # fmt: skip


def test_bases_that_three_reads_have_are_sure():
    unitigs = Unitigs(Reads.from_sequences(["l", "c"], ["A" * 12, "C" * 10]), np.array([False, True]))
    reads = on([(1, 8, 4), (0, 0, 9), (0, 2, 10), (1, -2, 5), (0, 4, 8), (1, 7, 10)])
    made = with_agreement(unitigs, reads)
    assert made.names == ["l", "c"]
    assert made[0].qualities.tolist() == [0] * 4 + [AGREED] * 5 + [0] * 3
    assert made[1].qualities.tolist() == [AGREED] * 2 + [0] * 6 + [AGREED] * 2


def test_no_unitigs():
    assert len(with_agreement(Unitigs(Reads.empty(), np.zeros(0, bool)), on(np.zeros((0, 3))))) == 0
