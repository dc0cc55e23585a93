"""A few reads, to run methods on before they are timed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from overlapper.io.outputs import write_lines
from overlapper.tables import Reads


def write_first_reads(reads: Reads, bases: int, path: Path) -> str:
    """Write the first reads up to so many bases, two at least, as FASTA; return the path."""
    count = max(2, int(np.searchsorted(np.cumsum(reads.lengths), bases)))
    write_lines(path, (f">{reads.name(i)}\n{reads.sequence(i)}" for i in range(min(count, len(reads)))))
    return str(path)
