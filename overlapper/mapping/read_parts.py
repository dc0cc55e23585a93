"""Parts of reads cut out as reads of their own, for extenders."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common import read_parts
from overlapper.kernels.common.walks import PackedReads
from overlapper.tables import Reads


def cut_out(
    reads: Reads, read: np.ndarray, start: np.ndarray, end: np.ndarray, reverse: np.ndarray | None = None
) -> Reads:
    """Return parts of reads as nameless reads.

    Parameters
    ----------
    reads : Reads
    read : ndarray of int64, shape (n,)
    start, end : ndarray of int64, shape (n,)
        Half open, on the forward strand.
    reverse : ndarray of bool, shape (n,), optional
        Take the reverse complement.
    """
    if reverse is None:
        reverse = np.zeros(len(read), bool)
    words, word_offsets, unknown_start, unknown_end, unknown_offsets = read_parts.cut_out(
        PackedReads.of(reads), read, start, end, reverse
    )
    return Reads(
        lengths=end - start,
        words=words,
        word_offsets=word_offsets,
        unknown_start=unknown_start,
        unknown_end=unknown_end,
        unknown_offsets=unknown_offsets,
        name_bytes=np.empty(0, np.uint8),
        name_offsets=np.zeros(len(read) + 1, np.int64),
    )
