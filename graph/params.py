"""Parameters of the graph: one frozen dataclass for each part of the way from overlaps to contigs."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from overlapper.errors import require
from overlapper.extend.classify import MAX_HANG, MIN_RATIO

POLISHING_THRESHOLDS = (30, 40, 50, 0)
"""Unitigs, of which there are few, have two drafts more than reads."""
EXACT_END_OVERLAP = 500
"""Shortest overlap, in bases, of read ends that have no longer one, where reads match to the last base."""
CORRECTED_THRESHOLD = 45
"""Percentage of corrected reads that a base needs: where few columns are undecided, whatever the reads."""


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
        Shortest overlap that counts between read ends that have none of `min_overlap`; 0 for none.
    confirm_depth : int
        Overlaps that must cover each base of a read for it to be confirmed; of others, overlaps count where
        there are none of confirmed reads. 0 takes all reads for confirmed.
    """

    min_overlap: int = 2000
    min_depth: int = 3
    max_hang: int = MAX_HANG
    min_ratio: float = MIN_RATIO
    max_divergence_ratio: float = 4.0
    fuzz: int = 1000
    min_end_overlap: int = 0
    confirm_depth: int = 0

    def __post_init__(self) -> None:
        require(self.min_overlap >= 1, "min_overlap", self.min_overlap, "1 or more")
        require(self.min_end_overlap >= 0, "min_end_overlap", self.min_end_overlap, "0 or more")
        require(self.min_depth >= 0, "min_depth", self.min_depth, "0 or more")
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
            min_end_overlap=min(self.min_overlap, EXACT_END_OVERLAP),
            min_depth=0,
            confirm_depth=self.min_depth,
            max_hang=0,
            fuzz=0,
        )


@dataclasses.dataclass(frozen=True)
class CleanParams:
    """What is cleaned off an overlap graph.

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
class CorrectParams:
    """Correction of reads and consensus of unitigs (``docs/algorithms/correction.md``).

    Attributes
    ----------
    rounds : int
        Each round corrects all reads; later ones find the overlaps of the corrected reads.
    max_depth : int
        Reads that vote on a stretch of the target.
    kmer_length : int
        Shortest anchor, in bases, at most 16; 0 derives it from the divergence of the overlaps.
    max_gap : int
        Bases between neighbouring anchors, on either read, at most 1800.
    thresholds : tuple of int
        Percentage of the weight that a base needs in each draft, two or more; the last one is the consensus,
        for which 0 derives it from the insertions and deletions of raw reads; for corrected ones it is 45.
    run_threshold : int
        That of the consensus for bases of homopolymer runs; 0 derives it from those in the runs of raw reads;
        for corrected ones it is 45.
    haplotype_filter : bool
        Leave out reads that disagree with the target systematically.
    error_rate : float
        Of the reads as given, by which it is known what members have alike; 0 derives it.
    """

    rounds: int = 2
    max_depth: int = 40
    kmer_length: int = 0
    max_gap: int = 1000
    thresholds: tuple[int, ...] = (30, 0)
    run_threshold: int = 0
    haplotype_filter: bool = True
    error_rate: float = 0.0

    def __post_init__(self) -> None:
        require(0 <= self.error_rate <= 1, "error_rate", self.error_rate, "0 (derive) to 1")
        require(1 <= self.rounds <= 100, "rounds", self.rounds, "1 to 100")
        require(3 <= self.max_depth <= 255, "max_depth", self.max_depth, "3 to 255")
        derived_or_fits = self.kmer_length == 0 or 8 <= self.kmer_length <= 16
        require(derived_or_fits, "kmer_length", self.kmer_length, "0 (derive), or 8 to 16")
        require(1 <= self.max_gap <= 1800, "max_gap", self.max_gap, "1 to 1800")
        fit = (
            len(self.thresholds) >= 2
            and all(1 <= t <= 99 for t in self.thresholds[:-1])
            and (0 <= self.thresholds[-1] <= 99)
        )
        require(
            fit, "thresholds", self.thresholds, "two or more, each 1 to 99, the last one perhaps 0 (derive)"
        )

        require(0 <= self.run_threshold <= 99, "run_threshold", self.run_threshold, "0 (derive) to 99")

    def fitted(self) -> dict[str, Any]:
        """Return what the first round may derive from the reads, for `with_fitted`."""
        return {"thresholds": self.thresholds, "run_threshold": self.run_threshold}

    def with_fitted(self, facts: dict[str, Any]) -> CorrectParams:
        """Return the parameters with what a round derived."""
        return dataclasses.replace(
            self, thresholds=tuple(facts["thresholds"]), run_threshold=facts["run_threshold"]
        )

    def of_corrected_reads(self, error_rate: float) -> CorrectParams:
        """Return the parameters for reads that were corrected, and erred so much before; none is derived."""
        *first, last = self.thresholds
        return dataclasses.replace(
            self,
            thresholds=(*first, last or CORRECTED_THRESHOLD),
            run_threshold=self.run_threshold or CORRECTED_THRESHOLD,
            error_rate=self.error_rate or error_rate,
        )

    def of_round(self) -> dict[str, Any]:
        """Return what the result of one round depends on: all but the number of rounds."""
        return {name: value for name, value in dataclasses.asdict(self).items() if name != "rounds"}


class WhenToCorrect(enum.StrEnum):
    """Which reads `overlapper.assemble.contigs.assemble_reads` corrects before it lays them out."""

    AUTO = "auto"
    """Those whose error rate asks for it."""
    ALWAYS = "always"
    NEVER = "never"


class WhatOfCopies(enum.StrEnum):
    """What `overlapper.assemble.contigs.assemble_reads` does with haplotypes and copies of repeats."""

    AUTO = "auto"
    """Keeps them apart where reads are accurate."""
    SEPARATE = "separate"
    """Contigs are of one copy each; reads are corrected first, whatever their error rate."""
    COLLAPSE = "collapse"
    """Joins what looks alike to reads that err."""


@dataclasses.dataclass(frozen=True)
class AssembleParams:
    """From reads to contigs.

    Attributes
    ----------
    correct : WhenToCorrect
    correct_above : float
        Error rate from which on reads need correction.
    copies : WhatOfCopies
    separate_below : float
        Error rate below which copies are kept apart by default: that of HiFi reads.
    correction, polishing : CorrectParams
    accurate_rounds : int
        Rounds of correction of reads of which exact overlaps are laid out.
    graph : GraphParams
    cleaning : CleanParams
    """

    correct: WhenToCorrect = WhenToCorrect.AUTO
    correct_above: float = 0.15
    copies: WhatOfCopies = WhatOfCopies.AUTO
    separate_below: float = 0.01
    correction: CorrectParams = CorrectParams()
    accurate_rounds: int = 1
    polishing: CorrectParams = CorrectParams(thresholds=POLISHING_THRESHOLDS)
    graph: GraphParams = GraphParams()
    cleaning: CleanParams = CleanParams()

    def __post_init__(self) -> None:
        require(0 <= self.correct_above <= 1, "correct_above", self.correct_above, "0 to 1")
        require(self.accurate_rounds >= 1, "accurate_rounds", self.accurate_rounds, "1 or more")
        require(0 <= self.separate_below <= 1, "separate_below", self.separate_below, "0 to 1")
        both = self.copies is not WhatOfCopies.SEPARATE or self.correct is not WhenToCorrect.NEVER
        require(both, "correct", self.correct, "always or auto where copies are kept apart")
