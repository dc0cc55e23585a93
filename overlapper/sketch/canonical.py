"""Canonical order of reads: by length and by a hash of their bases."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.io.read_store import ReadStore
from overlapper.kernels.common.content_hash import content_hashes
from overlapper.kernels.common.read_parts import put_rows
from overlapper.kernels.common.walks import PackedReads
from overlapper.runtime.threads import even_ranges, for_each, map_in_order
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import content_order

_BLOCK_BASES = 1 << 24


def canonical_order(reads: Reads, threads: int = 1) -> np.ndarray:
    """Return the canonical order: by length, longest first, then by a hash of the bases.

    It does not depend on the order of the file, but for reads of the same bases, which keep that order.

    Returns
    -------
    ndarray of int64, shape (reads,)
    """
    return content_order(reads.lengths, content_hashes_of(reads, threads))


def content_hashes_of(reads: Reads, threads: int = 1) -> np.ndarray:
    """Return a hash of the bases of each read (uint64, shape (reads,))."""

    def hashes_of(block: tuple[int, int]) -> np.ndarray:
        return content_hashes(PackedReads.of(reads.rows(*block)))

    hashes = map_in_order(hashes_of, even_ranges(reads.lengths, _BLOCK_BASES), threads)
    return np.concatenate([np.empty(0, np.uint64), *hashes])


def in_order(reads: Reads, order: np.ndarray, threads: int) -> Reads:
    """Return ``reads.take(order)`` without tags, with bases and qualities copied by several threads.

    Reads that are in order already are returned themselves.

    Parameters
    ----------
    order : ndarray of int64
    """
    if np.array_equal(order, np.arange(len(reads))):
        return reads
    blocks = even_ranges(reads.lengths[order], _BLOCK_BASES)

    def rows(values: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a column in order, and where each starts."""
        new_offsets = offsets_of(np.diff(offsets)[order])
        out = np.empty(new_offsets[-1], values.dtype)

        def put(block: tuple[int, int]) -> None:
            start, stop = block
            put_rows(values, offsets, order[start:stop], out[new_offsets[start] :])

        for_each(put, blocks, threads)
        return out, new_offsets

    nothing, none = np.zeros(len(reads) + 1, np.int64), np.empty(0, np.uint64)
    rest = dataclasses.replace(
        reads, words=none, word_offsets=nothing, qualities=None, quality_offsets=None,
        tag_bytes=None, tag_offsets=None,
    ).take(order)  # fmt: skip
    words, word_offsets = rows(reads.words, reads.word_offsets)
    qualities, quality_offsets = reads.qualities, reads.quality_offsets
    if qualities is not None and quality_offsets is not None:
        qualities, quality_offsets = rows(qualities, quality_offsets)
    return dataclasses.replace(
        rest, words=words, word_offsets=word_offsets, qualities=qualities, quality_offsets=quality_offsets
    )


def packed(reads: Reads, threads: int) -> ReadStore:
    """Return reads as a store in memory, put in canonical order."""
    order = canonical_order(reads, threads)
    return ReadStore.of(in_order(reads, order, threads), order, reads)
