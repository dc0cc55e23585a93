"""X-drop extension of seeds on a CUDA device; the twin of ../xdrop.py.

Both compute the integers that docs/algorithms/xdrop.md defines. Here, too, kernels differ in where they keep
live cells:

- `xdrop_grouped`: 16-bit scores in the registers of a group of 2 to 32 lanes. An extension that outgrows its
  group goes on in the next wider one.
- `xdrop_wide`: 32-bit scores of any number of rows, in memory.

Scores, X and the lengths of its sequences decide with which kernel an extension starts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from overlapper.kernels.common.cuda.walks import DeviceReads, upload_seeds
from overlapper.kernels.common.walks import Seeds
from overlapper.kernels.xdrop import walk_plan
from overlapper.kernels.xdrop.cuda import xdrop_groups
from overlapper.kernels.xdrop.xdrop import Scheme
from overlapper.runtime.gpu import driver
from overlapper.runtime.gpu.launch import Kernel, named
from overlapper.runtime.gpu.memory import Arena

GROUPS = ((2, 2), (4, 2), (4, 3), (8, 2), (8, 3), (16, 2), (32, 2), (32, 4), (32, 6), (32, 10))
"""Lanes of a group and words of 16 rows a lane, narrowest first."""
BLOCKS = 16
"""Blocks a multiprocessor; what does not run at once finds the work done."""
_BYTES_EACH = 17 + 2 * (8 + 4 + 12)
"""Device memory of a seed and of its two extensions."""
_LONGEST = 2**31 - 64
"""Anti-diagonals that the groups can number."""
_NOTHING = np.empty((0, 2, 3), np.int32)


class Extended(NamedTuple):
    """Extensions and how they were found.

    Attributes
    ----------
    extensions : ndarray of int32, shape (n, 2, 3)
        Of each seed, before it and after it along the query: score, query bases, target bases.
    tried : dict of str to int
        How many extensions each kernel was given.
    """

    extensions: np.ndarray
    tried: dict[str, int]


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
    # The rest of the arena is for states, and for what `extend_wide` works in.
    size = max(1, arena.free // 4 // _BYTES_EACH)
    batches = [
        Seeds._make([*(column[begin : begin + size] for column in seeds[:-1]), seeds.length])
        for begin in range(0, len(seeds.query), size)
    ]
    mark, found = arena.mark(), []
    for batch in batches:
        found.append(_extend_batch(reads, batch, scheme, arena, tried))
        arena.release(mark)
    return Extended(found[0] if len(found) == 1 else np.concatenate([_NOTHING, *found]), tried)


def first_groups(scheme: Scheme, q_steps: np.ndarray, t_steps: np.ndarray) -> np.ndarray:
    """Return which of `GROUPS` extensions start with: one that usually holds their live rows.

    Reads that differ in one base of seven were seen to have .82 X live rows for a gap of 1. No anti-diagonal
    has more cells than the shorter sequence has bases, and one.

    Parameters
    ----------
    scheme : Scheme
    q_steps, t_steps : ndarray of int64, shape (m,)
        Bases that lie before each extension.

    Returns
    -------
    ndarray of int64, shape (m,)
        ``len(GROUPS)`` for what no group can hold.
    """
    usual_rows = scheme.xdrop * 9 // (10 * -scheme.gap)
    usable = np.array([xdrop_groups.usable_rows(*group) for group in GROUPS])
    longest = _LONGEST if xdrop_groups.fits_groups(scheme) else 0
    return walk_plan.smallest_fitting(q_steps, t_steps, usual_rows, usable, longest)


def _extend_batch(
    reads: DeviceReads, seeds: Seeds, scheme: Scheme, arena: Arena, tried: dict[str, int]
) -> np.ndarray:
    q_steps, t_steps = walk_plan.walk_lengths(reads.host.lengths, *seeds)
    groups = first_groups(scheme, q_steps, t_steps)
    order, bounds = walk_plan.longest_first(q_steps, t_steps, groups, len(GROUPS) + 1)
    extensions = np.empty((len(order), 3), np.int32)
    state_of = np.full(len(order), -1, np.int32)
    on_device = upload_seeds(seeds, arena)
    before_states = arena.mark()
    # What a group leaves is read by the next one, which leaves its own.
    left = [arena.array(max(arena.free // 8, 4), np.uint8) for _ in range(2)]
    old = _States.cut(left[1], 1, 0)
    mark, outgrown = arena.mark(), order[:0]
    for number, (lanes, words) in enumerate(GROUPS):
        items = np.concatenate([outgrown, order[bounds[number] : bounds[number + 1]]])
        if len(items):
            _count(tried, f"{16 * lanes * words} rows", len(items))
            new = _States.cut(left[number % 2], lanes * words, len(items))
            found = _launch_grouped(
                lanes, words, arguments_of(reads, on_device, scheme, items, arena),
                arena.upload(state_of[items]), old, new, arena,
            )  # fmt: skip
            outgrown = walk_plan.collect(found, items, xdrop_groups.OUTGROWN, extensions, state_of)
            arena.release(mark)
            old = new
    arena.release(before_states)
    items = np.concatenate([outgrown, order[bounds[-2] :]])
    if len(items):
        _count(tried, "any rows", len(items))
        arguments = arguments_of(reads, on_device, scheme, items, arena)
        extensions[items] = _launch_wide(arguments, int(q_steps[items].max()), arena)
    return extensions.reshape(-1, 2, 3)


class _States(NamedTuple):
    """Room for the states of extensions that outgrew groups of so many words; see `xdrop_grouped`."""

    words: int
    room: int
    heads: Any
    cells: Any

    @classmethod
    def cut(cls, block: Any, words: int, most: int) -> _States:
        """Return room in a block of bytes for at most so many states."""
        numbers = block[: block.size // 4 * 4].view(np.int32)
        head, cells = xdrop_groups.HEAD, 16 * words
        room = min(most, numbers.size // (head + cells))
        if not room:
            nothing = numbers[:1]
            return cls(words, 0, nothing.reshape(1, 1), nothing.view(np.uint32).reshape(1, 1))
        heads, rest = numbers[: room * head], numbers[room * head : room * (head + cells)]
        return cls(words, room, heads.reshape(room, head), rest.view(np.uint32).reshape(room, cells))


def _count(tried: dict[str, int], kernel: str, extensions: int) -> None:
    tried[kernel] = tried.get(kernel, 0) + extensions


def arguments_of(reads: DeviceReads, seeds: Seeds, scheme: Scheme, items: np.ndarray, arena: Arena) -> tuple:
    """Return what all kernels take, counters and the array of extensions last; ``seeds`` on the device."""
    return (
        reads.words, reads.unknown, reads.word_offsets, reads.lengths,
        *seeds[:-1], np.int32(seeds.length), arena.upload(items), *(np.int32(number) for number in scheme),
        arena.zeros(2, np.int32), arena.array((len(items), 3), np.int32),
    )  # fmt: skip


def grouped_kernel(lanes: int, words: int) -> Kernel:
    """Return the kernel of a group on the current device."""
    packed_maximum = driver.properties(driver.current()).capability >= (9, 0)
    return named("xdrop.xdrop_grouped", "grouped_kernel", lanes, words, packed_maximum)


def _launch_grouped(
    lanes: int, words: int, arguments: tuple, state_of: Any, old: _States, new: _States, arena: Arena
) -> np.ndarray:
    grouped_kernel(lanes, words).launch(
        _blocks(), xdrop_groups.THREADS, arena.stream, *arguments, state_of,
        np.int32(old.words), old.heads, old.cells, np.int32(new.room), new.heads, new.cells,
    )  # fmt: skip
    return arena.download(arguments[-1])


def _launch_wide(arguments: tuple, longest: int, arena: Arena) -> np.ndarray:
    cells = wide_room(len(arguments[-1]), longest, arena)
    named("xdrop.xdrop_wide", "extend_wide").launch(
        _blocks(), xdrop_groups.WIDE_THREADS, arena.stream, *arguments, cells
    )
    return arena.download(arguments[-1])


def _blocks() -> int:
    return BLOCKS * driver.properties(driver.current()).multiprocessors


def wide_room(items: int, longest: int, arena: Arena) -> Any:
    """Return room for the anti-diagonals of as many blocks of `extend_wide` as there is memory for.

    ``longest`` is the length of the longest query.
    """
    most = min(items, 8 * driver.properties(driver.current()).multiprocessors)
    blocks = max(1, min(most, arena.free // (3 * 4 * (longest + 3))))
    return arena.array((blocks, 3, longest + 3), np.int32)
