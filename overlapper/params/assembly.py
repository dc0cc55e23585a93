"""Parameters of the way from reads to contigs."""

from __future__ import annotations

import dataclasses
import enum

from overlapper.errors import require
from overlapper.params.correction import POLISHING_THRESHOLDS, CorrectParams
from overlapper.params.graph import CleanParams, GraphParams


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


class WhatOfHaplotypes(enum.StrEnum):
    """Whether `overlapper.assemble.contigs.assemble_reads` tells two haplotypes apart."""

    AUTO = "auto"
    """Where copies are kept apart, and the reads are of two haplotypes."""
    PHASE = "phase"
    """Always; copies are kept apart."""
    COLLAPSE = "collapse"
    """Never: contigs are all there is."""


@dataclasses.dataclass(frozen=True)
class AssembleParams:
    """From reads to contigs.

    Attributes
    ----------
    correct : WhenToCorrect
    correct_above : float
        Error rate from which on reads need correction.
    copies : WhatOfCopies
    haplotypes : WhatOfHaplotypes
    separate_below : float
        Error rate below which copies are kept apart by default: HiFi and ONT R10 reads have less.
    correction, polishing : CorrectParams
        Further rounds of correction follow where overlaps are to match to the last base.
    accurate_rounds : int
        Rounds of correction of reads as accurate as HiFi reads, where copies are kept apart.
    accurate_polish_rounds : int
        Rounds of polishing of contigs of exact overlaps; 0 leaves them as the reads that agree have them.
    graph : GraphParams
    cleaning : CleanParams
    """

    correct: WhenToCorrect = WhenToCorrect.AUTO
    correct_above: float = 0.15
    copies: WhatOfCopies = WhatOfCopies.AUTO
    separate_below: float = 0.04
    correction: CorrectParams = CorrectParams(further_rounds=2)
    accurate_rounds: int = 1
    accurate_polish_rounds: int = 0
    polishing: CorrectParams = CorrectParams(thresholds=POLISHING_THRESHOLDS)
    graph: GraphParams = GraphParams()
    cleaning: CleanParams = CleanParams()
    haplotypes: WhatOfHaplotypes = WhatOfHaplotypes.AUTO

    def __post_init__(self) -> None:
        require(0 <= self.correct_above <= 1, "correct_above", self.correct_above, "0 to 1")
        require(self.accurate_rounds >= 1, "accurate_rounds", self.accurate_rounds, "1 or more")
        polish_rounds = self.accurate_polish_rounds
        require(0 <= polish_rounds <= 100, "accurate_polish_rounds", polish_rounds, "0 to 100")
        require(0 <= self.separate_below <= 1, "separate_below", self.separate_below, "0 to 1")
        phase = self.haplotypes is WhatOfHaplotypes.PHASE
        apart = self.correct is not WhenToCorrect.NEVER and self.copies is not WhatOfCopies.COLLAPSE
        require(apart or not phase, "haplotypes", self.haplotypes, "phase only where copies are kept apart")
        both = self.copies is not WhatOfCopies.SEPARATE or self.correct is not WhenToCorrect.NEVER
        require(both, "correct", self.correct, "always or auto where copies are kept apart")
