"""The columns of reads that kernels take."""

from overlapper.kernels.cpu.walks import PackedReads
from overlapper.tables import Reads


def packed_reads(reads: Reads) -> PackedReads:
    """Return the columns of a read table that kernels read."""
    return PackedReads(*(getattr(reads, name) for name in PackedReads._fields))
