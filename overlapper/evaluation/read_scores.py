"""The scores of corrected reads, and what follows from them (``docs/algorithms/evaluation.md``)."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Self

import numpy as np


class Columns(NamedTuple):
    """An alignment, or several together.

    Attributes
    ----------
    bases : int
        Of the read, between the ends of the alignment.
    matches, mismatches, inserted, deleted : int
        Columns; inserted bases are the read's, deleted ones the reference's.
    own, other, neither : int
        Sites that it covers, by what the read has there.
    """

    bases: int
    matches: int
    mismatches: int
    inserted: int
    deleted: int
    own: int
    other: int
    neither: int

    @property
    def identity(self) -> float | None:
        """Matches over all columns; None without any."""
        columns = sum(self[1:5])
        return self.matches / columns if columns else None

    @property
    def sites(self) -> int:
        """Number of sites that the alignment covers."""
        return self.own + self.other + self.neither

    @property
    def own_kept(self) -> float | None:
        """Share of the sites at which the read has its own base; None without any."""
        return self.own / self.sites if self.sites else None


class Changes(NamedTuple):
    """What correction did to bases, and at sites."""

    mended: int
    left: int
    introduced: int
    """`mended`, `left`, `introduced`: bases of the reference: wrong before and right now, wrong before and
    now, right before and wrong now."""
    sites_mended: int
    sites_left: int
    sites_lost: int
    """`sites_mended`, `sites_left`, `sites_lost`: sites: own now and not before, own neither before nor now,
    own before and not now."""


@dataclasses.dataclass(frozen=True)
class PlacedRead:
    """A corrected read that has a place."""

    name: str
    length: int
    corrected: Columns
    """All 0 where it is not found at its place."""
    raw: Columns | None
    """The same of the raw read, where raw reads are given."""
    changes: Changes | None

    @classmethod
    def of(cls, name: str, length: int, counts: list[np.ndarray]) -> Self:
        """Return a read from the counts of kernels: of the corrected read, and of the raw one and changes."""
        corrected, *rest = (row.tolist() for row in counts)
        if not rest:
            return cls(name, length, Columns(*corrected), None, None)
        return cls(name, length, Columns(*corrected), Columns(*rest[0]), Changes(*rest[1]))

    @property
    def judged(self) -> bool:
        """Whether the read was found at its place."""
        return self.corrected.matches > 0


@dataclasses.dataclass(frozen=True)
class ReadScores:
    """How good corrected reads are.

    Attributes
    ----------
    reads : tuple of PlacedRead
        Those that have a place, in the order of the file.
    missing : int
        Reads that have a place, but that there is no corrected one of.
    unplaced : int
        Corrected reads that have no place, or several.
    sites : int
        Of the reference.
    """

    reads: tuple[PlacedRead, ...] = dataclasses.field(repr=False)
    missing: int
    unplaced: int
    sites: int

    @property
    def judged(self) -> int:
        """Reads that are judged."""
        return sum(read.judged for read in self.reads)

    @property
    def elsewhere(self) -> int:
        """Reads that are not found at their place."""
        return len(self.reads) - self.judged

    @property
    def bases(self) -> int:
        """Bases of all reads that are judged."""
        return sum(read.length for read in self.reads if read.judged)

    @property
    def corrected(self) -> Columns:
        """Columns of all corrected reads together."""
        return Columns(*_sums([read.corrected for read in self.reads], Columns))

    @property
    def raw(self) -> Columns | None:
        """Columns of all raw reads together; None where raw reads are not given."""
        given = [read.raw for read in self.reads if read.raw]
        return Columns(*_sums(given, Columns)) if given else None

    @property
    def changes(self) -> Changes | None:
        """What correction did; None where raw reads are not given."""
        given = [read.changes for read in self.reads if read.changes]
        return Changes(*_sums(given, Changes)) if given else None


def _sums(rows: list, kind: type) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)] or [0] * len(kind._fields)  # type: ignore[attr-defined]
