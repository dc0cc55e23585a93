"""Reads on disk, packed, in the order that they are worked on."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Self

import numpy as np

from overlapper.io.artifacts import Artifact
from overlapper.tables import Reads
from overlapper.tables.base import gather_ragged, offsets_of
from overlapper.tables.reads import content_order, words_for
from overlapper.threads import cut_evenly

_CHUNK_BASES = 1 << 24
"""Bases that are put in order at a time."""
_NO_WORDS, _NO_BYTES = np.empty(0, np.uint64), np.empty(0, np.uint8)


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
    def write(artifact: Artifact, parts: Iterable[Reads]) -> Reads:
        """Write reads in the order of their content, holding one part of them at a time.

        Returns
        -------
        Reads
            Names and lengths in the order given, names left on disk.
        """
        from overlapper.kernels.cpu.content_hash import content_hashes

        for name in ("as-given", "words", "name_bytes"):
            artifact.save(name, np.empty(0, np.uint8))
        hashes, heads = [np.empty(0, np.uint64)], [Reads.empty()]
        for part in parts:
            artifact.append("as-given", part.words)
            artifact.append("name_bytes", part.name_bytes)
            hashes.append(
                content_hashes(
                    part.words, part.word_offsets,
                    part.unknown_start, part.unknown_end, part.unknown_offsets,
                )
            )  # fmt: skip
            heads.append(dataclasses.replace(part, words=_NO_WORDS, name_bytes=_NO_BYTES))
        given = Reads.concat(heads)
        order = content_order(given.lengths, np.concatenate(hashes))
        _write_ordered(artifact, given, order)
        artifact.remove("as-given")
        runs = np.diff(given.unknown_offsets)[order]
        for name in ("unknown_start", "unknown_end"):
            values = gather_ragged(getattr(given, name), given.unknown_offsets[order], runs)
            artifact.save(name, values)
        artifact.save("unknown_offsets", offsets_of(runs))
        artifact.save("order", order.astype(np.int64))
        artifact.save("lengths", given.lengths[order])
        artifact.save("word_offsets", offsets_of(words_for(given.lengths[order])))
        artifact.save("name_offsets", given.name_offsets)
        return ReadStore.open(artifact).names()

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
        """Return reads ``[start, stop)``, without names; their bases come from disk when they are read."""
        first, last = int(self.word_offsets[start]), int(self.word_offsets[stop])
        return self._reads(start, stop, self.artifact.mapped("words", np.uint64, first, last))

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


def _write_ordered(artifact: Artifact, given: Reads, order: np.ndarray) -> None:
    """Write the words, which lie as the reads were given, in the order wanted, a chunk at a time."""
    sizes = np.diff(given.word_offsets)[order]
    bounds = cut_evenly(given.lengths[order], _CHUNK_BASES)
    for start, stop in itertools.pairwise(bounds):
        firsts = given.word_offsets[order[start:stop]]
        artifact.append("words", artifact.gathered("as-given", np.uint64, firsts, sizes[start:stop]))
