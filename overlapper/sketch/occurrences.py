"""The occurrences of a seed index, packed, in memory of the host or in a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from overlapper.runtime.threads import map_in_order
from overlapper.sketch.returnable_memory import ReturnableMemory

BLOCK_BITS = 20
"""A block has ``2 ** BLOCK_BITS`` bases: few enough for the list of its occurrences to fit into the cache."""
BASES_AT_A_TIME = 1 << 18
Stretch = tuple[int, int]
"""Numbers ``[start, stop)`` of occurrences."""


class OccurrenceLayout(NamedTuple):
    """The layout of packed occurrences (`overlapper.kernels.seeds.occurrences`)."""

    width: int
    """Bytes of an occurrence."""
    position_bits: int
    """Bits of the position in the read."""

    @classmethod
    def choose(cls, lengths: np.ndarray) -> Self:
        """Choose the fewest bytes that can hold any place in reads of these lengths."""
        position_bits = int(lengths.max(initial=1) - 1).bit_length()
        return cls(-(-(2 + position_bits + max(0, len(lengths) - 1).bit_length()) // 8), position_bits)

    @classmethod
    def on_gpus(cls) -> Self:
        """Return the layout on GPUs."""
        from overlapper.kernels.seeds.occurrences import POSITION_BITS

        return cls(8, POSITION_BITS)


@dataclasses.dataclass
class Occurrences:
    """Occurrences of minimizers by hash, read and position; the last one of each hash is marked."""

    packed: np.ndarray
    """uint8; memory for as many as there may be, and spare bytes."""
    layout: OccurrenceLayout
    stretches: list[Stretch]
    """Ranges of numbers that hold occurrences; others are empty."""
    block_bits: int
    """A block is ``2 ** block_bits`` word-aligned bases of the reads."""
    per_block: np.ndarray
    """int64, shape (stretches, blocks); how many of each stretch are in each block."""
    memory: ReturnableMemory | None = None
    """That they lie in."""

    @classmethod
    def empty(
        cls,
        lengths: np.ndarray,
        bases: int,
        room: int,
        stretches: int,
        reserve: Callable[[int], Path] | None = None,
    ) -> Self:
        """Return memory for occurrences in reads.

        Parameters
        ----------
        lengths : ndarray of int64, shape (reads,)
        bases : int
            Word-aligned bases of all reads.
        room : int
            Most occurrences; only those that are written take memory.
        stretches : int
            Number of stretches that will be filled.
        reserve : callable, optional
            ``reserve(size)`` makes a file of so many bytes; without it, memory is that of the process.
        """
        from overlapper.kernels.seeds.occurrences import SPARE

        layout = OccurrenceLayout.choose(lengths)
        size = room * layout.width + SPARE
        memory = ReturnableMemory(size, reserve(size) if reserve else None)
        per_block = np.zeros((stretches, (bases >> BLOCK_BITS) + 1), np.int64)
        return cls(memory.array(np.uint8), layout, [], BLOCK_BITS, per_block, memory)

    @classmethod
    def of_gpu(cls, words: np.ndarray) -> Self:
        """Return the occurrences whose words (uint64, shape (n + 1,)), and a spare one, a GPU made."""
        per_block = np.zeros((1, 1), np.int64)
        return cls(words.view(np.uint8), OccurrenceLayout.on_gpus(), [(0, len(words) - 1)], 62, per_block)

    def __len__(self) -> int:
        return sum(stop - start for start, stop in self.stretches)

    @property
    def columns(self) -> tuple[np.ndarray, int, int]:
        """The bytes and their layout, as kernels take them."""
        return self.packed, *self.layout

    @property
    def room(self) -> int:
        """Upper bound of the numbers of occurrences."""
        from overlapper.kernels.seeds.occurrences import SPARE

        return (len(self.packed) - SPARE) // self.layout.width

    def hits(self, step: int) -> int:
        """Count the hits of every ``step``-th occurrence with later ones of its hash."""
        from overlapper.kernels.seeds.occurrences import count_hits

        width = self.layout.width
        return sum(count_hits(self.packed, width, start, stop, step) for start, stop in self.stretches)

    def widen(self, first: int, words: np.ndarray) -> None:
        """Write the occurrences from ``first`` on in the layout of GPUs, a word each (uint64, shape (n,)).

        Words of empty numbers are not written.
        """
        from overlapper.kernels.seeds.occurrences import widen

        for start, stop in self.stretches:
            start, stop = max(start, first), min(stop, first + len(words))
            if start < stop:
                widen(*self.columns, start, words[start - first : stop - first])

    def bases(self, word_offsets: np.ndarray, threads: int) -> Iterator[np.ndarray]:
        """Yield the word-aligned base numbers of all occurrences (int64), some at a time."""
        from overlapper.kernels.seeds.seed_lists import write_bases

        def of_part(part: Stretch) -> np.ndarray:
            bases = np.empty(part[1] - part[0], np.int64)
            write_bases(*self.columns, part[0], word_offsets, bases)
            self.rest(*part)
            return bases

        parts = (
            (first, min(first + BASES_AT_A_TIME, stop))
            for start, stop in self.stretches
            for first in range(start, stop, BASES_AT_A_TIME)
        )
        return map_in_order(of_part, parts, threads)

    def give_back(self, start: int, stop: int) -> None:
        """Return the memory of the empty numbers ``[start, stop)`` to the system."""
        if self.memory:
            self.memory.give_back(start * self.layout.width, stop * self.layout.width)

    def rest(self, start: int, stop: int) -> None:
        """Keep the numbers ``[start, stop)`` of a file on disk alone until they are used again."""
        if self.memory:
            self.memory.rest(start * self.layout.width, stop * self.layout.width)
