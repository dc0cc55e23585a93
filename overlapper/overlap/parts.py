"""Overlaps on disk: the strips of tiles, in sorted parts."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from overlapper.io.artifacts import Artifact
from overlapper.overlap.tile import BlockOverlaps
from overlapper.runtime.threads import even_ranges
from overlapper.tables import Overlaps
from overlapper.tables.overlaps import pair_order

_COLUMNS = Overlaps.fields_of("column")
ROW = np.dtype([*((f.name, f.metadata["dtype"]) for f in _COLUMNS), ("cigar_end", "i8")])
"""A row of a part; its CIGAR ends at ``cigar_end`` of those of the part."""
ROWS_AT_A_TIME = 1 << 18
WAITING_BYTES = 1 << 26
"""Bytes of overlaps that wait to be written."""


def write_part(artifact: Artifact, overlaps: Overlaps) -> None:
    """Add overlaps to an artifact, as a part of their own."""
    number = artifact.facts.get("parts", 0)
    overlaps = overlaps.take(pair_order([overlaps]))
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


def write_strip(artifact: Artifact, found: Iterable[BlockOverlaps], devices: list[str]) -> None:
    """Write the overlaps of a strip, in sorted parts, how many each step took, and what extended them."""
    waiting: list[Overlaps] = []
    taken: Counter[str] = Counter()
    for overlaps, counts in found:
        if len(overlaps):
            waiting.append(overlaps)
        taken.update(counts)
        if sum(part.nbytes for part in waiting) >= WAITING_BYTES:
            write_part(artifact, Overlaps.concat(waiting))
            waiting = []
    if waiting:
        write_part(artifact, Overlaps.concat(waiting))
    artifact.facts |= {"taken": taken, "devices": devices}


def parts_of(artifacts: list[Artifact]) -> list[Part]:
    """Return the parts of artifacts."""
    return [
        Part(artifact, number) for artifact in artifacts for number in range(artifact.facts.get("parts", 0))
    ]


def by_queries(parts: list[Part], n_reads: int) -> Iterator[Overlaps]:
    """Yield the overlaps of all parts, some queries at a time; those of a query in any order."""
    of_query = np.zeros(n_reads, np.int64)
    for part in parts:
        np.add.at(of_query, *np.unique(part.queries, return_counts=True))
    for start, stop in even_ranges(of_query, ROWS_AT_A_TIME):
        found = [part.read(start, stop) for part in parts]
        if any(map(len, found)):
            yield Overlaps.concat([overlaps for overlaps in found if len(overlaps)])


@dataclasses.dataclass
class Part:
    """One part of an artifact: overlaps sorted by query, then target."""

    artifact: Artifact
    number: int

    @property
    def queries(self) -> np.ndarray:
        """The query of each row, which stay on disk until they are used."""
        return self.artifact.mapped(f"queries-{self.number}", np.int32)

    def read(self, first_query: int = 0, last_query: int | None = None) -> Overlaps:
        """Return the overlaps of queries ``[first_query, last_query)``, all by default."""
        queries = self.queries
        start = int(np.searchsorted(queries, first_query)) if first_query else 0
        stop = len(queries) if last_query is None else int(np.searchsorted(queries, last_query))
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
