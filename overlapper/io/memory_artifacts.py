"""Artifacts in memory: what a run without a memory budget makes, and hands on to its next stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from overlapper.io.artifacts import Artifact
from overlapper.tables.growing import GrowingArray
from overlapper.tables.ragged import gather_ragged


class MemoryArtifact(Artifact):
    """An artifact whose arrays are in memory.

    Arrays that are saved stay as they are from then on. What is loaded is a view of them, and has the type
    with which it was written.
    """

    def __init__(self) -> None:
        super().__init__(Path(), {})
        self._arrays: dict[str, np.ndarray] = {}
        self._growing: dict[str, GrowingArray] = {}

    def save(self, name: str, values: np.ndarray) -> None:
        """See `Artifact`."""
        self.named.add(name)
        self._growing.pop(name, None)
        self._arrays[name] = values.reshape(-1)

    def append(self, name: str, values: np.ndarray) -> None:
        """See `Artifact`; the first values of an array are not copied until others follow."""
        if name not in self._growing:
            before = self._arrays.get(name)
            if before is None or not len(before):
                self.save(name, values)
                return
            self._growing[name] = GrowingArray(before.dtype)
            self._growing[name].append(before)
            del self._arrays[name]
        self._growing[name].append(values.reshape(-1))

    def _whole(self, name: str) -> np.ndarray:
        if name in self._growing:
            self._arrays[name] = self._growing.pop(name).taken()
        return self._arrays[name]

    def load(self, name: str, dtype: Any, start: int = 0, stop: int | None = None) -> np.ndarray:
        """See `Artifact`."""
        values = self._whole(name)[start:stop]
        return values if len(values) else np.empty(0, dtype)

    mapped = load

    def gathered(self, name: str, dtype: Any, firsts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """See `Artifact`; stretches that follow each other in the array are not copied."""
        values = self._whole(name)
        if not sizes.any():
            return np.empty(0, dtype)
        if (firsts[1:] == firsts[:-1] + sizes[:-1]).all():
            return values[int(firsts[0]) : int(firsts[-1] + sizes[-1])]
        return gather_ragged(values, firsts, sizes)

    def remove(self, name: str) -> None:
        """See `Artifact`."""
        self._whole(name)
        del self._arrays[name]

    def complete(self) -> None:
        """Give back the memory that arrays have to grow into."""
        for name in list(self._growing):
            self._whole(name)

    def copy_to(self, artifact: Artifact) -> None:
        """Write all arrays and facts of a complete artifact to another one."""
        artifact.facts |= self.facts
        for name, values in self._arrays.items():
            artifact.save(name, values)
