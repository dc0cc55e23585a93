"""Pairwise alignment on a CUDA device; the twin of ../pairwise.py.

Both compute the integers that docs/algorithms/pairwise.md defines. Scores and ends come first: of short local
pairs two a register (`pairwise_packed`), of all others one a register (`pairwise_wide`). They tell how far
from a diagonal a path may stray, so that a thread finds it by itself (`pairwise_bands`); where that is too
much for a thread, a group of them leaves directions of the whole matrix, in as many launches as memory asks
for. Pairs with an empty sequence need no matrix, and are left to the CPU; so are paths whose directions do
not fit the device, as the CPU finds them in linear memory.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from overlapper.errors import DeviceError
from overlapper.kernels.common.cuda import path_classes
from overlapper.kernels.pairwise import pairwise as cpu
from overlapper.kernels.pairwise.cuda.pairwise_classes import KEPT, LONGEST, WIDE_GROUPS, Group, classes_of
from overlapper.kernels.pairwise.pairwise_chunks import (
    EMPTY,
    ORDER,
    Q_LENGTH,
    T_LENGTH,
    Chunk,
    Extent,
    bytes_of,
    chunk_in,
)
from overlapper.kernels.pairwise.pairwise_layout import Scheme
from overlapper.runtime.gpu import driver
from overlapper.runtime.gpu.launch import THREADS, launch, named
from overlapper.runtime.gpu.memory import Arena
from overlapper.runtime.threads import cut_evenly

FOUND = cpu.FIELDS + 1
"""Numbers of a pair that are found: those of the CPU's kernels, and how many runs its path has."""
_ENDS = 5
"""The first of them, which hold score and end."""
_BLOCKS = 16
"""Blocks a multiprocessor; what does not run at once finds the work done."""
_BAND_THREADS = 512
"""Threads of a multiprocessor that have room for a band."""
_CHUNKS = 8
"""The part of an arena that a chunk may take: found numbers, operations and CIGARs take three times as much,
directions the rest."""


class Scores(NamedTuple):
    """Scores on the device, in the order in which kernels take them."""

    table: Any
    profile_known: Any
    profile_n: Any
    gap_open: np.int32
    gap_extend: np.int32
    free: np.int32
    band: np.int32
    highest: np.int32


def fits_device(q_lengths: np.ndarray, t_lengths: np.ndarray, scheme: Scheme) -> np.ndarray:
    """Tell which pairs the kernels can compute: 27 bits hold a score, and 20 bits a length.

    If the longest query and the longest target of some pairs fit, all of them do.
    """
    highest = max(0, int(scheme.matrix.max())) * (np.minimum(q_lengths, t_lengths) + 1)
    longest = np.maximum(q_lengths, t_lengths)
    fits = cpu.fits_cells(32, 4 * q_lengths, 4 * t_lengths, scheme)
    return fits & (highest < 2**27) & (longest <= LONGEST)


