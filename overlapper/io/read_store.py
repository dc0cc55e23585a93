"""Reads on disk, packed, in the order that they are worked on."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Self

import numpy as np

from overlapper.io.artifacts import Artifact
from overlapper.tables import Reads
from overlapper.threads import cut_evenly

_CHUNK_BASES = 1 << 24


@dataclasses.dataclass(frozen=True)
class ReadStore:
    """A read set of which only lengths, places and unknown runs are in memory.

    Attributes
    ----------
    artifact : Artifact
    order : ndarray of int64, shape (reads,)
        Number in the input of each read.
    lengths : ndarray of int64, shape (reads,)
    word_offsets : ndarray of int64, shape (reads + 1,)
    unknown_start, unknown_end, unknown_offsets : ndarray
        As in `Reads`.
    """

    artifact: Artifact
    order: np.ndarray
    lengths: np.ndarray
    word_offsets: np.ndarray
    unknown_start: np.ndarray
    unknown_end: np.ndarray
    unknown_offsets: np.ndarray

    @staticmethod
    def write(artifact: Artifact, reads: Reads, order: np.ndarray) -> None:
        """Write reads in the order given."""
        nameless = dataclasses.replace(
            reads,
            name_bytes=np.empty(0, np.uint8),
            name_offsets=np.zeros(len(reads) + 1, np.int64),
            qualities=None,
            quality_offsets=None,
        )
        lengths = reads.lengths[order]
        bounds = cut_evenly(lengths, _CHUNK_BASES)
        unknown_counts = np.diff(reads.unknown_offsets)[order]
        for start, stop in itertools.pairwise(bounds):
            chunk = nameless.take(order[start:stop])
            artifact.append("words", chunk.words)
            artifact.append("unknown_start", chunk.unknown_start)
            artifact.append("unknown_end", chunk.unknown_end)
        if not len(order):
            for name in ("words", "unknown_start", "unknown_end"):
                artifact.save(name, np.empty(0, np.uint8))
        artifact.save("unknown_offsets", np.concatenate([[0], np.cumsum(unknown_counts, dtype=np.int64)]))
        artifact.save("order", order.astype(np.int64))
        artifact.save("lengths", lengths)
        artifact.save("word_offsets", np.concatenate([[0], np.cumsum((lengths + 31) // 32)]))
        artifact.save("name_bytes", reads.name_bytes)
        artifact.save("name_offsets", reads.name_offsets)

    @classmethod
    def open(cls, artifact: Artifact) -> Self:
        """Open what `write` wrote."""
        types = {"unknown_start": np.int32, "unknown_end": np.int32}
        names = [field.name for field in dataclasses.fields(cls)][1:]
        return cls(artifact, *(artifact.load(name, types.get(name, np.int64)) for name in names))

    def __len__(self) -> int:
        return len(self.lengths)

    def mapped(self) -> Reads:
        """Return all reads, without names, their bases left on disk until they are read."""
        return self._reads(0, len(self), self.artifact.mapped("words", np.uint64))

    def block(self, start: int, stop: int) -> Reads:
        """Return reads ``[start, stop)``, without names, in memory."""
        first, last = int(self.word_offsets[start]), int(self.word_offsets[stop])
        return self._reads(start, stop, self.artifact.load("words", np.uint64, first, last))

    def _reads(self, start: int, stop: int, words: np.ndarray) -> Reads:
        runs = slice(self.unknown_offsets[start], self.unknown_offsets[stop])
        return Reads(
            lengths=self.lengths[start:stop],
            words=words,
            word_offsets=self.word_offsets[start : stop + 1] - self.word_offsets[start],
            unknown_start=self.unknown_start[runs],
            unknown_end=self.unknown_end[runs],
            unknown_offsets=self.unknown_offsets[start : stop + 1] - self.unknown_offsets[start],
            name_bytes=np.empty(0, np.uint8),
            name_offsets=np.zeros(stop - start + 1, np.int64),
        )

    def names(self) -> Reads:
        """Return names and lengths in the order of the input, without bases, names left on disk."""
        lengths = np.empty(len(self), np.int64)
        lengths[self.order] = self.lengths
        return dataclasses.replace(
            Reads.empty(),
            lengths=lengths,
            word_offsets=np.zeros(len(self) + 1, np.int64),
            unknown_offsets=np.zeros(len(self) + 1, np.int64),
            name_bytes=self.artifact.mapped("name_bytes", np.uint8),
            name_offsets=self.artifact.load("name_offsets", np.int64),
        )
