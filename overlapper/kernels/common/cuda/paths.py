"""Paths of alignments on a device: operations of two bits each, and what they are in a CIGAR."""

from __future__ import annotations

from numba import cuda, uint32

DELETION, INSERTION, UNEQUAL, EQUAL = 0, 1, 2, 3
"""A target base, a query base, an unequal pair, an equal pair."""
_BAM_OPERATIONS = 0x7812
"""BAM's number of each operation, four bits each."""


@cuda.jit(device=True, forceinline=True)
def packed_run(length, operation):
    """Return a run in BAM's packing."""
    bam = uint32(uint32(_BAM_OPERATIONS) >> uint32(operation * uint32(4))) & uint32(15)
    return uint32(uint32(uint32(length) << uint32(4)) | bam)
