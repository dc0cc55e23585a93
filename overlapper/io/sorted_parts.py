"""Overlaps on disk in sorted parts, merged into canonical order some queries at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from overlapper.io.artifacts import Artifact
from overlapper.runtime.threads import even_ranges
from overlapper.tables import Overlaps
from overlapper.tables.overlaps import pair_order

_COLUMNS = Overlaps.fields_of("column")
ROW = np.dtype([*((f.name, f.metadata["dtype"]) for f in _COLUMNS), ("cigar_end", "i8")])
"""A row of a part; its CIGAR ends at ``cigar_end`` of those of the part."""
ROWS_AT_A_TIME = 1 << 18


def canonical(overlaps: Overlaps) -> Overlaps:
    """Return overlaps by query, then target; a pair has one, so that this is the canonical order."""
    return overlaps.take(pair_order([overlaps]))


def write_part(artifact: Artifact, overlaps: Overlaps) -> None:
    """Add overlaps to an artifact, as a part of their own."""
    number = artifact.facts.get("parts", 0)
    overlaps = canonical(overlaps)
    rows = np.zeros(len(overlaps), ROW)
    present = [f.name for f in _COLUMNS if getattr(overlaps, f.name) is not None]
    for name in present:
        rows[name] = getattr(overlaps, name)
    if overlaps.cigar is not None and overlaps.cigar_offsets is not None:
        rows["cigar_end"] = overlaps.cigar_offsets[1:]
        artifact.save(f"cigars-{number}", overlaps.cigar)
    artifact.save(f"rows-{number}", rows)
    artifact.save(f"queries-{number}", overlaps.query)
    artifact.facts |= {"parts": number + 1, "columns": present, "cigars": overlaps.cigar is not None}


def read_parts(artifacts: list[Artifact], n_reads: int) -> Iterator[Overlaps]:
    """Yield the overlaps of all parts in canonical order, some queries at a time.

    Parameters
    ----------
    artifacts : list of Artifact
        Hold the overlaps of different pairs.
    n_reads : int
    """
    parts = [
        _Part(artifact, number) for artifact in artifacts for number in range(artifact.facts.get("parts", 0))
    ]
    of_query = np.zeros(n_reads, np.int64)
    for part in parts:
        np.add.at(of_query, *np.unique(part.queries, return_counts=True))
    for start, stop in even_ranges(of_query, ROWS_AT_A_TIME):
        found = [part.read(start, stop) for part in parts]
        found = [overlaps for overlaps in found if len(overlaps)]
        if found:
            yield canonical(Overlaps.concat(found))


@dataclasses.dataclass
class _Part:
    """One part of an artifact."""

    artifact: Artifact
    number: int

    @property
    def queries(self) -> np.ndarray:
        return self.artifact.mapped(f"queries-{self.number}", np.int32)

    def read(self, first_query: int, last_query: int) -> Overlaps:
        """Return the overlaps of queries ``[first_query, last_query)``."""
        start, stop = np.searchsorted(self.queries, [first_query, last_query]).tolist()
        if start == stop:
            return Overlaps.empty()
        before = min(start, 1)
        rows = self.artifact.load(f"rows-{self.number}", ROW, start - before, stop)
        ends = np.concatenate([np.zeros(1 - before, np.int64), rows["cigar_end"]])
        rows = rows[before:]
        columns = {name: rows[name] for name in self.artifact.facts["columns"]}
        if self.artifact.facts["cigars"]:
            cigar = self.artifact.load(f"cigars-{self.number}", np.uint32, int(ends[0]), int(ends[-1]))
            columns |= {"cigar": cigar, "cigar_offsets": ends - ends[0]}
        return Overlaps(**columns)
