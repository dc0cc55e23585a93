"""Parameters of the way from reads to contigs."""

from __future__ import annotations

import dataclasses
import enum

from overlapper.params.correction import DEPTH, POLISHING_THRESHOLDS, CorrectParams
from overlapper.params.graph import CleanParams, GraphParams
from overlapper.params.limits import Limited, within


class WhenToCorrect(enum.StrEnum):
    """Which reads `overlapper.assemble` corrects before it lays them out."""

    AUTO = "auto"
    """Those whose error rate asks for it."""
    ALWAYS = "always"
    NEVER = "never"


class WhatOfCopies(enum.StrEnum):
    """What `overlapper.assemble` does with haplotypes and copies of repeats."""

    AUTO = "auto"
    """Keeps them apart where reads are accurate."""
    SEPARATE = "separate"
    """Contigs are of one copy each; reads are corrected first, whatever their error rate."""
    COLLAPSE = "collapse"
    """Joins what looks alike to reads that err."""


class WhatOfHaplotypes(enum.StrEnum):
    """Whether `overlapper.assemble` tells two haplotypes apart."""

    AUTO = "auto"
    """Where copies are kept apart, and the reads are of two haplotypes."""
    PHASE = "phase"
    """Always; copies are kept apart."""
    COLLAPSE = "collapse"
    """Never: contigs are all there is."""


@dataclasses.dataclass(frozen=True)
class AssembleParams(Limited):
    """From reads to contigs.

    Attributes
    ----------
    depth : int
        Of molecules that are deeper, reads beyond this depth are set aside; 0 for none
        (`overlapper.sketch.depth`).
    correct : WhenToCorrect
    correct_above : float
        Error rate from which on reads need correction.
    copies : WhatOfCopies
    haplotypes : WhatOfHaplotypes
    separate_below : float
        Error rate below which copies are kept apart by default: HiFi and ONT R10 reads have less.
    correction, polishing : CorrectParams
        Further rounds of correction follow where overlaps are to match to the last base. Both are of the
        reads that ``depth`` leaves, in place of their own.
    accurate_polish_rounds : int
        Rounds of polishing of contigs of exact overlaps; 0 leaves them as the reads that agree have them.
    end_errors : float
        Error rate of reads above which ends of contigs that too few of them have are cut off.
    min_relative_depth : float
        Contigs less deep than this share of the main one are left out (`overlapper.assembly.shallow`).
    telomere : str
        What chromosomes begin with, such as CCCTAA; such ends are not cut off. Empty: nothing is looked for.
    graph : GraphParams
    cleaning : CleanParams
    """

    correct: WhenToCorrect = WhenToCorrect.AUTO
    correct_above: float = within(0, 1, default=0.15)
    copies: WhatOfCopies = WhatOfCopies.AUTO
    separate_below: float = within(0, 1, default=0.04)
    correction: CorrectParams = CorrectParams(further_rounds=2)
    accurate_polish_rounds: int = within(0, 100, default=0)
    polishing: CorrectParams = CorrectParams(thresholds=POLISHING_THRESHOLDS)
    end_errors: float = within(0, 1, default=0.01)
    graph: GraphParams = GraphParams()
    cleaning: CleanParams = CleanParams()
    haplotypes: WhatOfHaplotypes = WhatOfHaplotypes.AUTO
    depth: int = within(0, default=DEPTH)
    min_relative_depth: float = within(0, 1, default=0.0)
    telomere: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(not {*self.telomere} - {*"ACGT"}, "telomere", "bases, A, C, G or T, such as CCCTAA")
        phase = self.haplotypes is WhatOfHaplotypes.PHASE
        apart = self.correct is not WhenToCorrect.NEVER and self.copies is not WhatOfCopies.COLLAPSE
        self._require(apart or not phase, "haplotypes", "phase only where copies are kept apart")
        both = self.copies is not WhatOfCopies.SEPARATE or self.correct is not WhenToCorrect.NEVER
        self._require(both, "correct", "always or auto where copies are kept apart")
