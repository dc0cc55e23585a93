"""What a command that finds overlaps was asked for: its reads, and what it may use."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overlapper.io.fastx import FastxParts
    from overlapper.tiled.plan import Budget


@dataclasses.dataclass(frozen=True)
class RunRequest:
    """A run as it was asked for, which is checked as it is made, before any read is read."""

    parts: FastxParts
    """The reads."""
    preset: str
    output: str
    workdir: str | None
    """The folder that keeps what is finished; None keeps nothing."""
    memory: int | None
    """Bytes of main memory to stay within, by working on disk; None or 0 for no limit."""
    workers: int
    """Processes to start."""
    scheduler: str | None
    """Address of a Dask scheduler."""
    threads: int
    """Of all processes together."""
    device: str
    """What finds overlaps, as the user asked for it."""
    gpu_memory: int
    """Bytes to take on each GPU at most; 0 takes what is free."""

    def __post_init__(self) -> None:
        from overlapper.overlap.presets import check_preset

        check_preset(self.preset)

    @property
    def budget(self) -> Budget:
        """The memory and threads that the run may take."""
        from overlapper.tiled.plan import Budget

        return Budget.of(self.memory or 0, self.threads, max(1, self.workers))
