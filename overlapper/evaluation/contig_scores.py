"""The scores of contigs, and what follows from them (``docs/algorithms/evaluation.md``)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

K = 31
BEST_QV = 90.0


class Share(NamedTuple):
    """A count and the total it is a part of."""

    found: int
    all: int

    @property
    def share(self) -> float | None:
        """The count over the total; None for a total of 0."""
        return self.found / self.all if self.all else None


class Stretch(NamedTuple):
    """A part of a contig between breaks."""

    start: int
    end: int
    """`start`, `end`: on the contig, half open."""
    first: str
    last: str
    """`first`, `last`: where its first and its last marker are: sequence, position from 0, and strand."""


@dataclasses.dataclass(frozen=True)
class ContigScore:
    """One contig."""

    name: str
    length: int
    circular: bool
    closed: bool
    """`circular`, `closed`: whether it is a circle, and one that closes right."""
    kmers: int
    missing: int
    """`kmers`, `missing`: its k-mers, and those that no haplotype has."""
    markers: tuple[int, ...]
    """By haplotype."""
    switches: int
    stretches: tuple[Stretch, ...]
    """None where it has no place, or where there are several haplotypes."""

    @property
    def qv(self) -> float | None:
        """Phred quality of the contig; None without k-mers."""
        return quality(self.missing, self.kmers)


@dataclasses.dataclass(frozen=True)
class ContigScores:
    """How good contigs are; what is defined for one haplotype or for several alone is None elsewhere.

    Attributes
    ----------
    contigs : tuple of ContigScore
    reference_bases : int
        Of all haplotypes.
    completeness : tuple of Share
        By haplotype: its distinct k-mers, and those that contigs have.
    own : tuple of Share
        The same of its own k-mers.
    """

    contigs: tuple[ContigScore, ...] = dataclasses.field(repr=False)
    reference_bases: int
    completeness: tuple[Share, ...]
    own: tuple[Share, ...]

    @property
    def haploid(self) -> bool:
        """Whether the reference is one haplotype."""
        return len(self.completeness) == 1

    @property
    def bases(self) -> int:
        """Bases of all contigs."""
        return sum(contig.length for contig in self.contigs)

    @property
    def longest(self) -> int:
        """Bases of the longest contig."""
        return max(contig.length for contig in self.contigs)

    @property
    def n50(self) -> int:
        """Contigs of this length or longer hold half of the bases of all."""
        return _length_at([contig.length for contig in self.contigs], self.bases)

    @property
    def ng50(self) -> int:
        """Contigs of this length or longer hold half as many bases as the reference has; 0 if none does."""
        return _length_at([contig.length for contig in self.contigs], self.reference_bases)

    @property
    def nga50(self) -> int | None:
        """NG50 of the stretches between breaks."""
        lengths = [stretch.end - stretch.start for contig in self.contigs for stretch in contig.stretches]
        return _length_at(lengths, self.reference_bases) if self.haploid else None

    @property
    def circles(self) -> int:
        """Contigs that are circles."""
        return sum(contig.circular for contig in self.contigs)

    @property
    def closed(self) -> int:
        """Circular contigs whose end and start are neighbours in the reference."""
        return sum(contig.closed for contig in self.contigs)

    @property
    def kmers(self) -> int:
        """k-mers of all contigs."""
        return sum(contig.kmers for contig in self.contigs)

    @property
    def missing(self) -> int:
        """k-mers of contigs that no haplotype has."""
        return sum(contig.missing for contig in self.contigs)

    @property
    def qv(self) -> float:
        """Quality of all contigs, Phred."""
        return quality(self.missing, self.kmers) or 0.0

    @property
    def breaks(self) -> int | None:
        """Places where a contig joins what is not together in the reference."""
        return sum(max(0, len(c.stretches) - 1) for c in self.contigs) if self.haploid else None

    @property
    def unplaced(self) -> int | None:
        """Contigs without a place."""
        return sum(not contig.stretches for contig in self.contigs) if self.haploid else None

    @property
    def markers(self) -> int:
        """Markers of all contigs."""
        return sum(sum(contig.markers) for contig in self.contigs)

    @property
    def minority(self) -> int | None:
        """Markers that are not of their contig's haplotype."""
        return None if self.haploid else sum(sum(c.markers) - max(c.markers) for c in self.contigs)

    @property
    def phase_error(self) -> float | None:
        """Share of the minority among all markers."""
        return None if self.minority is None else self.minority / max(1, self.markers)

    @property
    def switches(self) -> int | None:
        """Places where contigs change from one haplotype to another."""
        return None if self.haploid else sum(contig.switches for contig in self.contigs)

    @property
    def switches_per_mb(self) -> float | None:
        """Switches per million bases of contigs."""
        return None if self.switches is None else self.switches / max(1, self.bases) * 1e6


def quality(missing: int, kmers: int, k: int = K) -> float | None:
    """Return the Phred quality of bases by Merqury's formula, at most `BEST_QV`; None without k-mers."""
    if not kmers:
        return None
    wrong = 1 - (1 - missing / kmers) ** (1 / k)
    return -10 * math.log10(max(wrong, 10 ** (-BEST_QV / 10)))


def _length_at(lengths: Sequence[int], bases: int) -> int:
    total = 0
    for length in sorted(lengths, reverse=True):
        total += length
        if 2 * total >= bases:
            return length
    return 0
