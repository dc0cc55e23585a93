"""The seeds of a read set on disk, by block of reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from overlapper.io.artifacts import Artifact
from overlapper.sketch.page_chains import EntryLayout
from overlapper.tables import Seeding
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import words_for


class SeedStore:
    """The seeds on disk that `overlapper.sketch.seed_writer.SeedWriter` wrote.

    Attributes
    ----------
    kmer_length : int
    limit : int
        Multiplicity that no seed exceeds.
    layout : EntryLayout
    counts : dict of str to int
        What the funnel shows.
    bounds : ndarray of int64, shape (blocks + 1,)
        Reads at which blocks start.
    """

    def __init__(self, artifact: Artifact) -> None:
        facts: dict[str, Any] = artifact.facts
        self._artifact = artifact
        self.kmer_length: int = facts["kmer_length"]
        self.limit: int = facts["limit"]
        self.layout = EntryLayout(**facts["layout"])
        self.counts: dict[str, int] = facts["counts"]
        self.bounds = artifact.load("bounds", np.int64)
        counts = artifact.load("counts", np.int64).reshape(self.layout.n_buckets, -1)
        self._starts = np.concatenate([np.zeros((1, counts.shape[1]), np.int64), np.cumsum(counts, axis=0)])

    def block(self, block: int) -> BlockSeeds:
        """Return the seeds of one of several blocks."""
        start, stop = int(self.bounds[block]), int(self.bounds[block + 1])
        seeding = self._seeding(start, stop, self._artifact.mapped(f"marks-{block}", np.uint32))
        read = partial(self.entries, block)
        return BlockSeeds(read, self.starts(block), seeding, len(seeding.marks))

    def entries(self, block: int, first: int, last: int) -> np.ndarray:
        """Return the entries of buckets ``[first, last)`` of a block, mapped from disk."""
        starts = self.starts(block)
        return self._artifact.mapped(f"seeds-{block}", np.uint64, int(starts[first]), int(starts[last]))

    def release(self, block: int) -> None:
        """Drop the entries of a block from the page cache of the system; they stay on disk."""
        self._artifact.release(f"seeds-{block}")

    def starts(self, block: int) -> np.ndarray:
        """Return where the entries of each bucket of a block start (int64, shape (buckets + 1,))."""
        return self._starts[:, block]

    def sketched(self) -> np.ndarray:
        """Return how many minimizers each read has (int32)."""
        return self._artifact.load("sketched", np.int32)

    def seeding_of(self, read: int) -> Seeding:
        """Return the seeding minimizers of one read; there must be several blocks."""
        block = int(np.searchsorted(self.bounds, read, side="right")) - 1
        before = self._artifact.load("sketched_lengths", np.int64, int(self.bounds[block]), read + 1)
        start, stop = offsets_of(words_for(before))[-2:].tolist()
        return self._seeding(read, read + 1, self._artifact.load(f"marks-{block}", np.uint32, start, stop))

    def _seeding(self, start: int, stop: int, marks: np.ndarray) -> Seeding:
        """Return the seeding minimizers of reads ``[start, stop)``, given their marks."""
        lengths = self._artifact.load("sketched_lengths", np.int64, start, stop)
        sketched = self._artifact.load("sketched", np.int32, start, stop)
        return Seeding(sketched, marks, offsets_of(words_for(lengths)))


@dataclasses.dataclass(frozen=True)
class BlockSeeds:
    """The seeds of a block of reads.

    Attributes
    ----------
    read : callable
        ``read(first, last)`` gives the entries of buckets ``[first, last)``, base numbers counted from the
        start of the block.
    starts : ndarray of int64, shape (buckets + 1,)
        Where the entries of each bucket start.
    seeding : Seeding
    n_words : int
        Words of the reads that were sketched.
    """

    read: Callable[[int, int], np.ndarray]
    starts: np.ndarray
    seeding: Seeding
    n_words: int
