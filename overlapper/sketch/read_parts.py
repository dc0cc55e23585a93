"""Parts of reads cut out as reads of their own."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.kernels.common import read_parts
from overlapper.kernels.common.walks import PackedReads
from overlapper.tables import Reads
from overlapper.tables.ragged import gather_ragged, offsets_of


def cut_out(
    reads: Reads, read: np.ndarray, start: np.ndarray, end: np.ndarray, reverse: np.ndarray | None = None
) -> Reads:
    """Return parts of reads as nameless reads.

    Parameters
    ----------
    read : ndarray of int64, shape (n,)
    start, end : ndarray of int64, shape (n,)
        Half open, on the forward strand.
    reverse : ndarray of bool, shape (n,), optional
        Take the reverse complement.
    """
    if reverse is None:
        reverse = np.zeros(len(read), bool)
    columns = read_parts.cut_out(PackedReads.of(reads), read, start, end, reverse)
    return Reads.without_names(end - start, *columns)


def intervals_of(reads: Reads, start: np.ndarray, end: np.ndarray) -> Reads:
    """Return an interval of every read, half open, with its qualities and without its name."""
    made = cut_out(reads, np.arange(len(reads)), start, end)
    if reads.qualities is None or reads.quality_offsets is None:
        return made
    of_each = np.where(np.diff(reads.quality_offsets) == reads.lengths, end - start, 0)  # others have none
    qualities = gather_ragged(reads.qualities, reads.quality_offsets[:-1] + start, of_each)
    return dataclasses.replace(made, qualities=qualities, quality_offsets=offsets_of(of_each))
