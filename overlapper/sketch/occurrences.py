"""The occurrences of a seed index, packed, in memory of the host."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from overlapper.sketch.deep_reads import Placing
from overlapper.sketch.returnable_memory import ReturnableMemory
from overlapper.tables.reads import BASES_PER_WORD

BLOCK_BITS = 20
"""``2 ** BLOCK_BITS`` bases have their occurrences sorted at a time: their list fits into the cache."""
Stretch = tuple[int, int]
"""Numbers ``[start, stop)`` of occurrences."""


class OccurrenceLayout(NamedTuple):
    """How an occurrence is packed, as `overlapper.kernels.seeds.occurrences` says.

    Attributes
    ----------
    width : int
        Bytes that it takes.
    position_bits : int
        Bits of its position in the read.
    """

    width: int
    position_bits: int

    @classmethod
    def choose(cls, lengths: np.ndarray) -> Self:
        """Choose as few bytes as hold every place in reads of these lengths."""
        position_bits = int(lengths.max(initial=1) - 1).bit_length()
        return cls(-(-(2 + position_bits + max(0, len(lengths) - 1).bit_length()) // 8), position_bits)

    @classmethod
    def on_gpus(cls) -> Self:
        """Return that of occurrences on GPUs."""
        from overlapper.kernels.seeds.occurrences import POSITION_BITS

        return cls(8, POSITION_BITS)


class Occurrences(NamedTuple):
    """Occurrences by hash, read and position; of a group the last one is marked.

    Attributes
    ----------
    packed : ndarray of uint8
        Room for as many as there may be, and spare bytes.
    layout : OccurrenceLayout
    stretches : list of tuple of int
        Numbers that are taken; others hold nothing.
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
        """What kernels take: the bytes, and their layout."""
        return self.packed, *self.layout

    @property
    def room(self) -> int:
        """Number that none has, nor any above."""
        from overlapper.kernels.seeds.occurrences import SPARE

        return (len(self.packed) - SPARE) // self.layout.width

    def hits(self, step: int) -> int:
        """Return how many hits every ``step``-th one, in each stretch, has with later ones of its group."""
        from overlapper.kernels.candidates.dsoft import count_hits

        width = self.layout.width
        return sum(count_hits(self.packed, width, start, stop, step) for start, stop in self.stretches)

    def widen(self, first: int, words: np.ndarray) -> None:
        """Write those from a number on in the layout of GPUs, a word of 64 bits each (uint64, shape (n,)).

        Words of numbers that are not taken are left as they are.
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
        Occurrences that there may be; what is not written to takes no memory.
    stretches : int
        In as many they will lie.

    Attributes
    ----------
    packed : ndarray of uint8
        Where they are written.
    layout : OccurrenceLayout
    block_bits : int
    per_block : ndarray of int64, shape (stretches, blocks)
        How many were packed, as of `Occurrences`.
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
        """Write the entries of a bucket, grouped, as occurrences from a number on; return the next number."""
        from overlapper.kernels.seeds.seed_lists import pack_entries

        p = self._placing
        pack_entries(
            entries, p.rest_low_bit, p.read_of_words, p.word_offsets, self.packed, *self.layout, first,
            self.block_bits, self.per_block[stretch],
        )  # fmt: skip
        return first + len(entries)

    def packed_in(self, stretches: list[Stretch]) -> Occurrences:
        """Return what was packed, and lies in these stretches."""
        return Occurrences(self.packed, self.layout, stretches, self.block_bits, self.per_block)

    def give_back(self, start: int, stop: int) -> None:
        """Give back the memory of numbers ``[start, stop)``, which hold nothing any more."""
        self._memory.give_back(start * self.layout.width, stop * self.layout.width)
