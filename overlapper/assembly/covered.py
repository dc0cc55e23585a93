"""What enough reads cover, by the overlaps of the reads as they were given.

There the votes of correction decided on each base of a read; what fewer reads cover has the errors of a read.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple, Self

import numpy as np

from overlapper.assembly.chimeras import Sound
from overlapper.assembly.laid_out import LaidOut
from overlapper.correction.read_consensus import CONFIRMED_DEPTH
from overlapper.kernels.graph import trimming
from overlapper.runtime.threads import cut_evenly, map_in_order
from overlapper.tables import Intervals
from overlapper.tables.ragged import offsets_of, places_within

_BLOCKS = 64


class Covered(NamedTuple):
    """Stretches of reads that enough reads cover, half open, by read."""

    first: np.ndarray
    """int64, shape (reads + 1,); where those of each read begin."""
    start: np.ndarray
    end: np.ndarray
    """`start`, `end`: float64, shape (n,); in parts of what is sound of the read."""

    @classmethod
    def of(cls, overlaps: Intervals, sound: Sound, threads: int) -> Self:
        """Find them by the overlaps of the reads as they were given, of which a part is sound."""
        reads = len(sound.length)
        offsets, opens, closes = trimming.intervals_by_read(
            overlaps.query, overlaps.q_start, overlaps.q_end,
            overlaps.target, overlaps.t_start, overlaps.t_end, reads,
        )  # fmt: skip

        def stretches(block: tuple[int, int]) -> tuple[np.ndarray, ...]:
            rows = slice(int(offsets[block[0]]), int(offsets[block[1]]))
            read = np.repeat(np.arange(*block), np.diff(offsets[block[0] : block[1] + 1]))
            read, at = np.tile(read, 2), np.concatenate([opens[rows], closes[rows]])
            order = np.lexsort((at, read))
            deep = np.cumsum(np.where(order < len(read) // 2, 1, -1)) >= CONFIRMED_DEPTH - 1
            begin, end = (
                order[np.flatnonzero(edge) + 1] for edge in (deep[1:] & ~deep[:-1], deep[:-1] & ~deep[1:])
            )
            return read[begin], at[begin], at[end]

        bounds = cut_evenly(np.diff(offsets) + 1, (len(opens) + reads) // _BLOCKS + 1).tolist()
        none = np.zeros(0, np.int64)
        found = [(none, none, none), *map_in_order(stretches, itertools.pairwise(bounds), threads)]
        read, *places = map(np.concatenate, zip(*found, strict=True))
        low, high = sound.start[read], sound.end[read]
        start, end = ((at.clip(low, high) - low) / np.maximum(high - low, 1) for at in places)
        return cls(np.searchsorted(read, np.arange(reads + 1)), start, end)

    def on(self, laid_out: LaidOut, origin: np.ndarray) -> np.ndarray:
        """Return which bases of contigs a read of theirs has where it is covered, those of all in a row.

        Parameters
        ----------
        laid_out : LaidOut
            Of corrected reads.
        origin : ndarray of int64
            The number of each of these among the given reads.
        """
        own = laid_out.reads
        given = origin[own.read]
        each = self.first[given + 1] - self.first[given]
        row = np.repeat(np.arange(len(own)), each)
        number = self.first[given[row]] + places_within(each)
        own = own.take(row)
        low, high = (
            np.rint(at[number] * own.read_length).astype(np.int64).clip(own.r_start, own.r_end)
            for at in (self.start, self.end)
        )
        start = own.start + np.where(own.reverse, own.r_end - high, low - own.r_start)
        some = np.flatnonzero(low < high)
        contigs, end = laid_out.contigs, start + high - low
        return mask_of(own.unitig[some], start[some], end[some], contigs.sequences.lengths, contigs.circular)


def mask_of(
    contig: np.ndarray, start: np.ndarray, end: np.ndarray, lengths: np.ndarray, circular: np.ndarray
) -> np.ndarray:
    """Return which bases of contigs lie on stretches, those of all contigs one after the other.

    Stretches are half open; on a circle they may begin before the first base or end behind the last one.
    """
    length, first = lengths[contig], offsets_of(lengths)[contig]
    change = np.zeros(lengths.sum() + 1, np.int32)
    for turn in (-1, 0, 1):  # a circle goes on behind its last base
        turned = np.flatnonzero(circular[contig]) if turn else slice(None)
        for at, step in ((start, 1), (end, -1)):
            place = (at + turn * length).clip(0, length) + first
            np.add.at(change, place[turned], step)
    return np.asarray(np.cumsum(change[:-1]) > 0)
