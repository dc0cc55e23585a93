"""X-drop extension of seeds on a CUDA device; the twin of ../xdrop.py.

Both compute the integers that docs/algorithms/xdrop.md defines. Here live cells, 16-bit scores, are in the
registers of a group of 2 to 32 lanes (`xdrop_grouped`). An extension that outgrows its group goes on in the
next wider one; what no group holds, for its rows or for its scores, is left to the CPU.

Scores, X and the lengths of its sequences decide with which group an extension starts. All is planned on the
device (`plan_kernels`): the host knows how many extensions a group has, not which.

Extensions come in twos: ``2 * seed`` lies before a seed along the query, ``2 * seed + 1`` after it.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from overlapper.kernels.common.cuda import path_classes
from overlapper.kernels.common.cuda.walks import DeviceReads, upload_seeds
from overlapper.kernels.common.walks import Seeds
from overlapper.kernels.xdrop import xdrop as cpu
from overlapper.kernels.xdrop.cuda import xdrop_groups
from overlapper.kernels.xdrop.cuda.xdrop_groups import FIRST, RANKS, SECOND
from overlapper.kernels.xdrop.xdrop import Scheme
from overlapper.kernels.xdrop.xdrop_banded import extend_banded
from overlapper.runtime.gpu import driver
from overlapper.runtime.gpu.launch import Kernel, launch, named
from overlapper.runtime.gpu.memory import Arena

GROUPS = ((2, 2), (4, 2), (4, 3), (8, 2), (8, 3), (16, 2), (32, 2), (32, 4), (32, 6), (32, 10))
"""Lanes of a group and words of 16 rows a lane, narrowest first."""
BLOCKS = 16
"""Blocks a multiprocessor; what does not run at once finds the work done."""
LEFT_TO_CPU = "the CPU"
"""Stands for a group where extensions are counted."""
_BYTES_EACH = 17 + 5 + 2 * (12 + 4 * 5)
"""Device memory of a seed, what it needs, and its two extensions."""
_LONGEST = 2**31 - 64
"""Anti-diagonals that the groups can number."""
_SORTED_BY_BLOCK, _SORTING_THREADS = 2048, 256
_LOWEST = 0x80
"""Every byte of a score so low that all reach it."""
_NOTHING = np.empty((0, 2, 3), np.int32)
_kernel = partial(named, "xdrop.plan_kernels")


class Extended(NamedTuple):
    """Extensions and how they were found."""

    extensions: np.ndarray
    """int32, shape (n, 2, 3); of each seed, before it and after it along the query: score, query bases,
    target bases."""
    tried: dict[str, int]
    """How many extensions each kernel was given."""


class Needs(NamedTuple):
    """What seeds need, in device memory."""

    least: Any
    """Device array of int32, shape (n,); score of a seed and its extensions together."""
    likely: Any
    """Device array of bool, shape (n,); where it is of no use to wait for the longer extension before the
    other one is begun."""


def extend_seeds(reads: DeviceReads, seeds: Seeds, scheme: Scheme, arena: Arena) -> Extended:
    """Extend every seed to both sides.

    Parameters
    ----------
    reads : DeviceReads
    seeds : Seeds
        In host memory, each within its reads.
    scheme : Scheme
        Within the limits of `XdropParams`; no score may exceed 32 bits.
    arena : Arena
        Of the device that the reads are on; what it holds is kept.

    Returns
    -------
    Extended
        The extensions do not depend on the device, nor on its memory.

    Raises
    ------
    DeviceError
        When the arena is too small even for one seed.
    """
    tried: dict[str, int] = {}
    # The rest of the arena is for states.
    size = max(1, arena.free // 4 // _BYTES_EACH)
    batches = [
        Seeds._make([*(column[begin : begin + size] for column in seeds[:-1]), seeds.length])
        for begin in range(0, len(seeds.query), size)
    ]
    mark, found = arena.mark(), []
    for batch in batches:
        extensions, _ = extend_on_device(reads, upload_seeds(batch, arena), scheme, arena, tried)
        found.append(arena.download(extensions).reshape(-1, 2, 3))
        arena.release(mark)
    return Extended(found[0] if len(found) == 1 else np.concatenate([_NOTHING, *found]), tried)


def extend_on_device(
    reads: DeviceReads,
    seeds: Seeds,
    scheme: Scheme,
    arena: Arena,
    tried: dict[str, int],
    needs: Needs | None = None,
) -> tuple[Any, int]:
    """Extend seeds that are on the device.

    Where it is given which score a seed needs together with its extensions, the longer one comes first, and
    what cannot reach that score any more is given up.

    Parameters
    ----------
    reads, scheme, arena
        As of `extend_seeds`.
    seeds : Seeds
        In device memory.
    tried : dict of str to int
        Is added to.
    needs : Needs, optional

    Returns
    -------
    extensions : device array of int32, shape (2 n, 3)
        Score, query and target bases of each extension, those that `extend_seeds` gives, of all seeds that
        reach the score they need; of the others some whose score is less, too.
    requeued : int
        How often an extension outgrew a kernel.

    Raises
    ------
    DeviceError
        When the arena is too small.
    """
    n = 2 * len(seeds.query)
    extensions, needed, order = (
        arena.array((n, 3), np.int32),
        arena.array(n, np.int32),
        arena.array(n, np.int32),
    )
    arena.fill(extensions, 0)
    rounds = (FIRST, SECOND) if needs else (FIRST,)
    if needs is None:
        needs = Needs(arena.array(len(seeds.query), np.int32), arena.array(len(seeds.query), np.bool_))
        arena.fill(needs.least, _LOWEST)
        arena.fill(needs.likely, 1)
    mark, requeued = arena.mark(), 0
    for number in rounds:
        bounds = _plan(reads, seeds, scheme, number, needs, extensions, needed, order, arena)
        requeued += _extend(reads, seeds, scheme, order, bounds, needed, extensions, arena, tried)
        arena.release(mark)
    return extensions, requeued


def _plan(
    reads: DeviceReads, seeds: Seeds, scheme: Scheme, number_of_round: int, needs: Needs, extensions: Any,
    needed: Any, order: Any, arena: Arena,
) -> list[int]:  # fmt: skip
    """Put extensions in ``order``, by the group that they start with; return where those of each start."""
    mark, count = arena.mark(), len(order)
    rooms = len(GROUPS) + 1
    usual_rows = scheme.xdrop * 9 // (10 * -scheme.gap)
    usable = np.array([xdrop_groups.usable_rows(*group) for group in GROUPS], np.int64)
    longest = _LONGEST if xdrop_groups.fits_groups(scheme) else 0
    numbers = arena.array(count, np.int32)
    longest_read = max(1, int(reads.host.lengths.max(initial=0)))
    launch(
        _kernel("plan_extensions"), count, arena, reads.lengths, seeds, scheme.match, number_of_round,
        usual_rows, arena.upload(usable), longest, longest_read, needs, extensions, needed, numbers,
    )  # fmt: skip
    counts = arena.zeros(path_classes.CLASSES, np.int32)
    shape = -(-count // _SORTED_BY_BLOCK), _SORTING_THREADS, arena.stream
    named("common.sort_by_class", "count_classes").launch(*shape, numbers, counts)
    of_class = arena.download(counts)
    starts = arena.upload(path_classes.starts_of(of_class))
    named("common.sort_by_class", "order_by_class").launch(*shape, numbers, starts, order)
    arena.release(mark)
    sizes = of_class[1 : 1 + rooms * RANKS].reshape(rooms, RANKS).sum(axis=1)[::-1]
    return [0, *np.cumsum(sizes).tolist()]


def _extend(
    reads: DeviceReads, seeds: Seeds, scheme: Scheme, order: Any, bounds: list[int], needed: Any,
    extensions: Any, arena: Arena, tried: dict[str, int],
) -> int:  # fmt: skip
    """Extend what is planned, and write it to ``extensions``; return how often one outgrew its kernel."""
    # What a group leaves is read by the next one, which leaves its own.
    lists = [arena.array(bounds[-1], np.int32) for _ in range(2)]
    before_states = arena.mark()
    room = [arena.array(max(arena.free // 4, 4), np.uint8) for _ in range(2)]
    old, outgrown, requeued = _States.cut(room[1], 1, 0), 0, 0
    scores = Scheme._make(map(np.int32, scheme))

    for number, (lanes, words) in enumerate(GROUPS):
        count = outgrown + bounds[number + 1] - bounds[number]
        if count:
            _count(tried, f"{16 * lanes * words} rows", count)
            mark, counters = arena.mark(), arena.zeros(2, np.int32)
            new = _States.cut(room[number % 2], lanes * words, count)
            grouped_kernel(lanes, words).launch(
                _blocks(), xdrop_groups.THREADS, arena.stream, reads.columns, seeds,
                lists[(number + 1) % 2], np.int32(outgrown), order[bounds[number] : bounds[number + 1]],
                scores, counters, extensions, needed, old, new, lists[number % 2],
            )  # fmt: skip
            outgrown, old = int(arena.download(counters)[1]), new
            requeued += outgrown
            arena.release(mark)
    arena.release(before_states)
    number = len(GROUPS)
    left = lists[(number + 1) % 2][:outgrown], order[bounds[number] : bounds[number + 1]]
    count = sum(map(len, left))
    if count:
        _count(tried, LEFT_TO_CPU, count)
        items = np.concatenate([arena.download(some) for some in left]).astype(np.int64)
        _extend_on_cpu(reads, seeds, scheme, items, extensions, arena)
    return requeued


def _extend_on_cpu(
    reads: DeviceReads, seeds: Seeds, scheme: Scheme, items: np.ndarray, extensions: Any, arena: Arena
) -> None:
    """Write what no group holds to ``extensions``."""
    columns: tuple[Any, ...] = seeds[:-1]
    here = Seeds._make([*map(arena.download, columns), seeds.length])
    found = arena.download(extensions)
    bits, lanes = cpu.BANDS[cpu.band_for(scheme)]
    extend_banded(lanes, cpu.band_cells(reads.host, here, bits), reads.host, here, scheme, items, found)
    arena.overwrite(extensions, found)


class _States(NamedTuple):
    """Memory for the states of extensions that outgrew their groups; see `xdrop_grouped`."""

    words: np.int32
    """int32; of all lanes of the groups that leave them."""
    room: np.int32
    """int32; how many there may be."""
    heads: Any
    """device array of int32, shape (m, HEAD)."""
    cells: Any
    """device array of uint32, shape (m, 16 words)."""

    @classmethod
    def cut(cls, block: Any, words: int, most: int) -> _States:
        """Return room in a block of bytes for at most so many states."""
        numbers = block[: block.size // 4 * 4].view(np.int32)
        head, cells, of_lanes = xdrop_groups.HEAD, 16 * words, np.int32(words)
        room = min(most, numbers.size // (head + cells))
        if not room:
            nothing = numbers[:1]
            return cls(of_lanes, np.int32(0), nothing.reshape(1, 1), nothing.view(np.uint32).reshape(1, 1))
        heads, rest = numbers[: room * head], numbers[room * head : room * (head + cells)]
        of_cells = rest.view(np.uint32).reshape(room, cells)
        return cls(of_lanes, np.int32(room), heads.reshape(room, head), of_cells)


def _count(tried: dict[str, int], kernel: str, extensions: int) -> None:
    tried[kernel] = tried.get(kernel, 0) + extensions


def grouped_kernel(lanes: int, words: int) -> Kernel:
    """Return the kernel of a group on the current device."""
    packed_maximum = driver.properties(driver.current()).capability >= (9, 0)
    return named("xdrop.xdrop_grouped", "grouped_kernel", lanes, words, packed_maximum)


def _blocks() -> int:
    return BLOCKS * driver.properties(driver.current()).multiprocessors
