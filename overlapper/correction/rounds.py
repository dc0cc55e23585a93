"""A round of correcting or polishing."""

from __future__ import annotations

import dataclasses

from overlapper.correction.resources import Resources
from overlapper.runtime.messages import Report
from overlapper.tiled.stages import Stages


@dataclasses.dataclass(frozen=True)
class Round:
    """The context of a round: its number, what it may take, and progress."""

    number: int
    resources: Resources
    progress: Report

    @property
    def stages(self) -> Stages:
        """The stages that keep results."""
        return self.resources.stages

    @property
    def threads(self) -> int:
        """Threads, which change nothing but the time."""
        return self.resources.threads

    def report(self, step: str, done: int, total: int) -> None:
        """Report the progress of a step of this round."""
        self.progress(f"round {self.number}: {step}", done, total)
