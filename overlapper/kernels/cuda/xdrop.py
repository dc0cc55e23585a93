"""X-drop extension of seeds on a CUDA device; the twin of kernels/cpu/xdrop.py.

Both compute the integers that docs/algorithms/xdrop.md defines. Here, too, kernels differ in where they keep
live cells:

- `xdrop_grouped`: 16-bit scores in the registers of a group of 2 to 32 lanes. An extension that outgrows its
  group goes to the next wider one.
- `xdrop_wide`: 32-bit scores of any number of rows, in memory.

Scores, X and the lengths of its sequences decide with which kernel an extension starts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from overlapper.kernels.cpu.walks import Seeds
from overlapper.kernels.cpu.xdrop import Scheme
from overlapper.kernels.cuda import xdrop_frame, xdrop_grouped, xdrop_wide
from overlapper.kernels.cuda.memory import available_bytes, in_batches, to_device, zeros_on_device
from overlapper.kernels.cuda.walks import DeviceReads, longest_first, upload_seeds, walk_lengths

GROUPS = ((2, 2), (4, 2), (4, 3), (8, 2), (8, 3), (16, 2), (32, 2), (32, 4), (32, 6), (32, 10))
"""Lanes of a group and words of 16 rows a lane, narrowest first."""
BLOCKS = 16
"""Blocks a multiprocessor; what does not run at once finds the work done."""
_BYTES_EACH = 17 + 2 * (8 + 12)
"""Device memory of a seed and of its two extensions."""
_LONGEST = 2**31 - 64
"""Anti-diagonals that the groups can number."""


class Extended(NamedTuple):
    """Extensions and how they were found.

    Attributes
    ----------
    extensions : ndarray of int32, shape (m, 3)
        Score, query bases and target bases of each item.
    tried : dict of str to int
        How many extensions each kernel was given.
    """

    extensions: np.ndarray
    tried: dict[str, int]


def extend_items(
    reads: DeviceReads, seeds: Seeds, scheme: Scheme, items: np.ndarray, budget: int = 0
) -> Extended:
    """Extend seeds to one side or both.

    Parameters
    ----------
    reads : DeviceReads
    seeds : Seeds
        In host memory, each within its reads.
    scheme : Scheme
        Within the limits of `XdropParams`; no score may exceed 32 bits.
    items : ndarray of int64, shape (m,)
        Extensions, no two the same: ``2 * seed`` runs before a seed, ``2 * seed + 1`` after it.
    budget : int
        Bytes of device memory to take at most; 0 for what is free.

    Returns
    -------
    Extended
        The extensions do not depend on the device, nor on its memory.

    Raises
    ------
    DeviceError
        When the device has not enough memory.
    """
    tried: dict[str, int] = {}

    def extend_batch(begin: int, end: int) -> np.ndarray:
        return _extend_batch(reads, seeds, scheme, items[begin:end], tried, budget)

    parts = list(in_batches(extend_batch, len(items), _BYTES_EACH, budget))
    return Extended(np.concatenate(parts) if parts else np.empty((0, 3), np.int32), tried)


def extend_seeds(reads: DeviceReads, seeds: Seeds, scheme: Scheme, budget: int = 0) -> Extended:
    """Extend every seed to both sides.

    Returns
    -------
    Extended
        Its extensions have shape (n, 2, 3): of each seed, before it and after it along the query.
    """
    extensions, tried = extend_items(reads, seeds, scheme, np.arange(2 * len(seeds.query)), budget)
    return Extended(extensions.reshape(-1, 2, 3), tried)


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
    usable = [xdrop_grouped.usable_rows(*group) for group in GROUPS]
    first = np.searchsorted(usable, np.minimum(usual_rows, np.minimum(q_steps, t_steps) + 1))
    fits = (q_steps + t_steps < _LONGEST) & xdrop_grouped.fits_groups(scheme)
    return np.where(fits, first, len(GROUPS))


def _extend_batch(
    reads: DeviceReads, seeds: Seeds, scheme: Scheme, items: np.ndarray, tried: dict[str, int], budget: int
) -> np.ndarray:
    if not len(items):
        return np.empty((0, 3), np.int32)
    first, last = int(items.min()) >> 1, int(items.max()) >> 1
    rows = slice(first, last + 1)
    seeds = Seeds(
        seeds.query[rows], seeds.target[rows], seeds.reverse[rows],
        seeds.query_pos[rows], seeds.target_pos[rows], seeds.length,
    )  # fmt: skip
    items = items - 2 * first
    q_steps, t_steps = walk_lengths(reads, seeds, items)
    order = longest_first(np.minimum(q_steps, t_steps))
    on_device = upload_seeds(seeds)
    extensions = np.empty((len(items), 3), np.int32)
    group_of = first_groups(scheme, q_steps, t_steps)
    for number, (lanes, words) in enumerate(GROUPS):
        chosen = order[group_of[order] == number]
        if len(chosen):
            _count(tried, f"{16 * lanes * words} rows", len(chosen))
            found = _launch_grouped(lanes, words, reads, on_device, scheme, items[chosen])
            extensions[chosen] = found
            group_of[chosen[found[:, 0] == xdrop_grouped.OUTGROWN]] = number + 1
    chosen = order[group_of[order] == len(GROUPS)]
    if len(chosen):
        _count(tried, "any rows", len(chosen))
        longest = int(q_steps[chosen].max())
        extensions[chosen] = _launch_wide(reads, on_device, scheme, items[chosen], longest, budget)
    return extensions


def _count(tried: dict[str, int], kernel: str, extensions: int) -> None:
    tried[kernel] = tried.get(kernel, 0) + extensions


def arguments_of(reads: DeviceReads, seeds: Seeds, scheme: Scheme, items: np.ndarray) -> tuple:
    """Return what the kernels take, the counter and the array of extensions last."""
    return (
        reads.words, reads.unknown, reads.word_offsets, reads.lengths,
        *seeds[:-1], np.int32(seeds.length), to_device(items), *(np.int32(number) for number in scheme),
        zeros_on_device(1, np.int32), cuda.device_array((len(items), 3), np.int32),
    )  # fmt: skip


def _launch_grouped(
    lanes: int, words: int, reads: DeviceReads, seeds: Seeds, scheme: Scheme, items: np.ndarray
) -> np.ndarray:
    device = cuda.get_current_device()
    kernel = xdrop_grouped.grouped_kernel(lanes, words, device.compute_capability >= (9, 0))
    arguments = arguments_of(reads, seeds, scheme, items)
    kernel[BLOCKS * device.MULTIPROCESSOR_COUNT, xdrop_frame.THREADS](*arguments)
    return arguments[-1].copy_to_host()


def _launch_wide(
    reads: DeviceReads, seeds: Seeds, scheme: Scheme, items: np.ndarray, longest: int, budget: int
) -> np.ndarray:
    arguments = arguments_of(reads, seeds, scheme, items)
    cells = wide_room(len(items), longest, budget)
    xdrop_wide.extend_wide[BLOCKS * cuda.get_current_device().MULTIPROCESSOR_COUNT, xdrop_wide.THREADS](
        *arguments, cells
    )
    return arguments[-1].copy_to_host()


def wide_room(items: int, longest: int, budget: int) -> Any:
    """Return room for the anti-diagonals of as many blocks of `extend_wide` as there is memory for.

    ``longest`` is the length of the longest query.
    """
    most = min(items, 8 * cuda.get_current_device().MULTIPROCESSOR_COUNT)
    blocks = max(1, min(most, available_bytes(budget) // (3 * 4 * (longest + 3))))
    return cuda.device_array((blocks, 3, longest + 3), np.int32)
