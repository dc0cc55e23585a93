"""Alignments of chains by shortest edit paths on a CUDA device; the twin of ../chain_paths.py.

The functions that pair, extend and write runs are those of the CPU, compiled for the device. Here a thread
works on a gap between two anchors at a time, or on an end of a chain, as these do not depend on each other.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numba import cuda, int64, uint8, uint32

from overlapper.errors import DeviceError
from overlapper.kernels.common.cuda.walks import DeviceReads
from overlapper.kernels.common.edit_paths import CODES, READ_UNKNOWN, TARGET_UNKNOWN, Matrix
from overlapper.kernels.mapping.chain_gaps import Frames, Gaps, by_size, cut_gaps, matrix_words
from overlapper.kernels.mapping.chain_paths import (
    INSERTED,
    TILE,
    Ends,
    extend_right,
    pair_between,
    room,
    write_runs,
)
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena
from overlapper.runtime.threads import cut_evenly

MOST_THREADS = 1 << 18
"""Threads that are given room for a matrix."""
_SMALLEST_CLASS, _CLASS_RATIO = 64, 4
"""Gaps are worked on together whose matrices take up to 64 words, up to four times as many, and so on."""
_BYTES_OF_BASE, _BYTES_OF_GAP, _BYTES_OF_CHAIN = 28, 36, 192
"""Device memory: of a base of a read or of a window, of a gap, and of a chain besides."""


def align_chains(
    reads: DeviceReads, reference: DeviceReads, read: np.ndarray, target: np.ndarray, reverse: np.ndarray,
    row_starts: np.ndarray, x: np.ndarray, y: np.ndarray, length: np.ndarray, ends: Ends, arena: Arena,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Align every chain, as `kernels.mapping.chain_paths.align_chains` does.

    Parameters
    ----------
    reads, reference : DeviceReads
    read, target, reverse, row_starts, x, y, length, ends
        As there, in host memory.
    arena : Arena
        Of the device that the reads are on; what it holds is kept.

    Returns
    -------
    rows, cigar, cigar_offsets : ndarray
        As there.

    Raises
    ------
    DeviceError
        When the arena is too small for a chain.
    """
    q_lengths, t_lengths = reads.host.lengths[read], reference.host.lengths[target]
    gaps, frames = cut_gaps(q_lengths, t_lengths, row_starts, x, y, length)
    firsts = np.searchsorted(gaps.chain, np.arange(len(read) + 1))
    bases = q_lengths + frames.q_left + frames.t_last - frames.t_first + frames.t_left
    bytes_each = _BYTES_OF_CHAIN + _BYTES_OF_BASE * bases + _BYTES_OF_GAP * np.diff(firsts)
    # The other half is room for matrices, and for CIGARs when these are done.
    bounds = cut_evenly(bytes_each, arena.free // 2)
    mark, parts = arena.mark(), []
    for begin, end in itertools.pairwise(bounds.tolist()):
        chains = slice(begin, end)
        some = Gaps(*(column[firsts[begin] : firsts[end]] for column in gaps))
        batch = _Batch(
            reads, reference, read[chains], target[chains], reverse[chains],
            Frames(*(column[chains] for column in frames)), arena,
        )  # fmt: skip
        batch.pair_gaps(some._replace(chain=some.chain - np.int32(begin)))
        batch.extend_ends(ends)
        parts.append(batch.collect())
        arena.release(mark)
    counts = [np.diff(offsets) for _, _, offsets in parts]
    return (
        np.concatenate([np.empty((0, 4), np.int64), *(rows for rows, _, _ in parts)]),
        np.concatenate([np.empty(0, np.uint32), *(cigar for _, cigar, _ in parts)]),
        np.concatenate([[0], *counts]).cumsum(),
    )


class _Batch:
    """Chains whose paths are found at once: what of them lies in device memory.

    Bases of a read as turned, and of its window, are codes, a byte each. Behind them lie those before the
    first anchor once more, backwards, for the left end.
    """

    def __init__(
        self, reads: DeviceReads, reference: DeviceReads, read: np.ndarray, target: np.ndarray,
        reverse: np.ndarray, frames: Frames, arena: Arena,
    ) -> None:  # fmt: skip
        self._arena, self._frames = arena, frames
        self._q_lengths = reads.host.lengths[read]
        t_lengths = frames.t_last - frames.t_first
        t_before = np.minimum(frames.t_left, room(frames.q_left.astype(np.int64)))
        self._query, self._q_offsets = self._unpacked(
            reads, read, np.zeros_like(self._q_lengths), self._q_lengths, reverse,
            frames.q_left, frames.q_left, TARGET_UNKNOWN,
        )  # fmt: skip
        self._window, self._t_offsets = self._unpacked(
            reference, target, frames.t_first, t_lengths, np.zeros(len(target), bool),
            frames.t_left, t_before, READ_UNKNOWN,
        )  # fmt: skip
        self._there = [arena.upload(column) for column in (self._q_lengths, t_lengths, *frames[2:])]
        self._pair = arena.array(self._query.size, np.int32)
        self._starts = arena.array(self._query.size, np.int32)
        self._intervals = arena.array((len(read), 4), np.int32)

    def _unpacked(
        self, reads: DeviceReads, number: np.ndarray, first: np.ndarray, lengths: np.ndarray,
        reverse: np.ndarray, left: np.ndarray, before: np.ndarray, unknown_code: int,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Return the codes of intervals, ``before`` of each once more, and where each starts."""
        offsets = np.concatenate([[0], np.cumsum(lengths + before)])
        codes, there = self._arena.array(int(offsets[-1]), np.uint8), self._arena.upload(offsets)
        columns = (self._arena.upload(column) for column in (number, first, lengths, reverse, left))
        launch(
            unpack, 128 * len(number), self._arena,
            reads.words, reads.unknown, reads.word_offsets, *columns, there, unknown_code, codes,
        )  # fmt: skip
        return codes, there

    def pair_gaps(self, gaps: Gaps) -> None:
        """Pair the bases of all gaps and anchors."""
        there = [self._arena.upload(column) for column in gaps]
        order, bounds = by_size(gaps, _SMALLEST_CLASS, _CLASS_RATIO)
        items = self._arena.upload(order)
        for number, (begin, end) in enumerate(itertools.pairwise(bounds.tolist())):
            if begin == end:
                continue
            mark = self._arena.mark()
            rooms = self._rooms(end - begin, _SMALLEST_CLASS * _CLASS_RATIO**number)
            launch(
                pair_gaps, len(rooms), self._arena,
                items[begin:end], *there, self._q_offsets, self._t_offsets,
                self._query, self._window, rooms, self._starts, self._pair,
            )  # fmt: skip
            self._arena.release(mark)

    def extend_ends(self, ends: Ends) -> None:
        """Extend both ends of every chain."""
        mark = self._arena.mark()
        items = 2 * len(self._q_lengths)
        rooms = self._rooms(items, matrix_words(TILE, room(TILE)))
        launch(
            extend_ends, len(rooms), self._arena,
            *self._there, self._q_offsets, self._t_offsets, self._query, self._window, rooms,
            *(np.int64(score) for score in ends), self._starts, self._pair, self._intervals,
        )  # fmt: skip
        self._arena.release(mark)

    def collect(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return intervals, runs and where those of each chain start."""
        arena, n = self._arena, len(self._q_lengths)
        run_offsets = np.concatenate([[0], np.cumsum(2 * self._q_lengths + 1)])
        runs, counts = arena.array(int(run_offsets[-1]), np.uint32), arena.array(n, np.int64)
        there = arena.upload(run_offsets)
        launch(
            find_runs, n, arena,
            self._intervals, self._q_offsets, self._t_offsets, self._query, self._window, self._pair,
            there, runs, counts,
        )  # fmt: skip
        rows = arena.download(self._intervals).astype(np.int64)
        rows[:, 2:] += self._frames.t_first[:, None]
        offsets = np.concatenate([[0], np.cumsum(arena.download(counts))])
        packed = arena.array(int(offsets[-1]), np.uint32)
        launch(pack_runs, 32 * n, arena, runs, there, arena.upload(offsets), packed)
        cigar = np.empty(int(offsets[-1]), np.uint32)
        arena.download_to(cigar, packed)
        return rows, cigar, offsets

    def _rooms(self, items: int, words: int) -> Any:
        """Return room for so many words each, for as many threads as there are items, if they fit."""
        threads = min(items, MOST_THREADS, self._arena.free // (8 * words))
        if not threads:
            raise DeviceError(
                f"a gap between seeds takes {8e-6 * words:.1f} MB of GPU memory, and "
                f"{1e-6 * self._arena.free:.1f} MB are left. Allow more with --gpu-memory, or use the CPU"
            )
        return self._arena.array((threads, words), np.uint64)


@cuda.jit(device=True)
def _matrix(space, q_bases, t_bases):
    """Return memory for the matrix of a gap."""
    rows = (q_bases + 63) >> 6
    first, second = rows * CODES, rows * (CODES + t_bases + 1)
    return Matrix(space[:first], space[first:second], space[second:], q_bases)


@cuda.jit
def unpack(
    words, unknown, word_offsets, number, first, lengths, reverse, left, offsets, unknown_code, codes
):  # fmt: skip
    """Write the codes of an interval of each sequence, and behind them backwards those before ``left``.

    Parameters
    ----------
    words, unknown, word_offsets : device array
        As in `DeviceReads`.
    number, first, lengths : device array of int
        Sequence and interval; the first base is 0 where it is turned.
    reverse : device array of bool
    left, offsets : device array of int
        Where what is written of each sequence starts.
    unknown_code : int
    codes : device array of uint8
    """
    for row in range(cuda.blockIdx.x, len(number), cuda.gridDim.x):
        word, length, at = word_offsets[number[row]], lengths[row], offsets[row]
        for i in range(cuda.threadIdx.x, offsets[row + 1] - at, cuda.blockDim.x):
            place = i if i < length else left[row] - 1 - (i - length)
            place = length - 1 - place if reverse[row] else first[row] + place
            code = uint8(uint32(words[2 * word + (place >> 4)] >> uint32(2 * (place & 15))) & uint32(3))
            if reverse[row]:
                code = uint8(3) - code
            if uint32(unknown[word + (place >> 5)] >> uint32(place & 31)) & uint32(1):
                code = uint8(unknown_code)
            codes[at + i] = code


@cuda.jit
def pair_gaps(
    items, chain, q_start, q_end, t_start, t_end, anchor, q_offsets, t_offsets, query, window, rooms,
    starts, pair,
):  # fmt: skip
    """Pair the bases of gaps and of the anchors behind them; a thread an item.

    Parameters
    ----------
    items : device array of int32
        Which gaps.
    chain, q_start, q_end, t_start, t_end, anchor : device array of int32
        Columns of `Gaps`.
    q_offsets, t_offsets : device array of int64
    query, window : device array of uint8
        Codes of all chains.
    rooms : device array of uint64, shape (threads, words)
    starts, pair : device array of int32, as long as ``query``
        Get the base of the window by base of the read.
    """
    thread = cuda.grid(1)
    if thread >= rooms.shape[0]:
        return
    for item in range(thread, len(items), rooms.shape[0]):
        gap = items[item]
        q_first, q_last = q_offsets[chain[gap]], q_offsets[chain[gap] + 1]
        t_first, t_last = t_offsets[chain[gap]], t_offsets[chain[gap] + 1]
        q, q_stop = int64(q_start[gap]), int64(q_end[gap])
        t, t_stop = int64(t_start[gap]), int64(t_end[gap])
        matrix = _matrix(rooms[thread], q_stop - q, t_stop - t)
        pair_between(
            query[q_first:q_last], q, q_stop, window[t_first:t_last], t, t_stop, matrix,
            starts[q_first:q_last], pair[q_first:q_last],
        )  # fmt: skip
        for i in range(anchor[gap]):
            pair[q_first + q_stop + i] = t_stop + i


@cuda.jit
def extend_ends(
    q_lengths, t_lengths, q_left, t_left, q_right, t_right, q_offsets, t_offsets, query, window, rooms,
    match, mismatch, gap_open, gap_extend, end_bonus, starts, pair, intervals,
):  # fmt: skip
    """Extend chains; a thread an end. ``intervals`` gets those on read and window, a row a chain."""
    thread = cuda.grid(1)
    if thread >= rooms.shape[0]:
        return
    ends = Ends(match, mismatch, gap_open, gap_extend, end_bonus)
    matrix = _matrix(rooms[thread], int64(TILE), int64(room(TILE)))
    for item in range(thread, 2 * len(q_lengths), rooms.shape[0]):
        row = item >> 1
        q_first, q_middle, q_last = q_offsets[row], q_offsets[row] + q_lengths[row], q_offsets[row + 1]
        t_first, t_middle, t_last = t_offsets[row], t_offsets[row] + t_lengths[row], t_offsets[row + 1]
        if item & 1:
            q, t = extend_right(
                query[q_first:q_middle], int64(q_right[row]), q_lengths[row],
                window[t_first:t_middle], int64(t_right[row]), t_lengths[row],
                matrix, starts[q_first:q_middle], pair[q_first:q_middle], ends,
            )  # fmt: skip
            intervals[row, 1], intervals[row, 3] = q, t
        else:
            flipped = pair[q_middle:q_last]
            q, t = extend_right(
                query[q_middle:q_last], int64(0), q_last - q_middle,
                window[t_middle:t_last], int64(0), t_last - t_middle,
                matrix, starts[q_middle:q_last], flipped, ends,
            )  # fmt: skip
            for i in range(q):
                partner = INSERTED if flipped[i] == INSERTED else t_left[row] - 1 - flipped[i]
                pair[q_first + q_left[row] - 1 - i] = partner
            intervals[row, 0], intervals[row, 2] = q_left[row] - q, t_left[row] - t


@cuda.jit
def find_runs(intervals, q_offsets, t_offsets, query, window, pair, run_offsets, runs, counts):
    """Write the runs of paths, a thread a chain, and how many each has."""
    for row in range(cuda.grid(1), len(counts), cuda.gridsize(1)):
        q_first, q_last = q_offsets[row], q_offsets[row + 1]
        counts[row] = write_runs(
            query[q_first:q_last], int64(intervals[row, 0]), int64(intervals[row, 1]),
            window[t_offsets[row] : t_offsets[row + 1]], pair[q_first:q_last],
            runs[run_offsets[row] : run_offsets[row + 1]],
        )  # fmt: skip


@cuda.jit
def pack_runs(runs, run_offsets, offsets, packed):
    """Copy the runs of all chains to where those before end; a block a chain."""
    for row in range(cuda.blockIdx.x, len(offsets) - 1, cuda.gridDim.x):
        for i in range(cuda.threadIdx.x, offsets[row + 1] - offsets[row], cuda.blockDim.x):
            packed[offsets[row] + i] = runs[run_offsets[row] + i]
