"""Overlaps of corrected reads within a copy: those that join reads of different copies are left out.

Where correction leaves so few errors that the reads of a copy are the same, these are the exact ones
(`overlapper.extend.exact`); of other reads those without a difference of copies (`overlapper.extend.copies`).
"""

from __future__ import annotations

from typing import Any

from overlapper.extend.copies import tell_copies
from overlapper.tables import Overlaps, Reads
from overlapper.tiled.stages import Stages

EXACT_BELOW = 0.04
"""Error rate of the given reads below which corrected reads of a copy are equal to the last base. Two
haplotypes of .5 Mb of the MHC, R10 reads of 2.6 %, 25x each: own 31-mers .9993 and .9999 from overlaps
without any difference, .901 and .9999 from all without one of copies, as a copy that few reads show passes
for an error."""
ACCURATE_BELOW = 0.01
"""Error rate of the given reads below which they count as HiFi reads, which one round corrects
(``docs/notes/correction.md``)."""
BOTH_ENDS = {"classes": {"best_of_pair": 2}}
"""Changes of parameters for two overlaps a pair. Reads that go once round a small plasmid overlap each other
at both ends: with one overlap a pair plasmids of noisy reads stayed linear, and of four HiFi reads of one of
3.8 kb four came out of correction with errors, with two overlaps one."""
EXACT = {
    "extender": "exact",
    "dsoft": {"most_windows": 16, "min_share": 5},
    "classes": {"best_of_pair": 0},
}
"""Changes of parameters for exact overlaps. Reads of tandem copies match in many ways, the longest of which
may well join different copies. LPA haplotype HG00733, its reads without errors: 12,082 exact overlaps with 4
windows of 25 % or more, 15,601 with these."""
LONGEST_RUN = 24
"""Bases that count of a run of equal ones, where reads of one haplotype are to match to the last base: votes
leave longer runs at two lengths, and exact overlaps would go along both. Chosen from 12 to 32, by the errors
of chromosomes 2, 3 and 5 of *P. falciparum* (R10), which are one contig each with any of them
(``docs/notes/layout.md``). Two haplotypes may differ in a run alone: where there are two all bases count."""


def separated(stages: Stages, reads: Reads, overlaps: Overlaps, room: int | None, threads: int) -> Overlaps:
    """Leave out the overlaps of different copies (`overlapper.extend.copies`).

    Parameters
    ----------
    stages : Stages
        Keep what is made.
    reads : Reads
        Corrected ones.
    overlaps : Overlaps
        All of them.
    room : int or None
        Bytes of memory that telling them apart may take.
    threads : int
        Changes nothing but the time.
    """

    def tell() -> tuple[Overlaps, dict[str, Any]]:
        within = overlaps.take(tell_copies(reads, overlaps, room=room, threads=threads).same)
        return within, {"all overlaps": len(overlaps), "overlaps": len(within)}

    return stages.run("copies", Overlaps, [], tell)[0]
