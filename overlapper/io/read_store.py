"""Packed reads, in the order that they are worked on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np

from overlapper.io.artifacts import Artifact, MappedArtifact
from overlapper.io.memory_artifacts import MemoryArtifact
from overlapper.io.read_columns import ReadColumns
from overlapper.runtime.threads import even_ranges
from overlapper.tables import Reads
from overlapper.tables.ragged import gather_ragged, offsets_of
from overlapper.tables.reads import content_order, words_for

_CHUNK_BYTES = 1 << 22
"""Bytes that are put in order at a time."""
_QUALITIES_AS_GIVEN, _WITH_QUALITIES, _TAGGED = "qualities-as-given", "with qualities", "tagged"
_NO_WORDS, _NO_BYTES = np.empty(0, np.uint64), np.empty(0, np.uint8)


@dataclasses.dataclass(frozen=True, eq=False)
class ReadStore(ReadColumns):
    """A read set in the order of its content; see `ReadColumns` for the other attributes."""

    order: np.ndarray
    """int64, shape (reads,); number in the input of each read."""

    @classmethod
    def of(cls, reads: Reads, order: np.ndarray | None = None, given: Reads | None = None) -> Self:
        """Return reads in memory, which are in the order of their content already, as a store of them.

        Parameters
        ----------
        order : ndarray of int64, shape (reads,), optional
            Number in the input of each read.
        given : Reads, optional
            The input, of which the names are kept; needed with ``order``.
        """
        artifact, given = MemoryArtifact(), reads if given is None else given
        for name in ("name_bytes", "name_offsets", "tag_bytes", "tag_offsets"):
            if (values := getattr(given, name)) is not None:
                artifact.save(name, values)
        artifact.facts[_TAGGED] = given.tag_offsets is not None
        for name in ("words", "qualities"):
            if (values := getattr(reads, name)) is not None:
                artifact.save(name, values)
        columns: dict[str, Any] = {
            field.name: getattr(reads, field.name) for field in dataclasses.fields(ReadColumns)[2:]
        }
        return cls(artifact, "", **columns, order=np.arange(len(reads)) if order is None else order)

    @staticmethod
    def write(artifact: Artifact, parts: Iterable[Reads]) -> Reads:
        """Write reads in the order of their content, holding one part of them at a time.

        Returns
        -------
        Reads
            Names and lengths in the order given, names left on disk.
        """
        from overlapper.kernels.common.content_hash import content_hashes
        from overlapper.kernels.common.walks import PackedReads

        for name in ("as-given", "words", "name_bytes"):
            artifact.save(name, np.empty(0, np.uint8))
        hashes, heads = [np.empty(0, np.uint64)], [Reads.empty()]
        qualities: list[np.ndarray] | None = None
        tags: list[np.ndarray] = []
        for part in parts:
            if part.qualities is not None and part.quality_offsets is not None:
                artifact.append(_QUALITIES_AS_GIVEN, part.qualities)
                qualities = [*(qualities or []), np.diff(part.quality_offsets)]
            if part.tag_bytes is not None and part.tag_offsets is not None:
                artifact.append("tag_bytes", part.tag_bytes)
                tags.append(np.diff(part.tag_offsets))
            artifact.append("as-given", part.words)
            artifact.append("name_bytes", part.name_bytes)
            hashes.append(content_hashes(PackedReads.of(part)))
            bare = dataclasses.replace(part, qualities=None, quality_offsets=None, words=_NO_WORDS)
            heads.append(dataclasses.replace(bare, name_bytes=_NO_BYTES, tag_bytes=None, tag_offsets=None))
        given = Reads.concat(heads)
        order = content_order(given.lengths, np.concatenate(hashes))
        sizes = np.diff(given.word_offsets)
        _write_ordered(artifact, "as-given", "words", np.uint64, sizes, order)
        if qualities is not None:
            sizes = np.concatenate(qualities)
            artifact.facts[_WITH_QUALITIES] = True
            _write_ordered(artifact, _QUALITIES_AS_GIVEN, "qualities", np.uint8, sizes, order)
            artifact.save("quality_offsets", offsets_of(sizes[order]))
        runs = np.diff(given.unknown_offsets)[order]
        for name in ("unknown_start", "unknown_end"):
            values = gather_ragged(getattr(given, name), given.unknown_offsets[order], runs)
            artifact.save(name, values)
        artifact.save("unknown_offsets", offsets_of(runs))
        artifact.save("order", order.astype(np.int64))
        artifact.save("lengths", given.lengths[order])
        artifact.save("word_offsets", offsets_of(words_for(given.lengths[order])))
        artifact.save("name_offsets", given.name_offsets)
        artifact.facts[_TAGGED] = bool(tags)
        if tags:
            artifact.save("tag_offsets", offsets_of(np.concatenate(tags)))
        return ReadStore.open(artifact).names()

    @classmethod
    def open(cls, artifact: Artifact) -> Self:
        """Open what `write` wrote."""
        types = {"unknown_start": np.int32, "unknown_end": np.int32}
        columns: dict[str, Any] = {"quality_offsets": None}
        for field in dataclasses.fields(cls)[2:]:
            if field.name not in columns or _WITH_QUALITIES in artifact.facts:
                columns[field.name] = artifact.load(field.name, types.get(field.name, np.int64))
        return cls(artifact, "", **columns)

    @classmethod
    def at(cls, path: Path) -> Self:
        """Open what was written to a folder."""
        return cls.open(MappedArtifact.at(path))

    def __reduce__(self) -> tuple[Any, ...]:
        """Have copies for other processes opened there, unless they are in memory."""
        if isinstance(self.artifact, MemoryArtifact):
            return type(self), tuple(getattr(self, field.name) for field in dataclasses.fields(self))
        return ReadStore.at, (self.artifact.folder.absolute(),)

    def mapped(self) -> Reads:
        """Return all reads, without names, their bases left on disk until they are read."""
        return self._reads(0, len(self), self.artifact.mapped("words", np.uint64))

    def block(self, start: int, stop: int) -> Reads:
        """Return reads ``[start, stop)``, without names; their bases come from disk when they are read."""
        first, last = int(self.word_offsets[start]), int(self.word_offsets[stop])
        return self._reads(start, stop, self.artifact.mapped("words", np.uint64, first, last))

    def _reads(self, start: int, stop: int, words: np.ndarray) -> Reads:
        runs = slice(self.unknown_offsets[start], self.unknown_offsets[stop])
        return Reads.without_names(
            self.lengths[start:stop], words, self.word_offsets[start : stop + 1] - self.word_offsets[start],
            self.unknown_start[runs], self.unknown_end[runs],
            self.unknown_offsets[start : stop + 1] - self.unknown_offsets[start],
        )  # fmt: skip

    def names(self) -> Reads:
        """Return names and lengths in the order of the input, without bases, names left on disk."""
        lengths = np.empty(len(self), np.int64)
        lengths[self.order] = self.lengths
        none, no_runs = np.zeros(len(self) + 1, np.int64), np.empty(0, np.int32)
        return Reads(
            lengths, _NO_WORDS, none, no_runs, no_runs, none,
            self.artifact.mapped("name_bytes", np.uint8), self.artifact.load("name_offsets", np.int64),
        )  # fmt: skip


class AsGiven:
    """The reads of a store by their numbers in the input, with names, qualities and tags.

    Parameters
    ----------
    store : ReadStore
    """

    def __init__(self, store: ReadStore) -> None:
        self._store, self.names = store, store.names()
        self._place = np.argsort(store.order)
        tagged = store.artifact.facts.get(_TAGGED)
        self._tag_offsets = store.artifact.load("tag_offsets", np.int64) if tagged else None

    def take(self, numbers: np.ndarray) -> Reads:
        """Return some of the reads."""
        named, tags = self.names.take(numbers), {}
        if (offsets := self._tag_offsets) is not None:
            sizes = offsets[numbers + 1] - offsets[numbers]
            values = self._store.artifact.gathered("tag_bytes", np.uint8, offsets[numbers], sizes)
            tags = {"tag_bytes": values, "tag_offsets": offsets_of(sizes)}
        reads = self._store.take(self._place[numbers])
        return dataclasses.replace(
            reads, name_bytes=named.name_bytes, name_offsets=named.name_offsets, **tags
        )


def _write_ordered(
    artifact: Artifact, given: str, name: str, dtype: type, sizes: np.ndarray, order: np.ndarray
) -> None:
    """Write a ragged column, which lies as the reads were given, in the order wanted, a chunk at a time."""
    firsts = offsets_of(sizes)[:-1]
    for start, stop in even_ranges(np.dtype(dtype).itemsize * sizes[order], _CHUNK_BYTES):
        of_chunk = order[start:stop]
        artifact.append(name, artifact.gathered(given, dtype, firsts[of_chunk], sizes[of_chunk]))
    artifact.remove(given)
