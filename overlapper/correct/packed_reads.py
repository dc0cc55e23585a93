"""Reads packed from the bases and qualities of a consensus."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.kernels.common.packed import pack_codes
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import UNKNOWN, words_for


def packed(codes: np.ndarray, lengths: np.ndarray, qualities: np.ndarray, names: list[str]) -> Reads:
    """Pack bases and qualities as reads.

    Parameters
    ----------
    codes, qualities : ndarray of uint8
        Of all reads, one after the other.
    lengths : ndarray of int64, shape (n,)
    names : list of str
    """
    offsets, word_offsets = offsets_of(lengths), offsets_of(words_for(lengths))
    start, end, runs = runs_of(codes == UNKNOWN, offsets)
    return Reads(
        lengths=lengths,
        words=pack_codes(codes, offsets, word_offsets),
        word_offsets=word_offsets,
        unknown_start=start,
        unknown_end=end,
        unknown_offsets=offsets_of(runs),
        **_names_of(names),
        qualities=qualities,
        quality_offsets=offsets,
    )


def renamed(reads: Reads, names: list[str]) -> Reads:
    """Return the reads with other names."""
    return dataclasses.replace(reads, **_names_of(names))


def _names_of(names: list[str]) -> dict[str, np.ndarray]:
    encoded = [name.encode() for name in names]
    return {
        "name_bytes": np.frombuffer(b"".join(encoded), np.uint8),
        "name_offsets": offsets_of(np.array([len(name) for name in encoded], np.int64)),
    }


def runs_of(marked: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the runs of marked bases of successive reads.

    Parameters
    ----------
    marked : ndarray of bool
        The bases of all reads.
    offsets : ndarray of int64, shape (n + 1,)
        Where each read starts.

    Returns
    -------
    start, end : ndarray of int32
        Interval of each run on its read, half open.
    runs : ndarray of int64, shape (n,)
        Number of runs of each read.
    """
    if not marked.any():
        return np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(len(offsets) - 1, np.int64)
    borders = np.zeros(len(marked) + 1, bool)
    borders[offsets] = True
    starts, ends = marked.copy(), marked.copy()
    starts[1:] &= ~marked[:-1] | borders[1:-1]
    ends[:-1] &= ~marked[1:] | borders[1:-1]
    at = np.flatnonzero(starts)
    read = np.searchsorted(offsets, at, "right") - 1
    first = offsets[read]
    runs = np.bincount(read, minlength=len(offsets) - 1)
    return (at - first).astype(np.int32), (np.flatnonzero(ends) + 1 - first).astype(np.int32), runs
