"""What of the reads a result holds, and warnings where that is little or reads are too few.

**Coverage** is how many reads cover a base, as their overlaps say: one more than the overlaps of the read
that has the median base, when reads are sorted by how many overlaps cover a base of theirs on average.

**Thin** is the share of the places of the genome that fewer than `LEAST` reads cover. A read of ``L`` bases
that ``c`` reads cover, itself among them, stands for ``L / c`` places; reads without overlaps, which may be
of anything, for none.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

ENOUGH, LEAST = 15, 8
"""Coverage from which on contigs have few gaps, and below which there are many: reads of depth ``c`` of which
two fifths lie beyond the overlaps (`overlapper.params.graph.LINKING`) are followed by no other one with a
chance of ``exp(-0.4 c)`` or less, one in 400 and one in 25."""
HALF = 0.5
"""Share of the bases of reads below which most is lost."""
THIN = 1 / 3
"""Share of thin places from which on a result in pieces has gaps because reads lie unevenly. Chosen, as
`HALF`; good contigs of real sets in two pieces or more have 0.22 or less, CLR of lambda in eleven 0.42."""
OF_OTHERS = (
    "The other reads come from other molecules, or differ too much: polish with the reads that the unitigs "
    "were made from"
)
"""What to do about reads that polish nothing."""


@dataclasses.dataclass(frozen=True)
class ReadShare:
    """The share of the reads that a result holds."""

    what: str
    """The result, as in "contigs hold"."""
    reads: int
    bases: int
    """`reads`, `bases`: that it holds."""
    of_reads: int
    of_bases: int
    """`of_reads`, `of_bases`: of so many."""
    coverage: float = math.nan
    thin: float = math.nan
    """`coverage`, `thin`: see above; NaN where they are not known."""

    @classmethod
    def of(
        cls, what: str, held: np.ndarray, lengths: np.ndarray, cover: np.ndarray | None = None
    ) -> ReadShare:
        """Return what a result holds.

        Parameters
        ----------
        held : ndarray of int
            Numbers of the reads that it holds, each any number of times.
        lengths : ndarray of int64, shape (reads,)
            Of all reads.
        cover : ndarray of float64, shape (reads,), optional
            Overlaps that cover a base of each read, on average.
        """
        held = np.unique(held)
        bases, of_bases = int(lengths[held].sum()), int(lengths.sum())
        known = () if cover is None or not of_bases else (_coverage(lengths, cover), _thin(lengths, cover))
        return cls(what, len(held), bases, len(lengths), of_bases, *known)

    @property
    def share(self) -> float:
        """Share of the bases."""
        return self.bases / self.of_bases if self.of_bases else 0.0

    def facts(self) -> dict[str, Any]:
        """Return the figures, for JSON."""
        return {
            "reads": self.reads,
            "of reads": self.of_reads,
            "bases": self.bases,
            "of bases": self.of_bases,
            "share of bases": round(self.share, 4),
            "coverage": None if math.isnan(self.coverage) else round(self.coverage, 1),
        }

    def sentence(self) -> str:
        """Return the figures as a sentence has them."""
        share = f"{100 * self.share:.1f} % of their bases"
        return f"{self.what} hold {self.reads:,} of {self.of_reads:,} reads, {share}"

    def warnings(self, way_out: str, pieces: int = 1) -> list[str]:
        """Return a warning of one line where reads are too few or most are lost, or none.

        Parameters
        ----------
        way_out : str
            What to do about reads that are lost though they are enough.
        pieces : int
            How many sequences the result has that are no circles.
        """
        if self.coverage < LEAST:
            return [
                f"warning: reads cover most places {self.coverage:.1f} times, which is too few: "
                f"{self.sentence()}. Give more reads: there are few gaps at {ENOUGH} times or more, and many "
                f"below {LEAST}"
            ]
        if self.share < HALF:
            return [f"warning: {self.sentence()}. {way_out}"]
        if pieces > 1 and self.thin >= THIN:
            return [
                f"warning: reads lie unevenly: fewer than {LEAST} of them cover {100 * self.thin:.0f} % of "
                f"the places that they come from. {self.what.capitalize()} have gaps there, unless other "
                "molecules were sequenced, too: give more reads, or longer ones"
            ]
        return []


def _coverage(lengths: np.ndarray, cover: np.ndarray) -> float:
    order = np.argsort(cover, kind="stable")
    middle = np.searchsorted(np.cumsum(lengths[order]), lengths.sum() / 2)
    return 1 + float(cover[order[middle]])


def _thin(lengths: np.ndarray, cover: np.ndarray) -> float:
    places = np.where(cover > 0, lengths / (1 + cover), 0)
    return float(places[1 + cover < LEAST].sum() / max(places.sum(), 1))


def shorter_than(lengths: np.ndarray, least: int) -> str:
    """Return what to do about reads that a layout lacks, by their lengths and the shortest overlap."""
    short = int(lengths[lengths < least].sum())
    if 2 * short >= lengths.sum():
        share = 100 * short / max(int(lengths.sum()), 1)
        return (
            f"{share:.0f} % of the bases are in reads shorter than --min-overlap {least}: give a smaller one"
        )
    return (
        "The other reads have too few overlaps, differ from the rest, or were removed when the graph was "
        "cleaned (see the counts of the layout): try a smaller --min-overlap, or other reads"
    )
