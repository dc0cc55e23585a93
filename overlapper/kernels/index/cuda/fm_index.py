"""The FM-index in device memory, and the segments of reads that are searched; the twin of ../fm_index.py.

A step of the index is the same code on the CPU and here: numba compiles the functions of ../fm_index.py for
the device, too. What differs is who calls them: a thread of a warp for each seed, end, row or pattern, so
that thousands of dependent accesses are under way at a time. An `FmIndex` on the device is one whose arrays
are there; kernels take its fields in their order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from overlapper.kernels.index.fm_index import FmIndex
from overlapper.runtime.gpu.memory import Arena

ALIGNMENT = 256
"""Bytes that the start of an array in an arena may waste, at most."""


class DeviceQueries(NamedTuple):
    """Segments of reads in device memory, in the order that kernels take them."""

    words: Any
    """Device array of uint64; packed reads."""
    packed_starts: Any
    lengths: Any
    """`packed_starts`, `lengths`: device array of int64, shape (n,); first base in ``words`` and bases of
    each segment."""


class Batch(NamedTuple):
    """Segments of reads that are searched together."""

    queries: DeviceQueries
    lengths: np.ndarray
    """int64, shape (n,); of the segments, in host memory."""
    reads: Any
    starts: Any
    """`reads`, `starts`: device array of int64, shape (n,); read that each segment lies on, and where."""


def index_bytes(fm: FmIndex) -> int:
    """Return how much device memory is enough for an index."""
    return sum(array.nbytes + ALIGNMENT for array in fm[:6])


def upload_index(fm: FmIndex, arena: Arena) -> FmIndex:
    """Return an index whose arrays are on the device.

    Raises
    ------
    DeviceError
        When it does not fit the arena.
    """
    arrays: dict[str, Any] = {name: arena.upload(getattr(fm, name)) for name in fm._fields[:6]}
    return fm._replace(**arrays)
