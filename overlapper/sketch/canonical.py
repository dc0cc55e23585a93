"""Canonical order of reads: by length and by a hash of their bases."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.kernels.common.content_hash import content_hashes
from overlapper.kernels.common.read_subsets import put_rows
from overlapper.runtime.threads import cut_evenly, for_each, map_in_order
from overlapper.tables import Reads
from overlapper.tables.base import offsets_of
from overlapper.tables.reads import content_order, words_for

_BLOCK_BASES = 1 << 24


def canonical_order(reads: Reads, threads: int = 1) -> np.ndarray:
    """Return the canonical order: by length, longest first, then by a hash of the bases.

    It does not depend on the order of the file, but for reads of the same bases, which keep that order.

    Parameters
    ----------
    reads : Reads
    threads : int

    Returns
    -------
    ndarray of int64, shape (reads,)
    """
    bounds = cut_evenly(reads.lengths, _BLOCK_BASES)

    def hashes_of(block: int) -> np.ndarray:
        some = reads.rows(int(bounds[block]), int(bounds[block + 1]))
        return content_hashes(
            some.words, some.word_offsets, some.unknown_start, some.unknown_end, some.unknown_offsets
        )

    hashes = map_in_order(hashes_of, range(len(bounds) - 1), threads)
    return content_order(reads.lengths, np.concatenate([np.empty(0, np.uint64), *hashes]))


def in_order(reads: Reads, order: np.ndarray, threads: int) -> Reads:
    """Return ``reads.take(order)``, with the bases copied by several threads.

    Reads that are in order already are returned themselves.

    Parameters
    ----------
    reads : Reads
    order : ndarray of int64
    threads : int
    """
    if np.array_equal(order, np.arange(len(reads))):
        return reads
    lengths = reads.lengths[order]
    word_offsets = offsets_of(words_for(lengths))
    words = np.empty(word_offsets[-1], np.uint64)
    bounds = cut_evenly(lengths, _BLOCK_BASES)

    def put(block: int) -> None:
        some = slice(bounds[block], bounds[block + 1])
        put_rows(reads.words, reads.word_offsets, order[some], words[word_offsets[some.start] :])

    for_each(put, range(len(bounds) - 1), threads)
    nothing = {"words": np.empty(0, np.uint64), "word_offsets": np.zeros(len(reads) + 1, np.int64)}
    without_bases = dataclasses.replace(reads, **nothing)
    return dataclasses.replace(without_bases.take(order), words=words, word_offsets=word_offsets)
