"""Packed reads in memory or on disk, of which some are taken at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np

from overlapper.io.arrays import loaded_arrays
from overlapper.io.artifacts import Artifact, MappedArtifact
from overlapper.runtime.threads import even_ranges
from overlapper.tables import Reads
from overlapper.tables.ragged import gather_ragged, offsets_of

PART_BASES = 1 << 24
"""Bases that `ReadColumns.parts` gives at a time."""


@dataclasses.dataclass(frozen=True, eq=False)
class ReadColumns:
    """Reads whose bases and qualities are arrays of an artifact; all else is in memory."""

    artifact: Artifact
    prefix: str
    """What the names of its arrays begin with."""
    lengths: np.ndarray
    word_offsets: np.ndarray
    unknown_start: np.ndarray
    unknown_end: np.ndarray
    unknown_offsets: np.ndarray
    """`lengths`, `word_offsets`, `unknown_start`, `unknown_end`, `unknown_offsets`: as in `Reads`."""
    quality_offsets: np.ndarray | None
    """int64, shape (n + 1,); as in `Reads`."""

    @classmethod
    def within(cls, artifact: Artifact, prefix: str) -> Self:
        """Return reads that `overlapper.io.arrays` wrote."""
        names = [field.name for field in dataclasses.fields(cls)][2:]
        arrays = loaded_arrays(artifact, names, prefix)
        return cls(artifact, prefix, *(arrays.get(name) for name in names))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self.lengths)

    def __reduce__(self) -> tuple[Any, ...]:
        """Have copies for other processes opened there."""
        return ReadColumns.in_folder, (self.artifact.folder.absolute(), self.prefix)

    @classmethod
    def in_folder(cls, folder: Path, prefix: str) -> Self:
        """Open what `overlapper.io.arrays` wrote to a folder."""
        return cls.within(MappedArtifact.at(folder), prefix)

    @property
    def bytes_of_each(self) -> np.ndarray:
        """`bytes_of` all reads."""
        return self.bytes_of(np.arange(len(self)))

    def bytes_of(self, reads: np.ndarray) -> np.ndarray:
        """Return the bytes of bases and qualities that each of some reads takes in memory (int64)."""
        of_bases = 8 * (self.word_offsets[reads + 1] - self.word_offsets[reads])
        of = self.quality_offsets
        return of_bases if of is None else of_bases + of[reads + 1] - of[reads]

    def take(self, reads: np.ndarray) -> Reads:
        """Return some reads, without names; of an artifact in memory, successive ones are a view.

        Parameters
        ----------
        reads : ndarray of int
            Their numbers.
        """
        first_runs = self.unknown_offsets[reads]
        runs = self.unknown_offsets[reads + 1] - first_runs
        words, word_offsets = self._gathered("words", np.uint64, self.word_offsets, reads)
        qualities, quality_offsets = None, None
        if self.quality_offsets is not None:
            qualities, quality_offsets = self._gathered("qualities", np.uint8, self.quality_offsets, reads)
        unknown = (gather_ragged(ends, first_runs, runs) for ends in (self.unknown_start, self.unknown_end))
        return Reads.without_names(
            self.lengths[reads], words, word_offsets, *unknown, offsets_of(runs),
            qualities=qualities, quality_offsets=quality_offsets,
        )  # fmt: skip

    def _gathered(
        self, name: str, dtype: type, offsets: np.ndarray, reads: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        sizes = offsets[reads + 1] - offsets[reads]
        values = self.artifact.gathered(self.prefix + name, dtype, offsets[reads], sizes)
        return values, offsets_of(sizes)

    def whole(self) -> Reads:
        """Return all reads, without names; of an artifact in memory they are a view."""
        return self.take(np.arange(len(self)))

    def parts(self) -> Iterator[Reads]:
        """Yield all reads, some at a time."""
        for block in even_ranges(self.lengths, PART_BASES):
            yield self.take(np.arange(*block))
