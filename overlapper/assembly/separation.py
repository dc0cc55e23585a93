"""Overlaps of corrected reads within a copy: those that join reads of different copies are left out.

Where correction leaves so few errors that the reads of a copy are the same, these are the exact ones
(`overlapper.extend.exact`); of other reads those without a difference of copies (`overlapper.extend.copies`).
"""

from __future__ import annotations

from typing import Any

from overlapper.correction.leaders import LED_BELOW
from overlapper.extend.copies import tell_copies
from overlapper.overlap.presets import COPIES_TOLD_LATER
from overlapper.tables import Overlaps, Reads
from overlapper.tiled.stages import Stages

EXACT_BELOW = LED_BELOW
"""Error rate of the given reads below which corrected reads of a copy are equal to the last base, so that
only overlaps without any difference count: a copy that few reads show passes for an error otherwise. Fitted
on the MHC (R10), judged on LPA, yeast and Klebsiella (``docs/notes/assembly.md``)."""
ACCURATE_BELOW = 0.01
"""Error rate of the given reads below which they count as HiFi reads: contigs of few of them are left out
less readily, and what the layout lost of them is looked for at any depth (`overlapper.assembly.layouts`)."""
BOTH_ENDS = {"classes": {"best_of_pair": 2, **COPIES_TOLD_LATER}}
"""Changes of parameters for two overlaps a pair: reads that go once round a small plasmid overlap each other
at both ends. Chosen on plasmids of Klebsiella, HiFi and noisy reads (``docs/notes/assembly.md``,
``docs/notes/layout.md``)."""
FEW_SEEDS = {"window_errors": 45}
"""Changes of the sketch where seeds need not tell copies apart: they are a third as many. Fitted on two
pieces of the MHC (R10), judged on LPA, all of the MHC, Klebsiella, *P. falciparum* and human X
(``docs/notes/assembly.md``)."""
TOLD_BY_VOTES = {**BOTH_ENDS, "sketch": FEW_SEEDS}
"""As `BOTH_ENDS`, for reads whose copies votes tell apart."""
WALKED = {**BOTH_ENDS, "chain": {"max_reach": 50}}
"""As `BOTH_ENDS`, for sets of which reads are set aside: walks tell where overlaps end that would be carried
on over up to 300 bases. Of reads as many as these, those with bases from nowhere at an end are the longest at
every place; where reads are few, an overlap that ends too early costs a join (lambda CLR)."""
EXACT: dict[str, Any] = {
    "extender": "exact",
    "sketch": FEW_SEEDS,
    "dsoft": {"most_windows": 16, "min_share": 5},
    "classes": {"best_of_pair": 0, **COPIES_TOLD_LATER},
}
"""Changes of parameters for exact overlaps. Reads of tandem copies match in many ways, the longest of which
may well join different copies. Fitted on an LPA haplotype (``docs/notes/assembly.md``)."""
COUNTED_RUN = 24
"""Most bases of a homopolymer run that count in exact overlaps: votes leave longer runs at two lengths, and
exact overlaps would go along both. Fitted on *P. falciparum* (R10), judged on other chromosomes of it, LPA
and human X, and on windows of real HiFi reads of two haplotypes (``docs/notes/layout.md``)."""


def drop_overlaps_between_copies(
    stages: Stages, reads: Reads, overlaps: Overlaps, room: int | None, threads: int
) -> Overlaps:
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
