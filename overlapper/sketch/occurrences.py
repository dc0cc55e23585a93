"""The occurrences of a seed index, packed, in memory of the host."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from overlapper.sketch.deep_reads import Placing
from overlapper.sketch.returnable_memory import ReturnableMemory
from overlapper.tables.reads import BASES_PER_WORD

BLOCK_BITS = 20
"""A block has ``2 ** BLOCK_BITS`` bases: few enough for the list of its occurrences to fit into the cache."""
Stretch = tuple[int, int]
"""Numbers ``[start, stop)`` of occurrences."""


class OccurrenceLayout(NamedTuple):
    """The layout of packed occurrences (`overlapper.kernels.seeds.occurrences`).

    Attributes
    ----------
    width : int
        Bytes of an occurrence.
    position_bits : int
        Bits of the position in the read.
    """

    width: int
    position_bits: int

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


class Occurrences(NamedTuple):
    """Occurrences of minimizers by hash, read and position; the last one of each hash is marked.

    Attributes
    ----------
    packed : ndarray of uint8
        Memory for as many as there may be, and spare bytes.
    layout : OccurrenceLayout
    stretches : list of tuple of int
        Ranges of numbers that hold occurrences; others are empty.
    block_bits : int
        A block is ``2 ** block_bits`` word-aligned bases of the reads.
    per_block : ndarray of int64, shape (stretches, blocks)
        How many of each stretch are in each block.
    """

    packed: np.ndarray
    layout: OccurrenceLayout
    stretches: list[Stretch]
    block_bits: int
    per_block: np.ndarray

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


class Packer:
    """Packs grouped entries as occurrences of a read set.

    Parameters
    ----------
    placing : Placing
        Of the entries.
    lengths : ndarray of int64, shape (reads,)
    room : int
        Most occurrences; only those that are written take memory.
    stretches : int
        Number of stretches.

    Attributes
    ----------
    packed : ndarray of uint8
        Where they are written.
    layout : OccurrenceLayout
    block_bits : int
    per_block : ndarray of int64, shape (stretches, blocks)
        Number of packed occurrences, as in `Occurrences`.
    """

    def __init__(self, placing: Placing, lengths: np.ndarray, room: int, stretches: int) -> None:
        from overlapper.kernels.seeds.occurrences import SPARE

        self.block_bits = BLOCK_BITS
        blocks = (int(placing.word_offsets[-1]) * BASES_PER_WORD >> self.block_bits) + 1
        self.per_block = np.zeros((stretches, blocks), np.int64)
        self._placing, self.layout = placing, OccurrenceLayout.choose(lengths)
        self._memory = ReturnableMemory(room * self.layout.width + SPARE)
        self.packed = self._memory.array(np.uint8)

    def pack(self, entries: np.ndarray, first: int, stretch: int) -> int:
        """Pack the grouped entries of a bucket from number ``first`` on; return the next number."""
        from overlapper.kernels.seeds.seed_lists import pack_entries

        p = self._placing
        pack_entries(
            entries, p.rest_low_bit, p.read_of_words, p.word_offsets, self.packed, *self.layout, first,
            self.block_bits, self.per_block[stretch],
        )  # fmt: skip
        return first + len(entries)

    def packed_in(self, stretches: list[Stretch]) -> Occurrences:
        """Return the packed occurrences, which lie in these stretches."""
        return Occurrences(self.packed, self.layout, stretches, self.block_bits, self.per_block)

    def give_back(self, start: int, stop: int) -> None:
        """Return the memory of the empty numbers ``[start, stop)`` to the system."""
        self._memory.give_back(start * self.layout.width, stop * self.layout.width)
