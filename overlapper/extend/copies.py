"""Which overlaps join reads of the same copy: of a haplotype, or of a repeat.

Accurate reads of one copy are equal but for errors. An error is in one read; a difference between copies is
in all reads of either copy.

Definition
----------
Overlaps of more than ``most_edits`` edits join different copies, and are not looked at below. All others have
differences (`overlapper.extend.differences`), each with a place on either read. A different length of a
homopolymer run of `SHORTEST_RUN` bases or more in either read is not counted: corrected noisy reads keep
wrong lengths of runs, many reads the same.

1. A difference *counts* if each of the two reads has another overlap that shows the same at the same place:
   what one read alone has is its error.
2. A place of a read is *confirmed* if two or more of the overlaps nearest to the read do not differ there. Of
   the overlaps that cover the place, take how many differences each has elsewhere that count: the nearest are
   those with no more than the second smallest number. Where a read was corrected to the base of another copy,
   it differs from the reads of its own there, and the place is not confirmed. Differences at such places no
   longer count, for either read. This is repeated until none goes.
3. An overlap joins different copies if it has a difference that counts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from overlapper.extend.differences import Differences, find_differences
from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.selection import copies as kernel
from overlapper.runtime.memory import check_room
from overlapper.runtime.threads import even_ranges, for_each
from overlapper.tables import Overlaps, Reads
from overlapper.tables.ragged import offsets_of

MOST_EDITS = 64
"""Most edits of an overlap within a copy: 99 in 100 overlaps within a haplotype of corrected HiFi and R10
reads (MHC) have no more."""
SHORTEST_RUN = 3
"""Bases of the shortest run whose length is ignored. Overlaps within a place, of R9 reads (9 % errors) of 1.8
Mb of human X, have .40 counted differences without this rule, .37 of them in such runs."""
BYTES_AN_OVERLAP = 150
"""Bytes of memory for each overlap besides its differences: the table of compared overlaps, and
`_pileups`."""
_BLOCKS = 64


@dataclasses.dataclass(frozen=True, eq=False)
class Copies:
    """Which of ``n`` overlaps are within a copy, by the number of differences between copies."""

    edits: np.ndarray
    """int32, shape (n,); differences of the two reads; -1 for more than ``most_edits``."""
    differing: np.ndarray
    """int32, shape (n,); those between copies; 0 where there are too many edits."""
    same: np.ndarray
    """bool, shape (n,); whether both reads may be of one copy."""


def tell_copies(
    reads: Reads,
    overlaps: Overlaps,
    *,
    most_edits: int = MOST_EDITS,
    room: int | None = None,
    threads: int = 1,
) -> Copies:
    """Tell overlaps within a copy from overlaps between copies.

    Parameters
    ----------
    reads : Reads
        HiFi reads or corrected reads.
    overlaps : Overlaps
        All overlaps of these reads.
    most_edits : int
        Edits above which reads are of different copies.
    room : int, optional
        Bytes of memory to stay within.
    """
    needed = BYTES_AN_OVERLAP * len(overlaps)
    check_room(needed, room, f"{len(overlaps):,} overlaps")
    room = None if room is None else room - needed
    found = find_differences(reads, overlaps, most_edits, room=room, threads=threads)
    found = _outside_runs(reads, overlaps, found)
    pileups, overlap = _pileups(len(reads), overlaps, found), found.overlap
    weights = np.diff(pileups.first) + 1
    blocks = even_ranges(weights, int(weights.sum()) // _BLOCKS + 1)

    def mark(function: Callable[..., None], *arguments: Any) -> None:
        for_each(lambda block: function(pileups, *block, *arguments), blocks, threads)

    marks = np.ones(found.place.shape, np.bool_)
    mark(kernel.seen_again, marks.all(axis=1), marks)
    counts, going = marks.all(axis=1), True
    while going:
        differing = np.bincount(overlap[counts], minlength=len(overlaps)).astype(np.int32)
        mark(kernel.confirm, counts, differing, marks)
        left = counts & marks.all(axis=1)
        going = bool((counts != left).any())
        counts = left
    same = (found.edits >= 0) & (differing == 0)
    return Copies(found.edits, differing, same)


def _outside_runs(reads: Reads, overlaps: Overlaps, found: Differences) -> Differences:
    """Leave out differences in the length of a homopolymer run."""
    overlap = found.overlap
    rows = np.stack([overlaps.query, overlaps.target], axis=1)
    outside = ~kernel.in_runs(PackedReads.of(reads), rows, overlap, found.place, found.other, SHORTEST_RUN)
    left = np.bincount(overlap[outside], minlength=len(overlaps))
    return Differences(found.edits, offsets_of(left), found.place[outside], found.other[outside])


def _pileups(reads: int, overlaps: Overlaps, found: Differences) -> kernel.Pileups:
    compared = np.flatnonzero(found.edits >= 0)
    o = overlaps.take(compared)
    read = np.concatenate([o.query, o.target])
    order = np.argsort(read, kind="stable")
    return kernel.Pileups(
        first=offsets_of(np.bincount(read, minlength=reads)),
        row=np.tile(compared, 2)[order],
        side=np.repeat(np.array([0, 1], np.uint8), len(compared))[order],
        start=np.concatenate([o.q_start, o.t_start])[order],
        end=np.concatenate([o.q_end, o.t_end])[order],
        offsets=found.offsets,
        place=found.place,
        other=found.other,
    )
