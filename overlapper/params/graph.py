"""Parameters of the overlap graph: from overlaps to a cleaned graph.

Most are miniasm's; what the others were fitted on is in ``docs/notes/fitted-numbers.md``.
"""

from __future__ import annotations

import dataclasses

from overlapper.errors import require

MAX_HANG, MIN_RATIO = 1000, 0.8
"""miniasm's."""
END_OVERLAP = 500
"""Shortest overlap, in bases, of read ends that have no longer one. Chosen on HiFi reads of the MHC, of yeast
and of LPA, which match to the last base; judged on noisy reads of yeast and of small plasmids
(``docs/notes/layout.md``)."""


@dataclasses.dataclass(frozen=True)
class GraphParams:
    """From overlaps to a reduced overlap graph.

    Attributes
    ----------
    min_overlap : int
        Shortest overlap that counts, in bases on either read, and shortest interval of a read that is kept.
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

    min_overlap: int = 2000
    min_depth: int = 3
    max_hang: int = MAX_HANG
    min_ratio: float = MIN_RATIO
    max_divergence_ratio: float = 4.0
    fuzz: int = 1000
    min_end_overlap: int = END_OVERLAP
    confirm_depth: int = 0
    join_overlap: int = 1000

    def __post_init__(self) -> None:
        require(self.min_overlap >= 1, "min_overlap", self.min_overlap, "1 or more")
        require(self.min_end_overlap >= 0, "min_end_overlap", self.min_end_overlap, "0 or more")
        require(self.min_depth >= 0, "min_depth", self.min_depth, "0 or more")
        require(self.join_overlap >= 0, "join_overlap", self.join_overlap, "0 or more")
        require(self.confirm_depth >= 0, "confirm_depth", self.confirm_depth, "0 or more")
        require(self.max_hang >= 0, "max_hang", self.max_hang, "0 or more")
        require(0 <= self.min_ratio <= 1, "min_ratio", self.min_ratio, "0 to 1")
        ratio = self.max_divergence_ratio
        require(1 <= ratio <= 1e6, "max_divergence_ratio", ratio, "1 to 1,000,000")
        require(self.fuzz >= 0, "fuzz", self.fuzz, "0 or more")

    def of_exact_overlaps(self) -> GraphParams:
        """Return the parameters for overlaps that match to the last base: reads are kept whole."""
        return dataclasses.replace(
            self,
            min_depth=0,
            confirm_depth=self.min_depth,
            max_hang=0,
            fuzz=0,
        )


@dataclasses.dataclass(frozen=True)
class CleanParams:
    """Parameters of cleaning an overlap graph.

    Attributes
    ----------
    tip_reads : int
        Most reads in a tip, an island or the chain of a bi-loop.
    bubble_bases : int
        Longest distance between the ends of a bubble.
    weak_ratio : float
        An edge whose overlap is below this share of the best one of a node it touches is weak; the last round
        cuts at this ratio.
    weak_rounds : int
        Rounds that lead up to it, from `weak_start` in equal steps; 0 cuts no weak edges.
    weak_start : float
        Ratio of the first round.
    """

    tip_reads: int = 4
    bubble_bases: int = 50_000
    weak_ratio: float = 0.8
    weak_rounds: int = 8
    weak_start: float = 0.1

    def __post_init__(self) -> None:
        require(self.tip_reads >= 0, "tip_reads", self.tip_reads, "0 or more")
        require(self.bubble_bases >= 0, "bubble_bases", self.bubble_bases, "0 or more")
        require(0 <= self.weak_ratio <= 1, "weak_ratio", self.weak_ratio, "0 to 1")
        require(0 <= self.weak_rounds <= 1000, "weak_rounds", self.weak_rounds, "0 to 1000")
        require(0 <= self.weak_start <= self.weak_ratio, "weak_start", self.weak_start, "0 to weak_ratio")


@dataclasses.dataclass(frozen=True)
class LayoutParams:
    """From overlaps to unitigs: sections of a file of parameters."""

    graph: GraphParams = GraphParams()
    clean: CleanParams = CleanParams()
