"""Where the two reads of an overlap differ, base by base.

Definition
----------
Query and target, the target on the query's strand, are compared over their whole intervals of ``m`` and
``n`` bases. ``D(i, j)`` are the edits (substitutions, bases of the query alone, bases of the target alone)
that turn the first i bases of the one into the first j of the other. On the diagonal ``d = j - i``,
``F(s, d)`` is the largest i with ``D(i, i + d) <= s``, for diagonals that s edits can reach, ``|d| <= s``.

The path of ``s = D(m, n)`` edits is traced from its end, diagonal ``n - m``. Edit number s leads to diagonal
d

1. by a substitution, behind ``F(s - 1, d) + 1`` query bases;
2. by a base of the target alone, behind ``F(s - 1, d - 1)``;
3. by a base of the query alone, behind ``F(s - 1, d + 1) + 1``,

whichever is furthest, of equals the first; what lies behind it matches. The trace goes on with the edit
before, on the diagonal that this one came from. Where D exceeds the number of edits that are of interest,
there is no path.

Each read sees an edit at a *place* on its forward strand: the base that differs, or that the other read
lacks, or before which the other one has another base. Bases that are more or fewer in a run of equal ones are
placed at its start, so that reads on either strand see the same place. Unknown bases count as A.

Accurate reads are the same for thousands of bases: the time is that of comparing words, 32 bases each, and
about ``D^2`` steps (Myers 1986, "An O(ND) difference algorithm"; Landau and Vishkin 1989).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.selection import differences as kernel
from overlapper.runtime.memory import check_room
from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.tables import Intervals, Reads
from overlapper.tables.ragged import offsets_of

LACKING, EXTRA = kernel.LACKING, kernel.EXTRA
BYTES_A_DIFFERENCE = 40
"""Bytes of memory of a difference while `overlapper.extend.copies` compares it."""
_BLOCKS = 64


@dataclasses.dataclass(frozen=True, eq=False)
class Differences:
    """Where the reads of ``n`` overlaps differ."""

    edits: np.ndarray
    """int32, shape (n,); number of differences; -1 where there are too many, which are not listed."""
    offsets: np.ndarray
    """int64, shape (n + 1,); where the differences of each overlap start; they are listed from its end to its
    start."""
    place: np.ndarray
    """int32, shape (differences, 2); on the forward strands of query and target."""
    other: np.ndarray
    """uint8, shape (differences, 2); what the other read has there, on the forward strand of this one: a base
    from 0 to 3; `LACKING` for none; `EXTRA` plus a base for one inserted before the place."""

    @property
    def overlap(self) -> np.ndarray:
        """The overlap of each difference (int64)."""
        return np.repeat(np.arange(len(self.edits)), np.diff(self.offsets))


def find_differences(
    reads: Reads, overlaps: Intervals, most: int, *, room: int | None = None, threads: int = 1
) -> Differences:
    """Compare the reads of overlaps base by base.

    Parameters
    ----------
    overlaps : Intervals
        Both intervals must start and end at bases that align, as those of alignments do.
    most : int
        Most edits of an overlap, 0 or more; beyond them it is given up.
    room : int, optional
        Bytes of memory that all differences must fit.
    """
    packed, o = PackedReads.of(reads), overlaps
    spans = np.maximum(o.q_end - o.q_start, o.t_end - o.t_start)
    edits, listed, needed = [np.zeros(0, np.int32)], [np.zeros((0, 4), np.int32)], 0
    for edits_of_block, differences in map_in_order(
        lambda block: kernel.find_differences(
            packed, o.query, o.target, o.reverse, o.q_start, o.q_end, o.t_start, o.t_end, most, *block
        ),
        # A single thread is one of many, which would wait for Python's lock at the end of each block.
        even_ranges(spans, int(spans.sum(dtype=np.int64)) // (_BLOCKS if threads > 1 else 1) + 1),
        threads,
    ):
        needed += BYTES_A_DIFFERENCE * len(differences)
        edits.append(edits_of_block)
        if room is None or needed <= room:
            listed.append(differences)
    check_room(needed, room, f"the differences of the reads of {len(o):,} overlaps")
    edits_of_all, of_all = np.concatenate(edits), np.concatenate(listed)
    del listed
    return Differences(
        edits_of_all,
        offsets_of(np.maximum(edits_of_all, 0)),
        of_all[:, ::2],
        of_all[:, 1::2].astype(np.uint8),
    )
