"""Construction of an FM-index: lay the text out, sort its suffixes, derive the arrays."""

from __future__ import annotations

from functools import partial

import numpy as np

from overlapper.errors import EmptyInputError
from overlapper.index.segments import Segments
from overlapper.kernels.cpu import suffix_array as kernels
from overlapper.kernels.cpu.fm_index import BIN_ROWS, FmIndex
from overlapper.tables.reads import BASES_PER_WORD, Reads
from overlapper.threads import map_in_order

SUPERBLOCK_SHIFT = 25
"""Binary logarithm of the bins a superblock; 25 is the most that 31-bit counts allow."""

NARROW_ROWS = 2**32
"""Up to so many rows, samples and k-mer table are 32 bits wide."""

LONGEST_TABLE_KMER = 13
_ROWS_A_TASK = 1 << 22


def build_fm_index(text: Reads, *, sample_shift: int, kmer_length: int | None, threads: int) -> FmIndex:
    """Index both strands of a text.

    Parameters
    ----------
    text : Reads
    sample_shift : int
        Every ``2 ** sample_shift``-th row keeps its suffix array value.
    kmer_length : int or None
        k of the table of k-mer intervals; None takes `table_kmer_length`.
    threads : int

    Raises
    ------
    EmptyInputError
        When the text holds no known base.
    """
    pieces = Segments.of(text)
    if not len(pieces):
        raise EmptyInputError("the text to index holds no A, C, G or T", remedy="Check the input files")
    starts = np.concatenate([[0], np.cumsum(pieces.lengths + 1)])
    shifts = (np.cumsum(text.lengths) - text.lengths)[pieces.reads] + pieces.starts - starts[:-1]
    segments = np.stack([starts, np.append(shifts, 0)], axis=1)
    half = int(starts[-1])
    symbols = np.empty(2 * half, np.uint8)
    kernels.write_symbols(text.words, pieces.sources, segments, symbols)
    words = np.empty(-(-half // BASES_PER_WORD), np.uint64)
    kernels.pack_symbols(symbols[:half], words)
    bwt, samples, borders = _sort_suffixes(symbols, sample_shift, threads)
    fm = FmIndex(
        bins=_pack_bwt(bwt),
        borders=borders,
        samples=samples,
        table=np.array([[0, 2 * half]], row_type(2 * half)),
        text=words,
        segments=segments,
        sample_shift=sample_shift,
        kmer_length=0,
    )
    return with_kmer_table(fm, table_kmer_length(fm.rows) if kmer_length is None else kmer_length, threads)


def row_type(rows: int) -> type[np.generic]:
    """Return the type that holds a row number or a position of an index with so many rows."""
    return np.uint32 if rows < NARROW_ROWS else np.int64


def table_kmer_length(rows: int) -> int:
    """Return the k with which a table has about as many k-mers as the index has rows, 13 at most."""
    return int(np.clip((rows.bit_length() - 1) // 2, 1, LONGEST_TABLE_KMER))


def with_kmer_table(fm: FmIndex, kmer_length: int, threads: int) -> FmIndex:
    """Return the index with a table of the rows of all k-mers."""
    table = np.array([[0, fm.rows]], row_type(fm.rows))
    for _ in range(kmer_length):
        shorter, table = table, aligned_empty((4 * len(table), 2), table.dtype)
        _in_blocks(
            partial(kernels.write_longer_kmers, fm.bins, fm.borders, shorter, table), len(shorter), threads
        )
    return fm._replace(table=table, kmer_length=kmer_length)


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an uninitialised array that starts on a cache line, so that no bin of 32 bytes spans two."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer = np.empty(size + 64, np.uint8)
    start = -buffer.ctypes.data % 64
    return buffer[start : start + size].view(dtype).reshape(shape)


def _sort_suffixes(
    symbols: np.ndarray, sample_shift: int, threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the BWT, the suffix array samples and the borders."""
    from pydivsufsort import divsufsort

    suffix_array = divsufsort(symbols)
    bwt = np.empty(len(symbols), np.uint8)
    _in_blocks(partial(kernels.write_bwt, symbols, suffix_array, bwt), len(bwt), threads)
    samples = suffix_array[:: 1 << sample_shift].astype(row_type(len(symbols)))
    border_rows = np.flatnonzero(bwt == 0)
    return bwt, samples, np.stack([border_rows, suffix_array[border_rows]], axis=1)


def _pack_bwt(bwt: np.ndarray) -> np.ndarray:
    bins = len(bwt) // BIN_ROWS + 1
    superblocks = -(-bins >> SUPERBLOCK_SHIFT)
    packed = aligned_empty((1 + superblocks + bins, 4), np.dtype(np.uint64))
    packed[0] = 0
    kernels.write_bins(bwt, SUPERBLOCK_SHIFT, packed)
    return packed


def _in_blocks(function: partial, rows: int, threads: int) -> None:
    """Call ``function(first, last)`` for all blocks of rows."""
    firsts = range(0, rows, _ROWS_A_TASK)
    for _ in map_in_order(lambda first: function(first, min(first + _ROWS_A_TASK, rows)), firsts, threads):
        pass