class PairAligner:
    """Aligns chunks on the current device, one after the other; no result depends on the device.

    Parameters
    ----------
    scheme : Scheme
    wanted : int
        `ENDS`, `STARTS` or `PATHS` of the CPU's module.
    arena : Arena
        Nothing else may use it.

    Attributes
    ----------
    classes : Classes
        By which chunks are to be packed.
    room : int
        Bytes of a chunk, at most; of a single pair it may be more.
    """

    def __init__(self, scheme: Scheme, wanted: int, arena: Arena) -> None:
        self._scheme, self._wanted, self._arena = scheme, wanted, arena
        self.classes, self._groups = classes_of(scheme)
        self.room = min(len(arena.pinned), arena.free // _CHUNKS)
        device = driver.properties(driver.current())
        self._modern = device.capability >= (9, 0)
        self._processors = device.multiprocessors
        # Rows beyond the query score nothing that a path would go there for.
        matrix = np.vstack([scheme.matrix, np.full((1, 5), min(0, int(scheme.matrix.min())))])
        self._bytes_fit = int(matrix.min()) >= -128 and int(matrix.max()) <= 127
        scores = matrix if self._bytes_fit else np.zeros_like(matrix)
        self._scores = Scores(
            arena.upload(matrix.astype(np.int32).ravel()),
            arena.upload(np.ascontiguousarray(scores[:, :4].astype(np.int8)).view(np.uint32).ravel()),
            arena.upload(scores[:, 4].astype(np.int8).view(np.uint8).astype(np.uint32)),
            np.int32(scheme.gap_open), np.int32(scheme.gap_extend), np.int32(scheme.free),
            np.int32(min(scheme.band, LONGEST)), np.int32(max(0, int(matrix.max()))),
        )  # fmt: skip
        self._packed_scores = {
            bits: arena.upload((scheme.matrix[:, :4] << bits).astype(np.int8).view(np.uint32).ravel())
            for bits in {group.bits for group in self._groups if group and group.bits}
        }
        self._all_known = arena.zeros(len(arena.pinned) // 8, np.uint32)
        self._mark = arena.mark()

    def stage(self, extent: Extent) -> np.ndarray:
        """Return memory (uint8) to pack a chunk in; what the chunk before found is lost."""
        self._arena.release(self._mark)
        return self._arena.stage(bytes_of(extent))

    def align(self, extent: Extent, block: np.ndarray, class_starts: np.ndarray) -> np.ndarray:
        """Align the pairs of a chunk.

        Parameters
        ----------
        extent : Extent
        block : ndarray of uint8
            The chunk, in memory from `stage`.
        class_starts : ndarray of int32, shape (classes + 1,)
            What packing it returned.

        Returns
        -------
        ndarray of int64
            Pairs that are left to the CPU, in order.
        """
        arena, count = self._arena, extent.end - extent.begin
        numbers = chunk_in(block, extent).numbers
        left = np.sort(numbers[ORDER, class_starts[EMPTY] : class_starts[EMPTY + 1]])
        there = chunk_in(arena.send(block), extent)
        unknown = there.unknown if extent.unknown else self._all_known
        self._chunk = Chunk(there.words.view(np.uint32), unknown, there.numbers)
        self._found = arena.array((FOUND, count), np.int32)
        arena.fill(self._found, 0)
        for number in np.flatnonzero(np.diff(class_starts)).tolist():
            group = self._groups[number]
            if group is not None:
                self._find_ends(group, int(class_starts[number]), int(class_starts[number + 1]))
        if self._wanted != cpu.ENDS:
            left = np.union1d(left, self._follow_paths(2 * extent.words))
        return left

    def found(self) -> np.ndarray:
        """Return what was found of the chunk (int32, shape (rows, n)), where it stays until the next call.

        Rows are as `FIELDS` of the CPU's module says, up to the last one asked for, and with paths the number
        of runs; 0 where nothing was asked for.
        """
        return self._arena.fetch(self._found[:_ENDS] if self._wanted == cpu.ENDS else self._found)

    def write_cigars(self, offsets: np.ndarray, cigar: np.ndarray) -> None:
        """Write the CIGARs of the chunk.

        Parameters
        ----------
        offsets : ndarray of int64, shape (n + 1,)
            Where each starts: the sums of the runs found.
        cigar : ndarray of uint32
            Gets BAM's operations along the query.
        """
        arena = self._arena
        offsets_there = arena.upload(offsets)
        room = min(arena.free, len(arena.pinned))
        fits = 4 * len(cigar) <= room
        bounds = np.array([0, len(offsets) - 1]) if fits else cut_evenly(4 * np.diff(offsets), room)
        for begin, end in itertools.pairwise(bounds.tolist()):
            mark, here = arena.mark(), cigar[offsets[begin] : offsets[end]]
            there = arena.array(len(here), np.uint32)
            self._launch(
                named("pairwise.pairwise_path", "write_runs"), end - begin, self._paths, self._chunk.numbers,
                self._found, offsets_there, np.int64(begin), np.int64(end), there,
            )  # fmt: skip
            here[:] = arena.fetch(there)[: len(here)]
            arena.release(mark)

    def _launch(self, kernel: Any, items: int, *arguments: Any) -> None:
        """Launch a kernel whose threads take several items where there are many."""
        launch(kernel, min(items, _BLOCKS * self._processors * THREADS), self._arena, *arguments)

    def _find_ends(self, group: Group, begin: int, end: int) -> None:
        """Find score and end of pairs ``[begin, end)`` by class."""
        order, mark = self._chunk.numbers[ORDER][begin:end], self._arena.mark()
        if group.bits:
            self._launch_packed(group, order, end - begin)
        elif group.stripes:
            self._compute_wide(group, self._arena.download(order), traced=False)
        else:
            nowhere = self._arena.zeros(end - begin, np.int64)
            nothing = self._arena.array(0, np.int32), nowhere, self._arena.array(0, np.uint64), nowhere
            self._launch_wide(group, order, *nothing, traced=False)
        self._arena.release(mark)

    def _launch_packed(self, group: Group, order: Any, count: int) -> None:
        first, following = self._scheme.gap_open + self._scheme.gap_extend, self._scheme.gap_extend
        self._launch(
            named("pairwise.pairwise_packed", "packed_kernel", group.lanes, group.rows, group.bits,
            self._modern), (count + 1) // 2 * group.lanes, self._chunk, order,
            self._packed_scores[group.bits], _twice(first << group.bits), _twice(following << group.bits),
            self._found,
        )  # fmt: skip

    def _compute_wide(self, group: Group, pairs: np.ndarray, traced: bool) -> np.ndarray:
        """Compute whole matrices, in as many launches as memory asks for, and follow paths if asked to.

        Returns
        -------
        ndarray of int32
            Pairs whose directions do not fit the device.
        """
        rows = group.lanes * group.rows
        q_lengths, t_lengths = (self._lengths(row)[pairs].astype(np.int64) for row in (Q_LENGTH, T_LENGTH))
        stripes = -(-q_lengths // rows)
        columns = t_lengths
        if self._scheme.band >= 0:
            columns = np.minimum(t_lengths, rows + abs(t_lengths - q_lengths) + 2 * self._scores.band)
        words = stripes * (columns + group.lanes - 1) * group.lanes * traced
        kept = np.where(stripes > 1, t_lengths + 1, 0)
        sizes = 8 * words + 4 * KEPT * kept + 20
        fits = sizes <= self._arena.free
        left, pairs, words, kept, sizes = (
            pairs[~fits], *(column[fits] for column in (pairs, words, kept, sizes)),
        )  # fmt: skip
        if len(left) and not traced:
            raise DeviceError(
                f"a pair of {q_lengths[~fits][0]} and {t_lengths[~fits][0]} bases takes "
                f"{4 * KEPT * (t_lengths[~fits][0] + 1) / 1e6:.1f} MB of GPU memory, and "
                f"{self._arena.free / 1e6:.1f} MB are there. Use a GPU with more memory, or the CPU"
            )
        for begin, end in itertools.pairwise(cut_evenly(sizes, self._arena.free).tolist()):
            mark = self._arena.mark()
            kept_offsets, word_offsets = (
                np.concatenate([[0], np.cumsum(column[begin:end])]).astype(np.int64)
                for column in (kept, words)
            )
            order = self._arena.upload(pairs[begin:end])
            directions = self._arena.array(int(word_offsets[-1]), np.uint64)
            room = (
                self._arena.zeros(KEPT * int(kept_offsets[-1]), np.int32),
                self._arena.upload(kept_offsets), directions, self._arena.upload(word_offsets),
            )  # fmt: skip
            self._launch_wide(group, order, *room, traced=traced)
            if traced:
                self._launch(
                    named("pairwise.pairwise_wide", "trace_kernel", group.lanes, group.rows,
                    self._scheme.local), len(order), self._chunk, order, self._scores, *room[2:],
                    self._found, self._keep, self._paths,
                )  # fmt: skip
            self._arena.release(mark)
        return left

    def _launch_wide(self, group: Group, order: Any, *room: Any, traced: bool) -> None:
        scheme = self._scheme
        self._launch(
            named(
                "pairwise.pairwise_wide", "wide_kernel",
                group.lanes, group.rows, scheme.local, traced, self._bytes_fit, scheme.band >= 0,
            ),
            len(order) * group.lanes, self._chunk, order, self._scores, *room, self._found,
        )  # fmt: skip

    def _lengths(self, row: int) -> np.ndarray:
        """Return lengths of the queries or the targets of all pairs."""
        return self._arena.download(self._chunk.numbers[row])

    def _follow_paths(self, words: int) -> np.ndarray:
        """Find starts, counts and operations; return pairs left to the CPU.

        ``words`` of operations are what all paths may take: twice the words of their bases.
        """
        arena, count = self._arena, self._found.shape[1]
        self._keep = self._wanted == cpu.PATHS
        self._paths = arena.array(words if self._keep else 0, np.uint32)
        mark = arena.mark()
        classes, order = arena.array(count, np.int32), arena.array(count, np.int32)
        self._launch(
            named("pairwise.pairwise_bands", "plan_paths"), count, self._chunk.numbers, self._found,
            self._scores, classes,
        )  # fmt: skip
        counts = arena.zeros(path_classes.CLASSES, np.int32)
        self._launch(named("common.sort_by_class", "count_classes"), count, classes, counts)
        of_class = arena.download(counts)
        starts = arena.upload(path_classes.starts_of(of_class))
        self._launch(named("common.sort_by_class", "order_by_class"), count, classes, starts, order)
        too_large = int(of_class[path_classes.TOO_LARGE])
        chosen = [arena.download(order[:too_large])] if too_large else []
        chosen += self._follow_in_bands(order, of_class, too_large)
        left = [np.empty(0, np.int64)]
        if chosen:
            pairs = np.sort(np.concatenate(chosen))
            lengths = self._lengths(Q_LENGTH)[pairs]
            groups = sorted(WIDE_GROUPS, key=lambda group: group[0] * group[1])
            areas = np.array([lanes * rows for lanes, rows in groups])
            number = np.minimum(np.searchsorted(areas, lengths), len(areas) - 1)
            for some in np.unique(number).tolist():
                lanes, rows = groups[some]
                group = Group(lanes, rows, 0, True)
                left.append(self._compute_wide(group, pairs[number == some], traced=True))
        arena.release(mark)
        return np.concatenate(left)

    def _follow_in_bands(self, order: Any, of_class: np.ndarray, begin: int) -> list[np.ndarray]:
        """Follow the paths of pairs ``order`` from ``begin`` on, in as many launches as memory asks for.

        Returns
        -------
        list of ndarray of int32
            Pairs that are left to groups of threads: there is no room for a warp of threads with theirs.
        """
        arena = self._arena
        settings = self._scheme.local, self._bytes_fit, self._scheme.band >= 0
        kernel = named("pairwise.pairwise_bands", "banded_kernel", *settings)
        blocks, columns = path_classes.largest_of_classes()
        left = [int(k) for k in np.flatnonzero(of_class) if 0 < k < path_classes.TOO_LARGE]
        too_large = []
        while left:
            # Classes go together as long as there is room for all threads with the largest of both sizes.
            number, mark, free = left.pop(), arena.mark(), arena.free - 512
            end, sizes = begin + int(of_class[number]), (int(blocks[number]), int(columns[number]))
            while left:
                larger = max(sizes[0], int(blocks[left[-1]])), max(sizes[1], int(columns[left[-1]]))
                if self._band_threads(end - begin) * _band_bytes(*larger) > free:
                    break
                sizes, end = larger, end + int(of_class[left.pop()])
            slots = min(self._band_threads(end - begin), free // _band_bytes(*sizes) // 32 * 32)
            if not slots:
                too_large.append(arena.download(order[begin:end]))
                begin = end
                continue
            directions = arena.array(slots * sizes[0] * sizes[1], np.uint64)
            between = arena.array(slots * sizes[1], np.uint64)
            self._launch(
                kernel, slots, self._chunk, order[begin:end], self._scores,
                *(np.int64(size) for size in sizes), np.int64(slots), between, directions, self._found,
                self._keep, self._paths,
            )  # fmt: skip
            arena.release(mark)
            begin = end
        return too_large

    def _band_threads(self, pairs: int) -> int:
        """Return how many threads follow so many paths at once, if there is room."""
        return min(_BAND_THREADS * self._processors, -(-pairs // 32) * 32)


def _band_bytes(blocks: int, columns: int) -> int:
    """Return the device memory of a thread that follows paths."""
    return 8 * columns * (blocks + 1)


def _twice(number: int) -> np.uint32:
    """Return a number in both halves of a register."""
    return np.uint32((number & 0xFFFF) * 0x10001)
