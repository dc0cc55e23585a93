"""Digests of the content of inputs: kept results belong to reads, whichever file these come from.

The same reads in the same order have one digest, whether they come from a file or from several, packed or
plain, or through a pipe.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from overlapper.tables import Reads

State = list[int]
"""What tells a file that nobody touched: device, number, size, and when content and entry last changed."""


@dataclasses.dataclass(frozen=True)
class Input:
    """One of the things that results depend on."""

    what: str
    """Such as ``reads``."""
    files: list[str]
    """Where it came from."""
    digest: str
    """Of what it holds."""
    states: list[State | None] = dataclasses.field(default_factory=list)
    """Of the files, from before they were read: `State`, or None for one that is not on disk."""
    read_filter: dict[str, float] = dataclasses.field(default_factory=dict)
    """Which reads of the files count, by names of `overlapper.io.read_filter.ReadFilter`; none for all."""
    left_out: dict[str, int] = dataclasses.field(default_factory=dict)
    """How many do not, by why."""


class ReadsDigest:
    """A digest of names and bases of reads, in their order, whatever parts they come in."""

    def __init__(self) -> None:
        self._columns: dict[str, Any] = {}

    def add(self, reads: Reads) -> None:
        """Add reads to the digest."""
        for name, values in self._columns_of(reads).items():
            self._columns.setdefault(name, hashlib.sha256()).update(_bytes_of(values))

    def _columns_of(self, reads: Reads) -> dict[str, np.ndarray]:
        return {
            "lengths": reads.lengths,
            "words": reads.words,
            "unknown": np.diff(reads.unknown_offsets),
            "unknown_start": reads.unknown_start,
            "unknown_end": reads.unknown_end,
            "names": np.diff(reads.name_offsets),
            "name_bytes": reads.name_bytes,
        }

    def of_each(self, parts: Iterable[Reads]) -> Iterator[Reads]:
        """Yield parts of reads, and add each to the digest."""
        for part in parts:
            self.add(part)
            yield part

    def hexdigest(self) -> str:
        """Return the digest of all reads so far."""
        columns = (f"{name} {column.hexdigest()}\n" for name, column in sorted(self._columns.items()))
        return hashlib.sha256("".join(columns).encode()).hexdigest()


class QualitiesDigest(ReadsDigest):
    """A digest of the qualities of reads, in their order, whatever parts they come in; one of none, too."""

    def _columns_of(self, reads: Reads) -> dict[str, np.ndarray]:
        if reads.qualities is None or reads.quality_offsets is None:
            return {}
        return {"sizes": np.diff(reads.quality_offsets), "qualities": reads.qualities}


DIGESTS = {"reads": ReadsDigest, "qualities": QualitiesDigest}
"""Digests of read sets, by what they are inputs as."""


def digest_of_reads(reads: Reads, kind: type[ReadsDigest] = ReadsDigest) -> str:
    """Return the digest of names and bases of reads, or that of another kind."""
    digest = kind()
    digest.add(reads)
    return digest.hexdigest()


def digest_of_arrays(*arrays: np.ndarray | None) -> str:
    """Return a digest of arrays, their types and shapes."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(b"none\n" if array is None else f"{array.dtype.str} {array.shape}\n".encode())
        if array is not None:
            digest.update(_bytes_of(array))
    return digest.hexdigest()


def digest_of_table(table: Any) -> str:
    """Return a digest of all fields of a dataclass of arrays."""
    return digest_of_arrays(*(getattr(table, field.name) for field in dataclasses.fields(table)))


def states_of(files: Iterable[str]) -> list[State | None]:
    """Return the states of files."""
    return [_state(file) for file in files]


def _state(file: str) -> State | None:
    try:
        about = os.stat(file)
    except (OSError, ValueError):
        return None
    if file == "-" or not stat.S_ISREG(about.st_mode):
        return None
    # The last one is the system's own: a program may set the time of the content, and leave the size.
    return [about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns]


def _bytes_of(values: np.ndarray) -> memoryview:
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
