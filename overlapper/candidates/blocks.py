"""Finders for tiles: seeds on disk by block of reads, joined for a block of queries and one of targets.

Which k-mers seed is decided from all reads, so that a pair has the same candidates as with a finder of the
whole read set.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np

from overlapper.candidates.dsoft import DsoftFinder
from overlapper.candidates.registry import QueryFinder
from overlapper.candidates.sparse_product import SparseProduct, build_rows
from overlapper.candidates.spgemm import ReliableKmers, kmer_counts
from overlapper.errors import ParameterError
from overlapper.io.artifacts import Artifact
from overlapper.params.stages import Params
from overlapper.sketch.counting import KmerCounter
from overlapper.sketch.homopolymers import compressed_lengths, sketched_form
from overlapper.sketch.kmer_store import BlockKmers, KmerStore, KmerWriter
from overlapper.sketch.page_chains import expected_minimizers
from overlapper.sketch.seed_store import SeedStore
from overlapper.sketch.seed_writer import SeedWriter
from overlapper.sketch.tile_index import sample_seeds, tile_index, whole_index
from overlapper.tables import Reads, Seeding

Cut = Callable[[int], np.ndarray]
"""``cut(seed_bytes)`` returns the bounds of blocks of reads (int64), given the bytes of the seeds of all
reads."""
SampleFinders = Callable[[int, Reads, int], QueryFinder]
"""``finder(block, reads, threads)`` returns the finder of a sample of queries against a block of targets;
``reads`` are those of the sample, then those of the block."""


class SeedSource(Protocol):
    """Reads that seeds are made from, on disk; `overlapper.io.read_store.ReadStore` is one."""

    @property
    def lengths(self) -> np.ndarray:
        """Lengths of all reads (int64)."""

    def block(self, start: int, stop: int) -> Reads:
        """Return reads ``[start, stop)``."""

    def mapped(self) -> Reads:
        """Return all reads."""


class SeededBlocks(Protocol):
    """The seeds of a read set on disk, by block of reads.

    Attributes
    ----------
    bounds : ndarray of int64, shape (blocks + 1,)
        Reads at which blocks start.
    counts : dict of str to int
        What the funnel shows of seeding.
    """

    BYTES_PER_SEED: ClassVar[int]
    """Bytes that a seed takes in a tile."""
    bounds: np.ndarray
    counts: dict[str, int]

    def __init__(self, artifact: Artifact, params: Params) -> None: ...

    @staticmethod
    def depends_on(params: Params) -> list[Any]:
        """Return the parameters that the seeds depend on."""

    @staticmethod
    def looked_at(store: SeedSource, params: Params, threads: int) -> int:
        """Estimate how many k-mers, or minimizers, of the reads are looked at before seeds are chosen."""

    @staticmethod
    def write(
        artifact: Artifact, store: SeedSource, params: Params, memory: int, threads: int, cut: Cut
    ) -> None:
        """Write the seeds of all reads.

        Parameters
        ----------
        artifact : Artifact
            Written to.
        store : SeedSource
        params : Params
        memory : int
            Bytes of main memory to stay within.
        threads : int
        cut : callable
            See `Cut`.
        """

    def finder(self, blocks: list[int], reads: Reads, threads: int) -> QueryFinder:
        """Return the finder of a block of queries against a block of targets, or of one block with itself.

        The reads of a tile are numbered from 0, queries first.

        Parameters
        ----------
        blocks : list of int
        reads : Reads
            Of these blocks, as they are sketched.
        threads : int
        """

    def sample(self, queries: np.ndarray, reads: Reads) -> SampleFinders:
        """Return a function that makes finders of a sample of queries against any of several blocks.

        Parameters
        ----------
        queries : ndarray of int64
            Ascending.
        reads : Reads
            The reads of these queries, as they are sketched.
        """


class DsoftBlocks:
    """Minimizers for D-SOFT; see `SeededBlocks`."""

    BYTES_PER_SEED: ClassVar[int] = 14

    def __init__(self, artifact: Artifact, params: Params) -> None:
        self._store, self._params = SeedStore(artifact), params
        self.bounds, self.counts = self._store.bounds, self._store.counts

    @staticmethod
    def depends_on(params: Params) -> list[Any]:
        """See `SeededBlocks`."""
        return [dataclasses.asdict(params.sketch)]

    @staticmethod
    def looked_at(store: SeedSource, params: Params, threads: int) -> int:
        """See `SeededBlocks`."""
        return expected_minimizers(int(store.lengths.sum()), params.sketch.window)

    @staticmethod
    def write(
        artifact: Artifact, store: SeedSource, params: Params, memory: int, threads: int, cut: Cut
    ) -> None:
        """See `SeededBlocks`."""
        compressed = params.sketch.homopolymer_compressed

        def load(start: int, stop: int) -> Reads:
            return sketched_form(store.block(start, stop), compressed)[0]

        lengths = compressed_lengths(store.mapped()) if compressed else store.lengths
        seeder = SeedWriter(artifact, load, lengths, params.sketch, memory, threads)
        seeder.cut(cut(DsoftBlocks.BYTES_PER_SEED * seeder.seeds))

    def finder(self, blocks: list[int], reads: Reads, threads: int) -> QueryFinder:
        """See `SeededBlocks`."""
        if len(self.bounds) == 2:
            return DsoftFinder(reads.lengths, whole_index(self._store, reads, threads), self._params.dsoft, 0)
        queries, *targets = (self._store.block(block) for block in blocks)
        index = tile_index(self._store, queries, targets[0] if targets else None, reads, threads)
        first_target = len(queries.seeding) if targets else 0
        return DsoftFinder(reads.lengths, index, self._params.dsoft, first_target)

    def sample(self, queries: np.ndarray, reads: Reads) -> SampleFinders:
        """See `SeededBlocks`."""
        seeding = Seeding.concat([self._store.seeding_of(int(query)) for query in queries])
        query_seeds = sample_seeds(reads, seeding, self._params.sketch, self._store.layout)

        def finder(block: int, reads: Reads, threads: int) -> QueryFinder:
            index = tile_index(self._store, query_seeds, self._store.block(block), reads, threads)
            return DsoftFinder(reads.lengths, index, self._params.dsoft, first_target=len(queries))

        return finder


class SpgemmBlocks:
    """Reliable k-mers for SpGEMM; see `SeededBlocks`."""

    BYTES_PER_SEED: ClassVar[int] = 48

    def __init__(self, artifact: Artifact, params: Params) -> None:
        self._store, self._params = KmerStore(artifact), params
        self.bounds, self.counts = self._store.bounds, artifact.facts["counts"]

    @staticmethod
    def depends_on(params: Params) -> list[Any]:
        """See `SeededBlocks`."""
        return ["spgemm", params.sketch.kmer_length, dataclasses.asdict(params.spgemm)]

    @staticmethod
    def looked_at(store: SeedSource, params: Params, threads: int) -> int:
        """See `SeededBlocks`."""
        kmers = ReliableKmers.choose(store.mapped(), params.sketch.kmer_length, params.spgemm, threads)
        return round(int(store.lengths.sum()) * kmers.sampled)

    @staticmethod
    def write(
        artifact: Artifact, store: SeedSource, params: Params, memory: int, threads: int, cut: Cut
    ) -> None:
        """See `SeededBlocks`.

        Raises
        ------
        ParameterError
            When homopolymers are to be compressed.
        """
        if params.sketch.homopolymer_compressed:
            raise ParameterError(
                "homopolymer_compressed goes with the finder dsoft in tiles, not with spgemm. Take dsoft, or "
                "leave out what asks for tiles"
            )
        k = params.sketch.kmer_length
        kmers = ReliableKmers.choose(store.mapped(), k, params.spgemm, threads)
        counter = KmerCounter(store.block, store.lengths, k, kmers.sampled, threads)
        writer = KmerWriter(artifact, counter, kmers.lower, kmers.upper, memory // 2)
        writer.cut(cut(SpgemmBlocks.BYTES_PER_SEED * writer.seeds))
        looked_at, too_rare = int(counter.of_read.sum(dtype=np.int64)), kmers.too_rare(writer.spectrum)
        artifact.facts["counts"] = kmer_counts(looked_at, too_rare, writer.seeds)

    def finder(self, blocks: list[int], reads: Reads, threads: int) -> QueryFinder:
        """See `SeededBlocks`."""
        queries, *targets = (self._store.block(block) for block in blocks)
        return self._product(queries, targets[0] if targets else None, reads, threads)

    def sample(self, queries: np.ndarray, reads: Reads) -> SampleFinders:
        """See `SeededBlocks`."""
        sampled = self._store.sample(queries)
        return lambda block, reads, threads: self._product(sampled, self._store.block(block), reads, threads)

    def _product(
        self, queries: BlockKmers, targets: BlockKmers | None, reads: Reads, threads: int
    ) -> SparseProduct:
        from overlapper.kernels.seeds.tile_kmers import join_kmers, keep_shared

        n_queries, seeding = len(queries.seeding), queries.seeding
        own = queries.kmers, queries.occurrences
        if targets is None:
            column_offsets = np.empty(len(queries.kmers) // 2 + 1, np.int64)
            joined = np.empty(len(queries.kmers), np.int64)
            columns = keep_shared(*own, column_offsets, joined)
        else:
            seeding = Seeding.concat([seeding, targets.seeding])
            column_offsets = np.empty(min(len(queries.kmers), len(targets.kmers)) + 1, np.int64)
            joined = np.empty(len(queries.kmers) + len(targets.kmers), np.int64)
            others = targets.kmers, targets.occurrences
            columns = join_kmers(*own, *others, n_queries, column_offsets, joined)
        column_offsets = column_offsets[: columns + 1]
        occurrences = joined[: column_offsets[-1]]
        rows = build_rows(column_offsets, occurrences, reads.lengths, n_queries, threads)
        first_target = 0 if targets is None else n_queries
        k = self._params.sketch.kmer_length
        return SparseProduct(reads.lengths, occurrences, rows, seeding, k, self._params.spgemm, first_target)


IN_BLOCKS: dict[str, type[SeededBlocks]] = {"dsoft": DsoftBlocks, "spgemm": SpgemmBlocks}
"""The finders that work in tiles, by name."""
