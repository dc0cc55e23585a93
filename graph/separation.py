"""Overlaps of one copy each, of all overlaps of corrected reads."""

from __future__ import annotations

from typing import Any

from graph.stages import Stages
from overlapper.extend.copies import tell_copies
from overlapper.extend.differences import find_differences
from overlapper.tables import Overlaps, Reads

EXACT_BELOW = 0.01
"""Error rate of reads as given, below which correction leaves so few errors that reads of a copy are the same
to the last base. Yeast, simulated HiFi reads of .2 % errors, 30x: contigs of QV 67 from overlaps without any
difference, of 60 from all without one of copies, as a copy that few reads show passes for an error. Two
haplotypes of the MHC, R10 reads: 8.6 and 9.8 of 9.8 Mb."""


def separated(
    stages: Stages, reads: Reads, overlaps: Overlaps, error_rate: float, room: int | None, threads: int
) -> Overlaps:
    """Leave out overlaps between copies (`overlapper.extend.copies`).

    Parameters
    ----------
    stages : Stages
        Keep what is made.
    reads : Reads
        Corrected ones.
    overlaps : Overlaps
        All of them.
    error_rate : float
        Of the reads as given.
    room : int or None
        Bytes of memory that telling them apart may take.
    threads : int
        Changes nothing but the time.
    """

    def tell() -> tuple[Overlaps, dict[str, Any]]:
        if error_rate < EXACT_BELOW:
            same = find_differences(reads, overlaps, 0, threads=threads).edits == 0
        else:
            same = tell_copies(reads, overlaps, room=room, threads=threads).same
        within = overlaps.take(same)
        return within, {"all overlaps": len(overlaps), "overlaps": len(within)}

    return stages.run("copies", Overlaps, error_rate, tell)[0]
