"""Pairwise alignment on a CUDA device; the twin of kernels/cpu/pairwise.py.

Both compute the integers that docs/algorithms/pairwise.md defines. Short local pairs of which only score and
end are wanted go two a register (`pairwise_packed`), all others one a register (`pairwise_wide`), which
leaves directions where paths are wanted, in as many launches as the device's memory asks for. Pairs with an
empty sequence need no matrix, and are left to the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from overlapper.errors import DeviceError
from overlapper.kernels.cpu import pairwise as cpu
from overlapper.kernels.cpu.pairwise_layout import Pairs, Scheme
from overlapper.kernels.cuda import pairwise_packed, pairwise_wide
from overlapper.kernels.cuda.memory import available_bytes
from overlapper.kernels.cuda.walks import DeviceReads

LONGEST = 2**20 - 2
"""Bases of a sequence, at most; the best cell of a pair is found by keys of 20 bits for each."""
_PACKED_LONGEST = 2**15 - 1
_BLOCKS = 16
"""Blocks a multiprocessor; what does not run at once finds the work done."""
_FEWEST_BLOCKS = 128
"""numba warns of smaller launches; blocks without work cost nothing."""
_LAUNCH_BYTES = 40 << 30
"""Directions of a launch, if memory allows: paths keep the device busy only when there are many."""


class Found(NamedTuple):
    """What `align_pairs` returns; as `kernels.cpu.pairwise.align_pairs` does."""

    rows: np.ndarray
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


def _launch(name: str, kernel: Any, blocks: int, *arguments: Any) -> None:
    """Launch a kernel, and time it if asked to."""
    if _times is None:
        kernel[blocks, pairwise_packed.THREADS](*arguments)
        return
    begin, end = cuda.event(), cuda.event()
    begin.record()
    kernel[blocks, pairwise_packed.THREADS](*arguments)
    end.record()
    end.synchronize()
    _times[name] = _times.get(name, 0.0) + begin.elapsed_time(end) / 1000


class Memory:
    """Device memory for directions and boundaries, allocated once and grown when asked."""

    def __init__(self) -> None:
        self._arrays: dict[str, Any] = {}

    def of(self, name: str, size: int, dtype: Any) -> Any:
        """Return an array of that size at least; what it held is lost."""
        held = self._arrays.get(name)
        if held is None or len(held) < size:
            self._arrays.pop(name, None)
            del held
            self._arrays[name] = cuda.device_array(max(size, 1), dtype)
        return self._arrays[name]

    @property
    def bytes(self) -> int:
        """Return how much is held."""
        return sum(array.nbytes for array in self._arrays.values())


def fits_device(q_lengths: np.ndarray, t_lengths: np.ndarray, scheme: Scheme) -> np.ndarray:
    """Tell which pairs the kernels can compute: 27 bits hold a score, and 20 bits a length."""
    highest = max(0, int(scheme.matrix.max())) * (np.minimum(q_lengths, t_lengths) + 1)
    longest = np.maximum(q_lengths, t_lengths)
    fits = cpu.fits_cells(32, 4 * q_lengths, 4 * t_lengths, scheme)
    return fits & (highest < 2**27) & (longest <= LONGEST)


def align_pairs(
    queries: DeviceReads,
    targets: DeviceReads,
    pairs: Pairs,
    scheme: Scheme,
    wanted: int,
    memory: Memory | None = None,
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
    memory : Memory, optional
        To be used again by later calls.

    Returns
    -------
    Found

    Raises
    ------
    DeviceError
        When the directions of a single pair do not fit the device.
    """
    memory = memory or Memory()
    job = _Job(queries, targets, pairs, scheme, wanted, memory)
    q_lengths = queries.host.lengths[pairs.query]
    t_lengths = targets.host.lengths[pairs.target]
    empty = (q_lengths == 0) | (t_lengths == 0)
    left = ~empty
    if wanted == cpu.ENDS and scheme.local:
        known = _known(queries)[pairs.query] & _known(targets)[pairs.target]
        bits = pairwise_packed.fits_packed(scheme, np.minimum(q_lengths, t_lengths))
        longest = pairwise_packed.GROUPS[-1][0] * pairwise_packed.GROUPS[-1][1]
        packed = left & known & (t_lengths <= _PACKED_LONGEST) & (q_lengths <= longest) & (bits > 0)
        for some_bits in np.unique(bits[packed]):
            rows = [group for group in pairwise_packed.GROUPS if group[1] <= 1 << some_bits]
            chosen = np.flatnonzero(packed & (bits == some_bits))
            for group, order in _by_group(rows, chosen, q_lengths, t_lengths):
                if group is not None:
                    job.launch_packed(group, int(some_bits), order)
                    left[order] = False
    for group, order in _by_group(pairwise_wide.GROUPS, np.flatnonzero(left), q_lengths, t_lengths):
        job.launch_wide(group or pairwise_wide.GROUPS[-1], order, q_lengths, t_lengths)
    return job.collect(np.flatnonzero(empty))


