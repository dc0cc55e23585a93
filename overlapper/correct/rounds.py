"""A round of correcting or polishing."""

from __future__ import annotations

import dataclasses

from overlapper.runtime.messages import Report
from overlapper.tiled.stages import Stages


@dataclasses.dataclass(frozen=True)
class Round:
    """The context of a round: its number, stages that keep results, threads, and progress."""

    number: int
    stages: Stages
    threads: int
    progress: Report

    def report(self, step: str, done: int, total: int) -> None:
        """Report the progress of a step of this round."""
        self.progress(f"round {self.number}: {step}", done, total)
