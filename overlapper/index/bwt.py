"""BWT, border rows and suffix array samples of a text, within a bounded memory.

Up to `SORTED_AT_ONCE` rows, all suffixes are sorted at once, by libdivsufsort: 5 bytes a symbol, and 7 at the
peak. A longer text is cut into parts between strings. The suffixes of a part are sorted by themselves and its
BWT is merged into that of the parts before it (`overlapper.kernels.index.bwt_merge`): 3 bytes a symbol of the
text, and 9 a symbol of the part, 13 from 2^32 rows on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise

import numpy as np

from overlapper.kernels.index.bwt_merge import merge_bwt, rank_suffixes, walk_strings
from overlapper.kernels.index.fm_index import BIN_ROWS
from overlapper.kernels.index.suffix_array import write_bins, write_bwt
from overlapper.runtime.threads import cut_evenly, for_each

SORTED_AT_ONCE = 2**31 - 1
PART_ROWS = 2**29
SUPERBLOCK_SHIFT = 25
"""Binary logarithm of the bins of a superblock; 25 is the most that 31-bit counts allow."""

NARROW_ROWS = 2**32
"""With fewer rows, samples and k-mer table are 32 bits wide."""

_ROWS_A_TASK = 1 << 22
_WALKS = 256


def transform(
    symbols: np.ndarray, sample_shift: int, threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return bins, border rows and samples of a text, as in `FmIndex`.

    Parameters
    ----------
    symbols : ndarray of uint8, shape (N,)
        Both strands, as `overlapper.kernels.index.suffix_array.write_symbols` lays them out.
    sample_shift : int
    threads : int
    """
    if len(symbols) > SORTED_AT_ONCE:
        return _transform_in_parts(symbols, sample_shift, threads)
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


def _transform_in_parts(
    symbols: np.ndarray, sample_shift: int, threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ends = np.flatnonzero(symbols == 0) + 1
    bwt, dollars = np.empty(0, np.uint8), [np.empty(0, np.int64)]
    first_string, start = 0, 0
    for last_string in cut_evenly(np.diff(ends, prepend=0), PART_ROWS)[1:]:
        part = symbols[start : ends[last_string - 1]]
        suffix_array, part_bwt = _sort(part, threads)
        dollars.append(suffix_array[: last_string - first_string].astype(np.int64) + start)
        if first_string:
            ranks = _rank(bwt, first_string, part, ends[first_string:last_string] - start, threads)
            merged = np.empty(len(bwt) + len(part), np.uint8)
            merge_bwt(bwt, part_bwt, suffix_array, ranks, merged)
            bwt = merged
        else:
            bwt = part_bwt
        first_string, start = int(last_string), int(ends[last_string - 1])
    bins, borders = _pack(bwt), _borders_without_positions(bwt)
    samples = np.empty(-(-len(bwt) >> sample_shift), row_type(len(bwt)))
    walk = partial(walk_strings, bins, borders, samples, sample_shift, np.concatenate(dollars))
    in_blocks(walk, [*range(0, len(ends), len(ends) // _WALKS + 1), len(ends)], threads)
    return bins, borders, samples


def _rank(bwt: np.ndarray, strings: int, part: np.ndarray, ends: np.ndarray, threads: int) -> np.ndarray:
    """Return the ranks of the suffixes of a part, whose strings have the given ends."""
    ranks = np.empty(len(part), row_type(len(bwt)))
    rank = partial(rank_suffixes, _pack(bwt), _borders_without_positions(bwt), part, strings, ranks)
    cuts = cut_evenly(np.diff(ends, prepend=0), _ROWS_A_TASK)[1:] - 1
    in_blocks(rank, [0, *ends[cuts]], threads)
    return ranks


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


def _borders_without_positions(bwt: np.ndarray) -> np.ndarray:
    rows = _border_rows(bwt)
    return np.stack([rows, np.full_like(rows, -1)], axis=1)


def _pack(bwt: np.ndarray) -> np.ndarray:
    """Return the bins of a BWT."""
    bins = len(bwt) // BIN_ROWS + 1
    superblocks = -(-bins >> SUPERBLOCK_SHIFT)
    packed = aligned_empty((1 + superblocks + bins, 4), np.dtype(np.uint64))
    packed[0] = 0
    write_bins(bwt, SUPERBLOCK_SHIFT, packed)
    return packed
