"""The order of reads that their content gives."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.cpu.content_hash import content_hashes
from overlapper.tables import Reads
from overlapper.tables.reads import content_order


def canonical_order(reads: Reads) -> np.ndarray:
    """Return the reads by length, longest first, then by hash of their bases: the same for any file order.

    Reads that hold the same bases stay in the order of the file.

    Returns
    -------
    ndarray of int64, shape (reads,)
    """
    hashes = content_hashes(
        reads.words, reads.word_offsets, reads.unknown_start, reads.unknown_end, reads.unknown_offsets
    )
    return content_order(reads.lengths, hashes)