def _known(reads: DeviceReads) -> np.ndarray:
    """Tell which sequences hold no N."""
    return np.diff(reads.host.unknown_offsets) == 0


def _by_group(groups: Any, chosen: np.ndarray, q_lengths: np.ndarray, t_lengths: np.ndarray) -> Any:
    """Yield a group and the pairs of which it holds the query in the fewest cells, of like targets together.

    The group is None for queries that none holds.
    """
    if not len(chosen):
        return
    # Of equal areas the one with fewer lanes: it wastes fewer steps.
    by_area = sorted(groups, key=lambda group: (group[0] * group[1], group[0]))
    areas = np.array([lanes * rows for lanes, rows in by_area])
    number = np.searchsorted(areas, q_lengths[chosen])
    for group in np.unique(number):
        rows = chosen[number == group]
        lengths = t_lengths[rows]
        order = rows if lengths.min() == lengths.max() else rows[np.argsort(-lengths, kind="stable")]
        yield (by_area[group] if group < len(by_area) else None), order


class _Job:
    """A batch on the device: its arguments, and the results so far."""

    def __init__(
        self,
        queries: DeviceReads,
        targets: DeviceReads,
        pairs: Pairs,
        scheme: Scheme,
        wanted: int,
        memory: Memory,
    ) -> None:
        self._queries, self._targets, self._pairs = queries, targets, pairs
        self._scheme, self._wanted, self._memory = scheme, wanted, memory
        self._count = len(pairs.query)
        self._reads = (
            queries.words, queries.unknown, queries.word_offsets, queries.lengths,
            targets.words, targets.unknown, targets.word_offsets, targets.lengths,
        )  # fmt: skip
        self._columns = tuple(_to_device(column) for column in pairs)
        self._found = cuda.device_array((max(self._count, 1), 3), np.int32)
        self._paths: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        device = cuda.get_current_device()
        self._modern = device.compute_capability >= (9, 0)
        self._most_blocks = _BLOCKS * device.MULTIPROCESSOR_COUNT

    def _blocks(self, items: int, lanes: int) -> int:
        needed = -(-items * lanes // pairwise_packed.THREADS)
        return max(_FEWEST_BLOCKS, min(self._most_blocks, needed))

    def launch_packed(self, group: tuple[int, int], bits: int, order: np.ndarray) -> None:
        """Find score and end of local pairs."""
        scheme, scale = self._scheme, 1 << bits
        scores = (scheme.matrix[:, :4] * scale).astype(np.int8)
        first, following = scheme.gap_open + scheme.gap_extend, scheme.gap_extend
        kernel = pairwise_packed.packed_kernel(*group, bits, self._modern)
        _launch(
            "packed", kernel, self._blocks((len(order) + 1) // 2, group[0]),
            *self._reads, *self._columns, _to_device(order.astype(np.int32)),
            _to_device(np.ascontiguousarray(scores).view(np.uint32).ravel()),
            _twice(first * scale), _twice(following * scale), self._found,
        )  # fmt: skip

    def launch_wide(
        self, group: tuple[int, int], order: np.ndarray, q_lengths: np.ndarray, t_lengths: np.ndarray
    ) -> None:
        """Align pairs, in as many launches as memory asks for."""
        lanes, rows = group
        stripes = -(-q_lengths[order] // (lanes * rows))
        words = stripes * (t_lengths[order] + lanes - 1) * lanes
        bounds = np.where(stripes > 1, t_lengths[order] + 1, 0)
        if self._wanted == cpu.ENDS:
            words = np.zeros_like(words)
        budget = max(1, (available_bytes() + self._memory.bytes) // 2)
        share = min(budget, _LAUNCH_BYTES)
        needed = np.cumsum(8 * (words + bounds))
        begin = 0
        while begin < len(order):
            before = int(needed[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(needed, before + share, side="right")))
            if int(needed[end - 1]) - before > budget:
                n, m = q_lengths[order[begin]], t_lengths[order[begin]]
                raise DeviceError(
                    f"the directions of a pair of {n} and {m} bases take "
                    f"{(int(needed[end - 1]) - before) / 1e9:.1f} GB of GPU memory, more than there is. "
                    "Ask for score and end only, or use the CPU"
                )
            part = slice(begin, end)
            self._launch_wide(group, order[part], words[part], bounds[part])
            begin = end

    def _launch_wide(
        self, group: tuple[int, int], order: np.ndarray, words: np.ndarray, bounds: np.ndarray
    ) -> None:
        scheme, traced = self._scheme, self._wanted != cpu.ENDS
        # Rows beyond the query score nothing that a path would go there for.
        matrix = np.vstack([scheme.matrix, np.full((1, 5), min(0, int(scheme.matrix.min())))])
        bytes_fit = int(matrix.min()) >= -128 and int(matrix.max()) <= 127
        scores = matrix if bytes_fit else np.zeros_like(matrix)
        table = _to_device(matrix.astype(np.int32).ravel())
        known = np.ascontiguousarray(scores[:, :4].astype(np.int8)).view(np.uint32).ravel()
        with_n = scores[:, 4].astype(np.int8).view(np.uint8).astype(np.uint32)
        word_offsets = np.concatenate([[0], np.cumsum(words)])
        bound_offsets = np.concatenate([[0], np.cumsum(bounds)])
        directions = self._memory.of("directions", int(word_offsets[-1]), np.uint64)
        boundary = self._memory.of("boundary", 2 * int(bound_offsets[-1]), np.int32)
        on_device, at = _to_device(order.astype(np.int32)), _to_device(word_offsets)
        gaps = np.int32(scheme.gap_open), np.int32(scheme.gap_extend), np.int32(scheme.free)
        kernel = pairwise_wide.wide_kernel(*group, scheme.local, traced, bytes_fit)
        _launch(
            "wide", kernel, self._blocks(len(order), group[0]),
            *self._reads, *self._columns, on_device, table, _to_device(known), _to_device(with_n), *gaps,
            boundary, _to_device(bound_offsets), directions, at, self._found,
        )  # fmt: skip
        if traced:
            self._trace(group, order, (*self._reads, *self._columns, on_device, table, *gaps, directions, at))

    def _trace(self, group: tuple[int, int], order: np.ndarray, arguments: tuple) -> None:
        """Follow the paths of a launch: count their runs, then write them."""
        blocks = self._blocks(len(order), 1)
        summary = cuda.device_array((len(order), 5), np.int32)
        no_offsets, no_runs = _to_device(np.zeros(1, np.int64)), _to_device(np.zeros(1, np.uint32))
        count = pairwise_wide.trace_kernel(*group, self._scheme.local, False)
        _launch("count", count, blocks, *arguments, self._found, no_offsets, no_runs, summary)
        counted = summary.copy_to_host()
        runs = np.empty(0, np.uint32)
        if self._wanted == cpu.PATHS:
            offsets = np.concatenate([[0], np.cumsum(counted[:, 4], dtype=np.int64)])
            written = cuda.device_array(max(int(offsets[-1]), 1), np.uint32)
            write = pairwise_wide.trace_kernel(*group, self._scheme.local, True)
            _launch("write", write, blocks, *arguments, self._found, _to_device(offsets), written, summary)
            runs = written.copy_to_host()[: offsets[-1]]
        self._paths.append((order, counted, runs))

    def collect(self, empty: np.ndarray) -> Found:
        """Return all results in the order of the pairs; those of ``empty`` come from the CPU."""
        rows = np.full((self._count, cpu.FIELDS), -1, np.int64)
        counts = np.zeros(self._count, np.int64)
        found = self._found.copy_to_host()[: self._count]
        rows[:, [0, 2, 4]] = found
        paths = [(order, counted[:, 4], runs) for order, counted, runs in self._paths]
        for order, counted, _ in self._paths:
            rows[order[:, None], [1, 3, 5, 6]] = counted[:, :4]
        if len(empty):
            numbers = Pairs(*(column[empty] for column in self._pairs))
            host = self._queries.host, self._targets.host
            some, cigar, offsets = cpu.align_pairs(*host, numbers, self._scheme, 32, self._wanted)
            rows[empty] = some
            paths.append((empty, np.diff(offsets), cigar))
        for order, lengths, _ in paths:
            counts[order] = lengths if self._wanted == cpu.PATHS else 0
        offsets = np.concatenate([[0], np.cumsum(counts)])
        cigar = np.empty(offsets[-1], np.uint32)
        for order, lengths, runs in paths:
            if self._wanted == cpu.PATHS:
                inside = np.arange(len(runs)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
                cigar[np.repeat(offsets[order], lengths) + inside] = runs
        return Found(rows, cigar, offsets)


def _twice(number: int) -> np.uint32:
    """Return a number in both halves of a register."""
    return np.uint32((number & 0xFFFF) * 0x10001)


def _to_device(array: np.ndarray) -> Any:
    """Copy an array to the device; an empty one takes one item, as the device has no empty allocations."""
    return cuda.to_device(array if len(array) else np.zeros(1, array.dtype))
