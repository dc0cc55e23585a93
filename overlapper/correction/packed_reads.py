"""Reads packed from the bases and qualities of a consensus."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.kernels.common.packed import pack_codes
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of, runs_of
from overlapper.tables.reads import UNKNOWN, words_for


def pack_reads(
    codes: np.ndarray, lengths: np.ndarray, qualities: np.ndarray | None, names: list[str]
) -> Reads:
    """Pack bases and qualities as reads.

    Parameters
    ----------
    codes : ndarray of uint8
        Of all reads, one after the other.
    lengths : ndarray of int64, shape (n,)
    qualities : ndarray of uint8 or None
        As the codes; None for reads without.
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
        quality_offsets=None if qualities is None else offsets,
    )


def with_names(reads: Reads, names: list[str]) -> Reads:
    """Return the reads with other names."""
    return dataclasses.replace(reads, **_names_of(names))


def _names_of(names: list[str]) -> dict[str, np.ndarray]:
    encoded = [name.encode() for name in names]
    return {
        "name_bytes": np.frombuffer(b"".join(encoded), np.uint8),
        "name_offsets": offsets_of(np.array([len(name) for name in encoded], np.int64)),
    }
