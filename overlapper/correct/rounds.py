"""A round of correcting or polishing."""

from __future__ import annotations

import dataclasses

from overlapper.correct.machine import Machine
from overlapper.runtime.messages import Report
from overlapper.tiled.stages import Stages


@dataclasses.dataclass(frozen=True)
class Round:
    """A round: which one, where its results are kept, what it may use and whom it tells."""

    number: int
    stages: Stages
    machine: Machine
    told: Report

    def report(self, step: str, done: int, total: int) -> None:
        """Report the progress of a step of this round."""
        self.told(f"round {self.number}: {step}", done, total)
