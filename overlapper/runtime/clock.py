"""A clock for the stages of a run: wall-clock time and memory of each."""

from __future__ import annotations

import time

from overlapper.runtime.memory import peak_memory


class Clock:
    """Time between laps, and the largest memory by the end of each.

    Attributes
    ----------
    seconds : dict of str to float
        Wall-clock time of each lap.
    memory : dict of str to int
        Largest resident memory of this process from its start to the end of each lap, in bytes; workers in
        other processes are not in it.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.memory: dict[str, int] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Record the seconds since the last lap under a name; a second lap of the name replaces the first."""
        now = time.perf_counter()
        self.seconds[name] = round(now - self._last, 4)
        # The operating system counts in batches: a later reading may be lower by some pages.
        self.memory[name] = max(peak_memory(), *self.memory.values(), 0)
        self._last = now
