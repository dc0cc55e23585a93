"""BWT, border rows and suffix array samples of a text.

All suffixes are sorted at once, by libdivsufsort: 5 bytes a symbol, and 7 at the peak; from 2^31 rows on,
whose numbers take 8 bytes, 9 and 11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise

import numpy as np

from overlapper.kernels.index.fm_index import BIN_ROWS
from overlapper.kernels.index.suffix_array import write_bins, write_bwt
from overlapper.runtime.threads import for_each

SUPERBLOCK_SHIFT = 25
"""Binary logarithm of the bins of a superblock; 25 is the most that 31-bit counts allow."""

NARROW_ROWS = 2**32
"""With fewer rows, samples and k-mer table are 32 bits wide."""

_ROWS_A_TASK = 1 << 22


def transform(
    symbols: np.ndarray, sample_shift: int, threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return bins, border rows and samples of a text, as in `FmIndex`.

    Parameters
    ----------
    symbols : ndarray of uint8, shape (N,)
        Both strands, as `overlapper.kernels.index.suffix_array.write_symbols` lays them out.
    """
    suffix_array, bwt = _sort(symbols, threads)
    samples = suffix_array[:: 1 << sample_shift].astype(row_type(len(symbols)))
    rows = _border_rows(bwt)
    borders = np.stack([rows, suffix_array[rows]], axis=1)
    del suffix_array
    return _pack(bwt), borders, samples


def row_type(rows: int) -> type[np.generic]:
    """Return the type of row numbers and positions, by the number of rows of an index."""
    return np.uint32 if rows < NARROW_ROWS else np.int64


def in_blocks(function: Callable[[int, int], None], bounds: Iterable[int], threads: int) -> None:
    """Call ``function(first, last)`` for all blocks between successive bounds."""
    for_each(lambda block: function(*block), pairwise(bounds), threads)


def row_blocks(rows: int) -> list[int]:
    """Return bounds of blocks of rows that are worth a task."""
    return [*range(0, rows, _ROWS_A_TASK), rows]


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an uninitialised array that starts on a cache line, so that no bin of 32 bytes crosses one."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer = np.empty(size + 64, np.uint8)
    start = -buffer.ctypes.data % 64
    return buffer[start : start + size].view(dtype).reshape(shape)


def _sort(symbols: np.ndarray, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return suffix array and BWT."""
    from pydivsufsort import divsufsort

    suffix_array = divsufsort(symbols)
    bwt = np.empty(len(symbols), np.uint8)
    in_blocks(partial(write_bwt, symbols, suffix_array, bwt), row_blocks(len(bwt)), threads)
    return suffix_array, bwt


def _border_rows(bwt: np.ndarray) -> np.ndarray:
    blocks = pairwise(row_blocks(len(bwt)))
    return np.concatenate([np.flatnonzero(bwt[first:last] == 0) + first for first, last in blocks])


def _pack(bwt: np.ndarray) -> np.ndarray:
    """Return the bins of a BWT."""
    bins = len(bwt) // BIN_ROWS + 1
    superblocks = -(-bins >> SUPERBLOCK_SHIFT)
    packed = aligned_empty((1 + superblocks + bins, 4), np.dtype(np.uint64))
    packed[0] = 0
    write_bins(bwt, SUPERBLOCK_SHIFT, packed)
    return packed
