"""Which places of a read set seed, on disk: what is decided from all reads, however they are cut into tiles.

It is a bit for each base. The index of a tile is made from its reads at the places that are marked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from overlapper.io.artifacts import Artifact, finished_artifact
from overlapper.io.memory_artifacts import MemoryArtifact
from overlapper.tables import Seeding
from overlapper.tables.ragged import offsets_of


class ChosenSeeds:
    """The places that seed, as `write_seeds` wrote them.

    Parameters
    ----------
    artifact : Artifact
        With ``bounds``, too.

    Attributes
    ----------
    artifact : Artifact
    facts : dict
        What else was decided from all reads.
    counts : dict of str to int
        What the funnel shows of seeding.
    bounds : ndarray of int64, shape (blocks + 1,)
        Reads at which blocks start.
    """

    def __init__(self, artifact: Artifact) -> None:
        self.artifact = artifact
        self.facts = artifact.facts
        self.counts: dict[str, int] = artifact.facts["counts"]
        self.bounds = artifact.load("bounds", np.int64)

    @classmethod
    def at(cls, path: Path) -> Self:
        """Open what was written to a folder."""
        return cls(finished_artifact(path))

    def __reduce__(self) -> tuple[Any, ...]:
        """Have copies for other processes opened there, unless they are in memory."""
        if isinstance(self.artifact, MemoryArtifact):
            return ChosenSeeds, (self.artifact,)
        return ChosenSeeds.at, (self.artifact.folder.absolute(),)

    def seeding(self, start: int, stop: int) -> Seeding:
        """Return the places in reads ``[start, stop)``."""
        word_offsets = self.artifact.load("word_offsets", np.int64, start, stop + 1)
        first, last = int(word_offsets[0]), int(word_offsets[-1])
        return Seeding(
            sketched=self.artifact.load("sketched", np.int32, start, stop),
            marks=self.artifact.load("marks", np.uint32, first, last),
            word_offsets=word_offsets - first,
        )

    def of_blocks(self, blocks: Sequence[int]) -> Seeding:
        """Return the places in the reads of blocks, one block after the other."""
        return Seeding.concat([self.seeding(*self.bounds[block : block + 2].tolist()) for block in blocks])

    def only(self, blocks: Sequence[int]) -> ChosenSeeds:
        """Return the places in the reads of blocks, which are the first ones then, in memory."""
        artifact, seeding = MemoryArtifact(), self.of_blocks(blocks)
        artifact.facts |= self.facts
        for name in ("sketched", "marks", "word_offsets"):
            artifact.save(name, getattr(seeding, name))
        artifact.save("bounds", offsets_of(np.diff(self.bounds)[list(blocks)]))
        return ChosenSeeds(artifact)


def write_seeds(
    artifact: Artifact,
    word_offsets: np.ndarray,
    sketched: np.ndarray,
    bases: Callable[[], Iterable[np.ndarray]],
    memory: int,
) -> None:
    """Write the places of a read set that seed.

    Parameters
    ----------
    word_offsets : ndarray of int64, shape (reads + 1,)
        Of the reads in the form in which they are sketched.
    sketched : ndarray of int32, shape (reads,)
        k-mers of each read that were considered.
    bases : callable
        Gives the word-aligned base numbers of the places (int64), in any order and several arrays; called
        for each part of the reads whose marks fit into memory.
    memory : int
        Bytes.
    """
    from overlapper.kernels.seeds.seed_marks import mark_bases
    from overlapper.tables.reads import BASES_PER_WORD

    artifact.save("marks", np.empty(0, np.uint32))
    words = int(word_offsets[-1])
    step = max(1, memory // 8)
    for first in range(0, words, step):
        marks = np.zeros(min(step, words - first), np.uint32)
        for some in bases():
            mark_bases(some, first * BASES_PER_WORD, marks)
        artifact.append("marks", marks)
    artifact.save("word_offsets", word_offsets)
    artifact.save("sketched", sketched)
