"""Pairwise alignment on a CUDA device; the twin of kernels/cpu/pairwise.py.

Both compute the integers that docs/algorithms/pairwise.md defines. Scores and ends come first: of short local
pairs two a register (`pairwise_packed`), of all others one a register (`pairwise_wide`). They tell how far
from a diagonal a path may stray, so that a thread finds it by itself (`pairwise_bands`); where that is too
much for a thread, a group of them leaves directions of the whole matrix, in as many launches as memory asks
for. Pairs with an empty sequence need no matrix, and are left to the CPU.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numba import cuda
from numba.cuda.cudadrv.driver import device_memset

from overlapper.errors import DeviceError
from overlapper.kernels.cpu import pairwise as cpu
from overlapper.kernels.cpu.pairwise_layout import Pairs, Scheme
from overlapper.kernels.cuda import (
    pairwise_bands,
    pairwise_packed,
    pairwise_path,
    pairwise_wide,
    sort_by_class,
)
from overlapper.kernels.cuda.memory import Arena, launching
from overlapper.kernels.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.cuda.walks import DeviceReads
from overlapper.threads import cut_evenly

LONGEST = 2**20 - 2
"""Bases of a sequence, at most; the best cell of a pair is found by keys of 20 bits for each."""
_PACKED_LONGEST = 2**15 - 1
_BLOCKS = 16
"""Blocks a multiprocessor; what does not run at once finds the work done."""
_FEWEST_BLOCKS = 128
"""numba warns of smaller launches; blocks without work cost nothing."""
_BAND_THREADS = 512
"""Threads of a multiprocessor that have room for a band."""
_BYTES_EACH = 10 + 4 + 4 * cpu.FIELDS + 3 * 4 + 2 * 8
"""Device memory of a pair without its path."""
_PARTS = 4
"""The part of the memory that pairs may take; the rest is for directions and CIGARs."""


class Found(NamedTuple):
    """Alignments.

    Attributes
    ----------
    fields : tuple of ndarray of int32, shape (n,)
        As `FIELDS` of the CPU's module says.
    cigar : ndarray of uint32
        BAM's operations along the query; none unless wanted.
    cigar_offsets : ndarray of int64, shape (n + 1,)
    """

    fields: tuple[np.ndarray, ...]
    cigar: np.ndarray
    cigar_offsets: np.ndarray


_times: dict[str, float] | None = None


@contextmanager
def kernel_times() -> Iterator[dict[str, float]]:
    """Collect the seconds that kernels take, by what they do; each launch is then waited for."""
    global _times
    _times = {}
    try:
        yield _times
    finally:
        _times = None


def fits_device(q_lengths: np.ndarray, t_lengths: np.ndarray, scheme: Scheme) -> np.ndarray:
    """Tell which pairs the kernels can compute: 27 bits hold a score, and 20 bits a length."""
    highest = max(0, int(scheme.matrix.max())) * (np.minimum(q_lengths, t_lengths) + 1)
    longest = np.maximum(q_lengths, t_lengths)
    fits = cpu.fits_cells(32, 4 * q_lengths, 4 * t_lengths, scheme)
    return fits & (highest < 2**27) & (longest <= LONGEST)


def align_pairs(
    queries: DeviceReads, targets: DeviceReads, pairs: Pairs, scheme: Scheme, wanted: int, arena: Arena
) -> Found:
    """Align pairs; no result depends on the device, nor on its memory.

    Parameters
    ----------
    queries, targets : DeviceReads
    pairs : Pairs
        n pairs, in host memory.
    scheme : Scheme
        Without band and second best.
    wanted : int
        `ENDS`, `STARTS` or `PATHS` of the CPU's module.
    arena : Arena
        Of the device that the sequences are on; what it holds is kept.

    Returns
    -------
    Found

    Raises
    ------
    DeviceError
        When the directions of a single pair do not fit the arena.
    """
    bases = queries.host.lengths[pairs.query] + targets.host.lengths[pairs.target]
    bytes_each = _BYTES_EACH + (bases // 4 + 4 if wanted == cpu.PATHS else 0 * bases)
    bounds = cut_evenly(bytes_each, arena.free // _PARTS)
    mark, parts = arena.mark(), []
    for begin, end in itertools.pairwise(bounds.tolist()):
        some = Pairs(*(column[begin:end] for column in pairs))
        parts.append(_Batch(queries, targets, some, scheme, wanted, arena).align())
        arena.release(mark)
    if len(parts) == 1:
        return parts[0]
    none = (np.empty(0, np.int32),) * cpu.FIELDS
    fields = zip(none, *(part.fields for part in parts), strict=True)
    runs = [np.diff(part.cigar_offsets) for part in parts]
    return Found(
        tuple(np.concatenate(field) for field in fields),
        np.concatenate([np.empty(0, np.uint32), *(part.cigar for part in parts)]),
        np.concatenate([[0], *runs]).cumsum(),
    )


def _known(reads: DeviceReads) -> np.ndarray:
    """Tell which sequences hold no N."""
    return np.diff(reads.host.unknown_offsets) == 0


class _Batch:
    """Pairs on the device: what kernels take, and what they found so far."""

    def __init__(
        self,
        queries: DeviceReads,
        targets: DeviceReads,
        pairs: Pairs,
        scheme: Scheme,
        wanted: int,
        arena: Arena,
    ) -> None:
        self._queries, self._targets, self._pairs = queries, targets, pairs
        self._scheme, self._wanted, self._arena = scheme, wanted, arena
        self._count = len(pairs.query)
        self._q_lengths = queries.host.lengths[pairs.query]
        self._t_lengths = targets.host.lengths[pairs.target]
        self._sequences = (
            queries.words, queries.unknown, queries.word_offsets, queries.lengths,
            targets.words, targets.unknown, targets.word_offsets, targets.lengths,
            *(arena.upload(column) for column in pairs),
        )  # fmt: skip
        self._found = arena.array((cpu.FIELDS, self._count), np.int32)
        device_memset(self._found, 0xFF, self._found.nbytes, stream=arena.stream)
        device = cuda.get_current_device()
        self._modern = device.compute_capability >= (9, 0)
        self._processors = device.MULTIPROCESSOR_COUNT
        # Rows beyond the query score nothing that a path would go there for.
        matrix = np.vstack([scheme.matrix, np.full((1, 5), min(0, int(scheme.matrix.min())))])
        self._bytes_fit = int(matrix.min()) >= -128 and int(matrix.max()) <= 127
        scores = matrix if self._bytes_fit else np.zeros_like(matrix)
        self._table = arena.upload(matrix.astype(np.int32).ravel())
        self._profiles = (
            arena.upload(np.ascontiguousarray(scores[:, :4].astype(np.int8)).view(np.uint32).ravel()),
            arena.upload(scores[:, 4].astype(np.int8).view(np.uint8).astype(np.uint32)),
        )
        self._gaps = np.int32(scheme.gap_open), np.int32(scheme.gap_extend), np.int32(scheme.free)

    def align(self) -> Found:
        """Return scores, ends, and what else is wanted."""
        empty = (self._q_lengths == 0) | (self._t_lengths == 0)
        self._find_ends(~empty)
        cigar, offsets = np.empty(0, np.uint32), np.zeros(self._count + 1, np.int64)
        if self._wanted != cpu.ENDS:
            paths, path_offsets, runs = self._follow_paths()
            if self._wanted == cpu.PATHS:
                cigar, offsets = self._written(paths, path_offsets, runs)
        nothing = np.broadcast_to(np.int32(-1), self._count)
        known = (0, 2, 4) if self._wanted == cpu.ENDS else range(7)
        fields = [self._arena.download(self._found[k]) if k in known else nothing for k in range(cpu.FIELDS)]
        if empty.any():
            cigar, offsets = self._with_empty(np.flatnonzero(empty), fields, cigar, offsets)
        return Found(tuple(fields), cigar, offsets)

    def _launch(self, name: str, kernel: Any, items: int, *arguments: Any) -> None:
        """Launch a kernel for items that take a thread each, and time it if asked to."""
        needed = -(-items // pairwise_packed.THREADS)
        blocks = max(_FEWEST_BLOCKS, min(_BLOCKS * self._processors, needed))
        shape = blocks, pairwise_packed.THREADS, self._arena.stream
        if _times is None:
            with launching:
                kernel[shape](*arguments)
            return
        begin, end = cuda.event(), cuda.event()
        begin.record(shape[2])
        kernel[shape](*arguments)
        end.record(shape[2])
        end.synchronize()
        _times[name] = _times.get(name, 0.0) + begin.elapsed_time(end) / 1000

    def _find_ends(self, left: np.ndarray) -> None:
        """Find score and end of these pairs."""
        scheme, q_lengths, t_lengths = self._scheme, self._q_lengths, self._t_lengths
        if scheme.local:
            left = left.copy()
            known = _known(self._queries)[self._pairs.query] & _known(self._targets)[self._pairs.target]
            bits = pairwise_packed.fits_packed(scheme, np.minimum(q_lengths, t_lengths))
            longest = pairwise_packed.GROUPS[-1][0] * pairwise_packed.GROUPS[-1][1]
            packed = left & known & (t_lengths <= _PACKED_LONGEST) & (q_lengths <= longest) & (bits > 0)
            for some_bits in (4, 5):
                groups = [group for group in pairwise_packed.GROUPS if group[1] <= 1 << some_bits]
                chosen = np.flatnonzero(packed & (bits == some_bits))
                for group, order in pairwise_packed.by_group(groups, chosen, q_lengths, t_lengths):
                    if group is not None:
                        self._launch_packed(group, some_bits, order)
                        left[order] = False
        for group, order in pairwise_packed.by_group(
            pairwise_wide.GROUPS, np.flatnonzero(left), q_lengths, t_lengths
        ):
            self._in_launches(group or pairwise_wide.GROUPS[-1], order, None)

    def _launch_packed(self, group: tuple[int, int], bits: int, order: np.ndarray) -> None:
        scheme, scale, mark = self._scheme, 1 << bits, self._arena.mark()
        scores = np.ascontiguousarray((scheme.matrix[:, :4] * scale).astype(np.int8))
        first, following = scheme.gap_open + scheme.gap_extend, scheme.gap_extend
        self._launch(
            "packed", pairwise_packed.packed_kernel(*group, bits, self._modern),
            (len(order) + 1) // 2 * group[0], *self._sequences, self._arena.upload(order.astype(np.int32)),
            self._arena.upload(scores.view(np.uint32).ravel()),
            _twice(first * scale), _twice(following * scale), self._found,
        )  # fmt: skip
        self._arena.release(mark)

    def _in_launches(self, group: tuple[int, int], order: np.ndarray, paths: tuple | None) -> None:
        """Compute whole matrices, in as many launches as memory asks for, and follow paths if asked to."""
        stripes = -(-self._q_lengths[order] // (group[0] * group[1]))
        words = stripes * (self._t_lengths[order] + group[0] - 1) * group[0]
        words = words if paths else np.zeros_like(words)
        between = np.where(stripes > 1, self._t_lengths[order] + 1, 0)
        bounds = cut_evenly(8 * (words + between) + 20, self._arena.free)
        for begin, end in itertools.pairwise(bounds.tolist()):
            mark = self._arena.mark()
            needed, most = int(8 * (words[begin:end] + between[begin:end]).sum()), self._arena.free
            if end == begin + 1 and needed > most:
                n, m = self._q_lengths[order[begin]], self._t_lengths[order[begin]]
                raise DeviceError(
                    f"the directions of a pair of {n} and {m} bases take {needed / 1e9:.1f} GB of GPU "
                    f"memory, and {most / 1e9:.1f} GB are there. Ask for score and end only, or use the CPU"
                )
            self._launch_wide(group, order[begin:end], words[begin:end], between[begin:end], paths)
            self._arena.release(mark)

    def _launch_wide(
        self,
        group: tuple[int, int],
        order: np.ndarray,
        words: np.ndarray,
        between: np.ndarray,
        paths: tuple | None,
    ) -> None:
        arena = self._arena
        word_offsets = np.concatenate([[0], np.cumsum(words)])
        between_offsets = np.concatenate([[0], np.cumsum(between)])
        directions = arena.array(int(word_offsets[-1]), np.uint64)
        waiting = arena.array(2 * int(between_offsets[-1]), np.int32)
        chosen, at = arena.upload(order.astype(np.int32)), arena.upload(word_offsets)
        local = self._scheme.local
        self._launch(
            "wide", pairwise_wide.wide_kernel(*group, local, paths is not None, self._bytes_fit),
            len(order) * group[0], *self._sequences, chosen, self._table, *self._profiles, *self._gaps,
            waiting, arena.upload(between_offsets), directions, at, self._found,
        )  # fmt: skip
        if paths is not None:
            self._launch(
                "follow", pairwise_wide.trace_kernel(*group, local), len(order),
                *self._sequences, chosen, self._table, *self._gaps, directions, at, self._found, *paths,
            )  # fmt: skip

    def _follow_paths(self) -> tuple[Any, Any, Any]:
        """Find starts and counts; return operations, where those of each pair are, and counts of runs."""
        arena, keep = self._arena, self._wanted == cpu.PATHS
        numbers, path_words, runs = (arena.array(self._count, np.int32) for _ in range(3))
        highest = np.int32(max(0, int(self._scheme.matrix.max())))
        self._launch(
            "plan", pairwise_bands.plan_paths, self._count,
            self._found, highest, *self._gaps[:2], keep, numbers, path_words, runs,
        )  # fmt: skip
        path_offsets = exclusive_sums(path_words, arena)
        paths = arena.array(last_of(path_offsets, arena), np.uint32)
        counts = arena.zeros(sort_by_class.CLASSES, np.int32)
        self._launch("sort", sort_by_class.count_classes, self._count, numbers, counts)
        of_class = arena.download(counts)
        starts, order = sort_by_class.starts_of(of_class), arena.array(self._count, np.int32)
        self._launch("sort", sort_by_class.order_by_class, self._count, numbers, arena.upload(starts), order)
        goal = keep, paths, path_offsets, runs
        too_large = int(of_class[pairwise_bands.TOO_LARGE])
        if too_large:
            chosen = np.sort(arena.download(order[:too_large]))
            for group, some in pairwise_packed.by_group(
                pairwise_wide.GROUPS, chosen, self._q_lengths, self._t_lengths
            ):
                self._in_launches(group or pairwise_wide.GROUPS[-1], some, goal)
        self._follow_in_bands(order, of_class, highest, goal)
        return paths, path_offsets, runs

    def _follow_in_bands(self, order: Any, of_class: np.ndarray, highest: np.int32, goal: tuple) -> None:
        """Follow the paths of all pairs but those too large, in as many launches as memory asks for."""
        arena = self._arena
        kernel = pairwise_bands.banded_kernel(self._scheme.local, self._bytes_fit)
        blocks, columns = pairwise_bands.largest_of_classes()
        left = [int(k) for k in np.flatnonzero(of_class) if 0 < k < pairwise_bands.TOO_LARGE]
        begin = int(of_class[pairwise_bands.TOO_LARGE])
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
                raise DeviceError(
                    f"paths of short pairs take {32 * _band_bytes(*sizes) / 1e6:.1f} MB of GPU memory, and "
                    f"{free / 1e6:.1f} MB are there. Use a GPU with more memory, or the CPU"
                )
            words = arena.array(slots * sizes[0] * sizes[1], np.uint64)
            between = arena.array(slots * sizes[1], np.uint64)
            self._launch(
                "bands", kernel, slots, *self._sequences, order[begin:end], self._table, *self._profiles,
                *self._gaps, highest, *(np.int64(size) for size in sizes), np.int64(slots), between, words,
                self._found, *goal,
            )  # fmt: skip
            arena.release(mark)
            begin = end

    def _band_threads(self, pairs: int) -> int:
        """Return how many threads follow so many paths at once, if there is room."""
        return min(_BAND_THREADS * self._processors, -(-pairs // 32) * 32)

    def _written(self, paths: Any, path_offsets: Any, runs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return CIGARs and where each starts, written in as many launches as memory asks for."""
        arena = self._arena
        offsets_there = exclusive_sums(runs, arena)
        offsets = arena.download(offsets_there)
        cigar = np.empty(offsets[-1], np.uint32)
        bounds = cut_evenly(4 * np.diff(offsets), arena.free)
        for begin, end in itertools.pairwise(bounds.tolist()):
            mark = arena.mark()
            here = cigar[offsets[begin] : offsets[end]]
            there = arena.array(len(here), np.uint32)
            self._launch(
                "write", pairwise_path.write_runs, end - begin, paths, path_offsets, self._found[6],
                offsets_there, np.int64(begin), np.int64(end), there,
            )  # fmt: skip
            arena.download_to(here, there)
            arena.release(mark)
        return cigar, offsets

    def _with_empty(
        self, empty: np.ndarray, fields: list[np.ndarray], cigar: np.ndarray, offsets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Set the fields of pairs with an empty sequence; return CIGARs with theirs among them."""
        numbers = Pairs(*(column[empty] for column in self._pairs))
        hosts = self._queries.host, self._targets.host
        rows, their_cigar, their_offsets = cpu.align_pairs(*hosts, numbers, self._scheme, 32, self._wanted)
        for k, field in enumerate(fields):
            if field.flags.writeable:
                field[empty] = rows[:, k]
        runs, is_empty = np.diff(offsets), np.zeros(self._count, bool)
        runs[empty], is_empty[empty] = np.diff(their_offsets), True
        theirs = np.repeat(is_empty, runs)
        joined = np.empty(len(theirs), np.uint32)
        joined[theirs], joined[~theirs] = their_cigar, cigar
        return joined, np.concatenate([[0], runs.cumsum()])


def _band_bytes(blocks: int, columns: int) -> int:
    """Return the device memory of a thread that follows paths."""
    return 8 * columns * (blocks + 1)


def _twice(number: int) -> np.uint32:
    """Return a number in both halves of a register."""
    return np.uint32((number & 0xFFFF) * 0x10001)
