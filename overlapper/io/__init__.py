"""Reading reads; writing and reading overlaps."""

from overlapper.io.fastx import read_fastx
from overlapper.io.writers import open_overlaps, read_overlaps, write_overlaps

__all__ = ["open_overlaps", "read_fastx", "read_overlaps", "write_overlaps"]
