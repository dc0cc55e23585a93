"""The FM-index in device memory; the twin of ../fm_index.py.

A step of the index is the same code on the CPU and here: numba compiles the functions of the CPU's file for
the device, too. What differs is who calls them: a thread of a warp for each seed, end, row or pattern, so
that thousands of dependent accesses are under way at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from overlapper.kernels.index.fm_index import FmIndex
from overlapper.runtime.gpu.memory import Arena

ALIGNMENT = 256
"""Bytes that the start of an array in an arena may waste, at most."""


class DeviceIndex(NamedTuple):
    """The arrays of an `FmIndex` in device memory, in the order that kernels take them."""

    bins: Any
    borders: Any
    samples: Any
    sample_shift: np.int64
    table: Any
    kmer_length: np.int64
    text: Any
    segments: Any


class DeviceQueries(NamedTuple):
    """Segments of reads in device memory, in the order that kernels take them.

    Attributes
    ----------
    words : device array of uint64
        Packed reads.
    packed_starts, lengths : device array of int64, shape (n,)
        First base in ``words`` and bases of each segment.
    """

    words: Any
    packed_starts: Any
    lengths: Any


class Batch(NamedTuple):
    """Segments of reads that are searched together.

    Attributes
    ----------
    queries : DeviceQueries
    lengths : ndarray of int64, shape (n,)
        Of the segments, in host memory.
    reads, starts : device array of int64, shape (n,)
        Read that each segment lies on, and where.
    """

    queries: DeviceQueries
    lengths: np.ndarray
    reads: Any
    starts: Any


def index_bytes(fm: FmIndex) -> int:
    """Return how much device memory is enough for an index."""
    arrays = (fm.bins, fm.borders, fm.samples, fm.table, fm.text, fm.segments)
    return sum(array.nbytes + ALIGNMENT for array in arrays)


def upload_index(fm: FmIndex, arena: Arena) -> DeviceIndex:
    """Copy an index to the device.

    Raises
    ------
    DeviceError
        When it does not fit the arena.
    """
    return DeviceIndex(
        arena.upload(fm.bins), arena.upload(fm.borders), arena.upload(fm.samples), np.int64(fm.sample_shift),
        arena.upload(fm.table), np.int64(fm.kmer_length), arena.upload(fm.text), arena.upload(fm.segments),
    )  # fmt: skip
