"""The reliable k-mers of a read set on disk, by block of reads, counted within a memory budget.

All k-mers are counted, range by range of hashes (`overlapper.sketch.counting`), and the occurrences of those
of wanted multiplicity appended to a file. When all are there, blocks can be chosen so that two fit into
memory, and the occurrences go to the file of their block, each with the number of its k-mer: the k-mers that
two blocks share are found by reading both once.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.io.artifacts import Artifact
from overlapper.sketch.counting import KmerCounter
from overlapper.sketch.seeding_at import seeding_at
from overlapper.tables import Seeding
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import words_for

_POSITION = (1 << 31) - 1
_KMERS_AT_A_TIME = 1 << 16


@dataclasses.dataclass(frozen=True)
class BlockKmers:
    """The reliable k-mers of a block of reads.

    Attributes
    ----------
    kmers : ndarray of int64, shape (n,)
        Numbers of the k-mers, ascending.
    occurrences : ndarray of int64, shape (n,)
        As in `overlapper.sketch.counting.KmerCounts`, reads numbered within the block.
    seeding : Seeding
    """

    kmers: np.ndarray
    occurrences: np.ndarray
    seeding: Seeding


class KmerWriter:
    """Counts k-mers to disk within a memory budget; `cut` then writes them by block of reads.

    Parameters
    ----------
    artifact : Artifact
        Where to write.
    counter : KmerCounter
        Of all reads.
    lower, upper : int
        Wanted multiplicities, both included.
    memory : int
        Bytes that a range of hashes may take.

    Attributes
    ----------
    spectrum : ndarray of int64, shape (upper + 2,)
        Distinct k-mers by multiplicity; the last entry holds all above ``upper``.
    seeds : int
        Occurrences of the k-mers that are kept.
    """

    def __init__(self, artifact: Artifact, counter: KmerCounter, lower: int, upper: int, memory: int) -> None:
        self._artifact, self._counter = artifact, counter
        self.spectrum = np.zeros(upper + 2, np.int64)
        self.seeds = 0
        self._kmers = 0
        for name in ("sizes", "occurrences"):
            artifact.save(name, np.empty(0, np.int64))
        for counted, sizes, occurrences in counter.groups(lower, upper, upper + 1, memory):
            self.spectrum += counted
            self.seeds += len(occurrences)
            self._kmers += len(sizes)
            artifact.append("sizes", sizes)
            artifact.append("occurrences", occurrences)

    def cut(self, bounds: np.ndarray) -> None:
        """Write the k-mers by block of reads, as `KmerStore` reads them.

        Parameters
        ----------
        bounds : ndarray of int64, shape (blocks + 1,)
            Reads at which blocks start.
        """
        blocks = range(len(bounds) - 1)
        for block in blocks:
            for name in ("kmers", "occurrences"):
                self._artifact.save(f"{name}-{block}", np.empty(0, np.int64))
        done = 0
        for first in range(0, self._kmers, _KMERS_AT_A_TIME):
            last = min(first + _KMERS_AT_A_TIME, self._kmers)
            sizes = self._artifact.load("sizes", np.int64, first, last)
            kmers = np.repeat(np.arange(first, last), sizes)
            occurrences = self._artifact.load("occurrences", np.int64, done, done + len(kmers))
            done += len(kmers)
            block_of = np.searchsorted(bounds, occurrences >> 32, side="right") - 1
            for block in blocks:
                within = np.flatnonzero(block_of == block)
                self._artifact.append(f"kmers-{block}", kmers[within])
                self._artifact.append(f"occurrences-{block}", occurrences[within] - (bounds[block] << 32))
        for name in ("sizes", "occurrences"):
            self._artifact.remove(name)
        for block in blocks:
            self._mark_kmers(block, self._counter.lengths[bounds[block] : bounds[block + 1]])
        self._artifact.save("sketched", self._counter.of_read)
        self._artifact.save("lengths", self._counter.lengths)
        self._artifact.save("bounds", bounds.astype(np.int64))

    def _mark_kmers(self, block: int, lengths: np.ndarray) -> None:
        """Write the places of k-mers in the reads of a block, a bit for each base."""
        places = np.sort(self._artifact.load(f"occurrences-{block}", np.int64) >> 1)
        starts = np.searchsorted(places, np.arange(len(lengths) + 1) << 31)
        positions, word_offsets = (places & _POSITION).astype(np.int32), offsets_of(words_for(lengths))
        seeding = seeding_at(np.empty(len(lengths), np.int32), positions, starts, word_offsets)
        self._artifact.save(f"marks-{block}", seeding.marks)


class KmerStore:
    """The k-mers on disk that `KmerWriter` wrote.

    Attributes
    ----------
    bounds : ndarray of int64, shape (blocks + 1,)
        Reads at which blocks start.
    """

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact
        self.bounds = artifact.load("bounds", np.int64)

    def block(self, block: int) -> BlockKmers:
        """Return the k-mers of a block."""
        start, stop = int(self.bounds[block]), int(self.bounds[block + 1])
        seeding = Seeding(
            sketched=self._artifact.load("sketched", np.int32, start, stop),
            marks=self._artifact.load(f"marks-{block}", np.uint32),
            word_offsets=offsets_of(words_for(self._artifact.load("lengths", np.int64, start, stop))),
        )
        return BlockKmers(
            self._artifact.load(f"kmers-{block}", np.int64),
            self._artifact.load(f"occurrences-{block}", np.int64),
            seeding,
        )

    def sample(self, reads: np.ndarray) -> BlockKmers:
        """Return the k-mers of some reads (ascending) as a block."""
        block_of = np.searchsorted(self.bounds, reads, side="right") - 1
        none = np.empty(0, np.int64)
        nothing = Seeding(np.empty(0, np.int32), np.empty(0, np.uint32), np.zeros(1, np.int64))
        parts = [BlockKmers(none, none, nothing)]
        for block in np.unique(block_of).tolist():
            within = reads[block_of == block] - self.bounds[block]
            whole = self.block(block)
            chosen = np.flatnonzero(np.isin(whole.occurrences >> 32, within))
            occurrences = whole.occurrences[chosen]
            places = np.searchsorted(within, occurrences >> 32) + np.searchsorted(block_of, block)
            renumbered = (places << 32) | (occurrences & 0xFFFFFFFF)
            parts.append(BlockKmers(whole.kmers[chosen], renumbered, whole.seeding.take(within)))
        kmers = np.concatenate([part.kmers for part in parts])
        occurrences = np.concatenate([part.occurrences for part in parts])
        order = np.argsort(kmers, kind="stable")
        seeding = Seeding.concat([part.seeding for part in parts])
        return BlockKmers(kmers[order], occurrences[order], seeding)
