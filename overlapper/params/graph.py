"""Parameters of the overlap graph: from overlaps to a cleaned graph.

Most are miniasm's; what the others were fitted on is in ``docs/notes/fitted-numbers.md``.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.params.limits import Limited, within

MAX_HANG, MIN_RATIO = 1000, 0.8
"""miniasm's."""
LONGEST, FLOOR = 2000, 500
"""Limits of the shortest overlap that counts, in bases: miniasm's, of long reads; of a short read among
longer ones, one below which repeats are longer than overlaps too often."""
LINKING = 0.4
"""Share of the bases of reads that lie beyond the shortest overlap. A read of ``L`` bases overlaps the next
one by ``m`` or more if that begins within the first ``L - m`` of its bases. So reads of depth ``c`` leave as
many gaps as reads of depth ``c`` times this share leave that need not overlap (Lander and Waterman, 1988)."""
END_OVERLAP = 500
"""Shortest overlap, in bases, of read ends that have no longer one. Chosen on HiFi reads of the MHC, of yeast
and of LPA, which match to the last base; judged on noisy reads of yeast and of small plasmids
(``docs/notes/layout.md``)."""


@dataclasses.dataclass(frozen=True)
class GraphParams(Limited):
    """From overlaps to a reduced overlap graph.

    Attributes
    ----------
    min_overlap : int, optional
        Shortest overlap that counts, in bases on either read, and shortest interval of a read that is kept;
        less for a short read (`least_of`). None lets the lengths of the reads decide (`of_reads`).
    min_depth : int
        Overlaps that must confirm a base for it to be kept; 0 keeps all reads whole that have any.
    max_hang : int
        An unmatched end longer than this makes a match internal, in bases.
    min_ratio : float
        A match shorter than this share of itself plus its hangs is internal.
    max_divergence_ratio : float
        An overlap whose divergence is above 15 %, and above that of the median overlap by more than this
        factor, does not count.
    fuzz : int
        How much longer than an edge a path may be that makes the edge transitive, in bases.
    min_end_overlap : int
        Shortest overlap that counts between read ends that have none of `min_overlap`, or of a third of the
        shorter read; 0, or more than `min_overlap`, for none.
    confirm_depth : int
        Overlaps that must cover each base of a read for it to be confirmed; of others, overlaps count where
        there are none of confirmed reads. 0 takes all reads for confirmed.
    join_overlap : int
        Shortest overlap by which dead ends are joined in the end (`overlapper.graph.join`); 0 joins none.
    """

    min_overlap: int | None = within(1, default=None)
    min_depth: int = within(0, default=3)
    max_hang: int = within(0, default=MAX_HANG)
    min_ratio: float = within(0, 1, default=MIN_RATIO)
    max_divergence_ratio: float = within(1, 1e6, "1 to 1,000,000", default=4.0)
    fuzz: int = within(0, default=1000)
    min_end_overlap: int = within(0, default=END_OVERLAP)
    confirm_depth: int = within(0, default=0)
    join_overlap: int = within(0, default=1000)

    @property
    def least_overlap(self) -> int:
        """The shortest overlap that counts, in bases; of long reads where lengths are to decide."""
        return self.min_overlap or LONGEST

    def least_of(self, lengths: np.ndarray) -> np.ndarray:
        """Return the shortest overlap that counts of each read, as short ones have no longer ones (int64)."""
        return np.maximum((1 - LINKING) * lengths, FLOOR).astype(np.int64).clip(max=self.least_overlap)

    def of_reads(self, lengths: np.ndarray) -> GraphParams:
        """Return the parameters for reads of these lengths, where these are to decide.

        The shortest overlap is the longest one, up to `LONGEST`, beyond which `LINKING` of the bases of the
        reads lie. Overlaps of ends, and those that join ends, are at most half as long.
        """
        if self.min_overlap is not None or not len(lengths):
            return self
        least = min(_longest_overlap(lengths, LINKING), LONGEST)
        return dataclasses.replace(
            self,
            min_overlap=least,
            min_end_overlap=min(self.min_end_overlap, least // 2),
            join_overlap=min(self.join_overlap, least // 2),
        )

    def of_exact_overlaps(self) -> GraphParams:
        """Return the parameters for overlaps that match to the last base: reads are kept whole."""
        return dataclasses.replace(
            self,
            min_depth=0,
            confirm_depth=self.min_depth,
            max_hang=0,
            fuzz=0,
        )


def _longest_overlap(lengths: np.ndarray, share: float) -> int:
    """Return the most bases beyond which this share of all bases lies, of reads of these lengths.

    Of the ``i`` longest reads, of ``s`` bases together, ``s - i m`` bases lie beyond ``m``. The longest ``m``
    that leaves enough is the greatest one that any ``i`` allows.
    """
    longest_first = np.sort(lengths.astype(np.int64))[::-1]
    together = np.cumsum(longest_first)
    beyond = together - share * together[-1]
    return int((beyond / np.arange(1, len(lengths) + 1)).max())


@dataclasses.dataclass(frozen=True)
class CleanParams(Limited):
    """Parameters of cleaning an overlap graph.

    Attributes
    ----------
    tip_reads : int
        Most reads in a tip or an island.
    bubble_bases : int
        Longest distance between the ends of a bubble.
    weak_ratio : float
        An edge whose overlap is below this share of the best one of a node it touches is weak; the last round
        cuts at this ratio.
    weak_rounds : int
        Rounds that lead up to it, from `weak_start` in equal steps; 0 cuts no weak edges.
    weak_start : float
        Ratio of the first round.
    keep_confirmed : bool
        Whether a chain with a confirmed read (`overlapper.graph.confirmed`) is neither tip nor island: in a
        layout of reads alone that another one lost.
    """

    tip_reads: int = within(0, default=4)
    bubble_bases: int = within(0, default=50_000)
    weak_ratio: float = within(0, 1, default=0.8)
    weak_rounds: int = within(0, 1000, default=8)
    weak_start: float = 0.1
    keep_confirmed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(0 <= self.weak_start <= self.weak_ratio, "weak_start", "0 to weak_ratio")


@dataclasses.dataclass(frozen=True)
class LayoutParams:
    """From overlaps to unitigs: sections of a file of parameters."""

    graph: GraphParams = GraphParams()
    clean: CleanParams = CleanParams()
