"""CIGARs in BAM's packing, in which all tables and kernels have them: runs of ``length << 4 | operation``."""

from __future__ import annotations

from collections.abc import Iterable

OPERATIONS = "MIDNSHP=X"
"""Letters of operations, by BAM's codes."""
INSERTION, DELETION, EQUAL, UNEQUAL = 1, 2, 7, 8
"""BAM's codes: bases of the query alone, bases of the target alone, equal pairs, unequal pairs."""


def cigar_text(runs: Iterable[int]) -> str:
    """Return the runs of an alignment as text."""
    return "".join(f"{run >> 4}{OPERATIONS[run & 15]}" for run in runs)
