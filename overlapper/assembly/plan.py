"""How reads are assembled, which their error rate decides."""

from __future__ import annotations

import dataclasses
from typing import Self

from overlapper.assembly.separation import (
    ACCURATE_BELOW,
    BOTH_ENDS,
    EXACT_BELOW,
    TOLD_BY_VOTES,
    WALKED,
)
from overlapper.correction.resources import ChangedParams
from overlapper.params.assembly import AssembleParams, WhatOfCopies, WhatOfHaplotypes, WhenToCorrect


@dataclasses.dataclass(frozen=True)
class Plan:
    """How reads of an error rate are assembled."""

    error_rate: float
    """Of the given reads."""
    separate: bool
    """Whether copies and haplotypes are kept apart."""
    correct: bool
    """Whether the reads are corrected before layout."""
    accurate: bool
    """Whether copies are kept apart, and reads are as accurate as HiFi reads."""
    exact: bool
    """Whether the overlaps that are laid out match to the last base."""
    polish_rounds: int
    """Rounds of polishing; 0 for none."""

    @classmethod
    def of(cls, params: AssembleParams, error_rate: float) -> Self:
        """Return the plan for reads of an error rate."""
        separate = _keeps_copies_apart(params, error_rate)
        exact = separate and error_rate < EXACT_BELOW
        return cls(
            error_rate,
            separate,
            correct=separate or _needs_correction(params, error_rate),
            accurate=separate and error_rate < ACCURATE_BELOW,
            exact=exact,
            polish_rounds=params.accurate_polish_rounds if exact else params.polishing.rounds,
        )

    def of_given_overlaps(self, is_deep: bool) -> ChangedParams:
        """Return the changes of parameters for overlaps of the given reads, of which some were set aside."""
        if self.separate:
            return TOLD_BY_VOTES
        return WALKED if is_deep else BOTH_ENDS


def _needs_correction(params: AssembleParams, error_rate: float) -> bool:
    if params.correct is WhenToCorrect.AUTO:
        return error_rate > params.correct_above
    return params.correct is WhenToCorrect.ALWAYS


def _keeps_copies_apart(params: AssembleParams, error_rate: float) -> bool:
    if params.haplotypes is WhatOfHaplotypes.PHASE:
        return True
    if params.copies is WhatOfCopies.AUTO:
        return params.correct is not WhenToCorrect.NEVER and error_rate < params.separate_below
    return params.copies is WhatOfCopies.SEPARATE
