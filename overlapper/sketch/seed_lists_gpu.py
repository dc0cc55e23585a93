"""The seed index of a read set in the memory of GPUs: of the one that built it, and of others by copy."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from overlapper.errors import DeviceError
from overlapper.gpu.gpus import Slot
from overlapper.sketch.occurrences import BLOCK_BITS, OccurrenceLayout, Occurrences
from overlapper.sketch.seed_lists import WholeLists

if TYPE_CHECKING:
    from overlapper.runtime.gpu.memory import Arena, DeviceArray

_MARGIN = 1 << 12
"""Bytes that arrays of an index may take beyond their items."""


class IndexColumns(NamedTuple):
    """The columns of a seed index in the memory of a GPU: those of `SeedLists` and of `Seeding`."""

    arena: Arena
    """That they lie in."""
    occurrences: DeviceArray
    by_read: DeviceArray
    sketched: DeviceArray
    marks: DeviceArray
    ranks: DeviceArray
    starts: DeviceArray


class IndexCopies:
    """The columns of a seed index on each GPU, copied on demand.

    Parameters
    ----------
    size : int
        Bytes that they take; 0 where there are no occurrences.
    copy : callable
        Cuts them from an arena, in the order of `IndexColumns`.
    there : dict of int to IndexColumns
        Of GPUs that have them already.
    """

    def __init__(
        self,
        size: int,
        copy: Callable[[Arena], Sequence[DeviceArray]],
        there: dict[int, IndexColumns] | None = None,
    ) -> None:
        self._size, self._copy = size, copy
        self._there: dict[int, IndexColumns | None] = dict(there or {})
        self._copying: dict[int, threading.Lock] = {}

    def on(self, slot: Slot) -> IndexColumns | None:
        """Return the columns on the GPU of a slot; None if they do not fit."""
        with self._copying.setdefault(slot.gpu, threading.Lock()):
            if slot.gpu not in self._there:
                self._there[slot.gpu] = self._copied(slot)
            return self._there[slot.gpu]

    def _copied(self, slot: Slot) -> IndexColumns | None:
        from overlapper.runtime.gpu.memory import Arena

        if not self._size or self._size + _MARGIN > slot.spare:
            return None
        arena = Arena.allocate(self._size + _MARGIN, slot.arena.pinned)
        try:
            columns = IndexColumns(arena, *self._copy(arena))
        except DeviceError:
            return None
        arena.stream.synchronize()
        return columns


class DeviceSeedLists:
    """`SeedLists` in the memory of the GPU that built them, copied to other GPUs and the host on demand.

    Parameters
    ----------
    gpu : int
        Its number.
    made : IndexColumns
        There.

    Attributes
    ----------
    on_gpus : IndexCopies
    """

    def __init__(self, gpu: int, made: IndexColumns) -> None:
        self._gpu, self._made, columns = gpu, made, made[1:]
        self.on_gpus = IndexCopies(
            sum(column.nbytes for column in columns),
            lambda arena: [arena.copy_of(column, gpu) for column in columns],
            {gpu: made},
        )
        self._copying = threading.Lock()

    @functools.cached_property
    def _copied(self) -> WholeLists:
        made = self._made
        n = len(made.occurrences)
        words = np.empty(n + 1, np.uint64)
        words[:n] = self._download(made.occurrences)
        blocks = BLOCK_BITS, np.empty((1, 0), np.int64)  # for listing alone
        occurrences = Occurrences(words.view(np.uint8), OccurrenceLayout.on_gpus(), [(0, n)], *blocks)
        return WholeLists(occurrences, self._download(made.by_read))

    @property
    def _here(self) -> WholeLists:
        with self._copying:
            return self._copied

    @property
    def occurrences(self) -> Occurrences:
        """As that of `SeedLists`."""
        return self._here.occurrences

    def numbers(self, start: int, stop: int) -> np.ndarray:
        """As that of `SeedLists`."""
        return self._here.numbers(start, stop)

    def hits(self, step: int) -> int:
        """As that of `SeedLists`."""
        from overlapper.kernels.candidates.cuda.hits import count_sampled
        from overlapper.runtime.gpu import driver

        with driver.use(self._gpu):
            return count_sampled(self._made.occurrences, self._made.by_read, step, self._made.arena)

    def _download(self, array: DeviceArray) -> np.ndarray:
        from overlapper.runtime.gpu import driver

        with driver.use(self._gpu):
            return self._made.arena.download(array)
