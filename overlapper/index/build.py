"""Construction of an FM-index: lay the text out, transform it, tabulate the k-mers."""

from __future__ import annotations

from functools import partial

import numpy as np

from overlapper.errors import EmptyInputError
from overlapper.index.bwt import aligned_empty, in_blocks, row_blocks, row_type, transform
from overlapper.index.segments import Segments
from overlapper.kernels.index import suffix_array as kernels
from overlapper.kernels.index.fm_index import FmIndex
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import BASES_PER_WORD, Reads

LONGEST_TABLE_KMER = 13


def build_fm_index(text: Reads, *, sample_shift: int, kmer_length: int | None, threads: int) -> FmIndex:
    """Index both strands of a text.

    Parameters
    ----------
    sample_shift : int
        Every ``2 ** sample_shift``-th row keeps its suffix array value.
    kmer_length : int or None
        k of the table of k-mer intervals; None takes `table_kmer_length`.

    Raises
    ------
    EmptyInputError
        When the text holds no known base.
    """
    known = Segments.of(text)
    if not len(known):
        raise EmptyInputError("the text to index holds no A, C, G or T", remedy="Check the input files")
    position = (np.cumsum(text.lengths) - text.lengths)[known.reads] + known.starts
    return index_windows(
        text.words, known.packed_starts, known.lengths, position,
        sample_shift=sample_shift, kmer_length=kmer_length, threads=threads,
    )  # fmt: skip


def index_windows(
    words: np.ndarray,
    sources: np.ndarray,
    lengths: np.ndarray,
    positions: np.ndarray,
    *,
    sample_shift: int,
    kmer_length: int | None,
    threads: int,
) -> FmIndex:
    """Index both strands of runs of known bases; the other parameters are those of `build_fm_index`.

    Parameters
    ----------
    words : ndarray of uint64
        Packed bases.
    sources, lengths : ndarray of int64, shape (m,)
        First base in ``words`` and bases of each run.
    positions : ndarray of int64, shape (m,)
        Of the first base in the text.
    """
    starts = offsets_of(lengths + 1)
    segments = np.stack([starts, np.append(positions - starts[:-1], 0)], axis=1)
    half = int(starts[-1])
    symbols = np.empty(2 * half, np.uint8)
    kernels.write_symbols(words, sources, segments, symbols)
    forward = np.empty(-(-half // BASES_PER_WORD), np.uint64)
    kernels.pack_symbols(symbols[:half], forward)
    bins, borders, samples = transform(symbols, sample_shift, threads)
    fm = FmIndex(
        bins=bins,
        borders=borders,
        samples=samples,
        table=np.array([[0, 2 * half]], row_type(2 * half)),
        text=forward,
        segments=segments,
        sample_shift=sample_shift,
        kmer_length=0,
    )
    return with_kmer_table(fm, table_kmer_length(fm.rows) if kmer_length is None else kmer_length, threads)


def table_kmer_length(rows: int) -> int:
    """Return the k with which a table has about as many k-mers as the index has rows, 13 at most."""
    return int(np.clip((rows.bit_length() - 1) // 2, 1, LONGEST_TABLE_KMER))


def with_kmer_table(fm: FmIndex, kmer_length: int, threads: int) -> FmIndex:
    """Return the index with a table of the rows of all k-mers."""
    table = np.array([[0, fm.rows]], row_type(fm.rows))
    for _ in range(kmer_length):
        shorter, table = table, aligned_empty((4 * len(table), 2), table.dtype)
        extend = partial(kernels.write_longer_kmers, fm, shorter, table)
        in_blocks(extend, row_blocks(len(shorter)), threads)
    return fm._replace(table=table, kmer_length=kmer_length)
