"""The tiles of a run: reads in blocks, pairs of blocks as tiles.

A run in memory has one tile, of all reads. In a memory budget reads are cut into blocks; a tile is a block of
queries against a block of targets. It is done in strips of queries, each an artifact that a later run finds.
What a pair of reads gives depends on these two and on what is decided from all reads before: parameters, the
order of the reads, which k-mers seed, what agreement is typical. So the overlaps depend neither on how the
reads are cut, nor on who does a tile: this process or a worker, on whatever device and threads.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from overlapper.candidates import registry
from overlapper.extend import chain
from overlapper.extend.on_gpus import opening, prepared_finder
from overlapper.extend.registry import extending_devices
from overlapper.gpu.gpus import Opening
from overlapper.io.artifacts import Artifact, Finisher, finished, writing
from overlapper.io.memory_artifacts import MemoryArtifact
from overlapper.io.read_store import ReadStore
from overlapper.overlap.parts import write_strip
from overlapper.overlap.tile import BLOCK_BASES, Extension, Tile
from overlapper.params.stages import Params
from overlapper.runtime.threads import cut_evenly
from overlapper.sketch.chosen_seeds import ChosenSeeds
from overlapper.tables import Candidates, Reads, Seeding
from overlapper.tiled.plan import Budget, cut_blocks, fewest_tiles, tile_bytes
from overlapper.tiled.workdir import Workdir

if TYPE_CHECKING:
    from overlapper.overlap.distributed import Cluster

STRIP_BASES = 1 << 26
"""Query bases of a strip."""

TileNumber = tuple[int, int]
"""Block of queries, block of targets."""


@dataclasses.dataclass(frozen=True)
class Tiles:
    """The tiles of a run, and what it takes to do any of them; sent to workers as it is."""

    store: ReadStore
    seeds: ChosenSeeds | None
    """Which places seed, as chosen from all reads; None where one tile has all of them."""
    params: Params
    device: str = "cpu"
    """What candidates are extended on, as `overlapper.extend.registry.extending_devices` takes it."""
    gpu_memory: int = 0
    """Bytes to take on each GPU at most; 0 takes what is free."""
    results: Path | None = None
    """Folder of the strips; None in memory."""

    @property
    def bounds(self) -> np.ndarray:
        """Reads at which blocks start (int64)."""
        return self.seeds.bounds if self.seeds else np.array([0, len(self.store)])

    @property
    def numbers(self) -> list[TileNumber]:
        """All tiles."""
        return list(itertools.combinations_with_replacement(range(len(self.bounds) - 1), 2))

    def load(self, tile: TileNumber, threads: int, opened: Opening | None = None) -> Tile:
        """Return the reads and seeds of a tile.

        Parameters
        ----------
        opened : Opening, optional
            GPUs that hold the reads, where all of them may be indexed.
        """
        blocks = sorted({*tile})
        reads, order = self._reads_of(blocks)
        if self.seeds is None:
            finder = prepared_finder(opened, reads, self.params, threads)
        else:
            first_target = int(np.diff(self.bounds)[tile[0]]) if blocks[1:] else 0
            finder = registry.finder(self.params.finder).of_tile(
                reads, self.seeds.of_blocks(blocks), self.seeds, self.params, first_target, threads
            )
        return Tile(reads, order, finder)

    def agreements(self, whole: Tile | None, opened: Opening | None, threads: int) -> Iterator[np.ndarray]:
        """Yield the agreement of the chains of a sample of queries (`overlapper.extend.chain.agreements`).

        Parameters
        ----------
        whole : Tile or None
            The tile that has all reads, if there is one.
        opened : Opening or None
            GPUs that hold its reads.
        """
        queries = chain.sample_queries(len(self.store))
        if whole:
            return whole.agreements(queries, self.params, opened, threads)
        assert self.seeds
        return agreements_of(self.store, self.seeds, queries, 0, self.params, threads)

    def strips(self, tile: TileNumber) -> list[Path]:
        """Return where the strips of a tile are, or are to be."""
        assert self.results
        return [
            self.results / f"{tile[0]}-{tile[1]}-{number}"
            for number in range(len(self._strip_bounds(tile)) - 1)
        ]

    def missing(self, tile: TileNumber, *, verify: bool = False) -> list[int]:
        """Return the numbers of the strips that are not finished.

        Parameters
        ----------
        verify : bool
            Compare the digests of those that are.
        """
        paths = self.strips(tile)
        return [number for number, path in enumerate(paths) if finished(path, verify=verify) is None]

    def _strip_bounds(self, tile: TileNumber) -> np.ndarray:
        """Return the queries, counted from the start of their block, at which strips start."""
        start, stop = self.bounds[tile[0] : tile[0] + 2].tolist()
        return cut_evenly(self.store.lengths[start:stop], STRIP_BASES)

    def run(self, tile: TileNumber, threads: int, numbers: list[int], loaded: Tile | None = None) -> None:
        """Write some strips of a tile, which is loaded unless it is there already.

        While the last overlaps of a strip are written, candidates of the next one are looked for.
        """
        paths = self.strips(tile)
        with Finisher() as finisher:
            for number, write in self._found(tile, threads, numbers, loaded):
                with finisher.writing(paths[number]) as artifact:
                    write(artifact)

    def found(self, tile: TileNumber, threads: int, numbers: list[int]) -> list[MemoryArtifact]:
        """Return some strips of a tile as `run` writes them."""
        strips = [MemoryArtifact() for _ in numbers]
        for artifact, (_, write) in zip(strips, self._found(tile, threads, numbers), strict=True):
            write(artifact)
        return strips

    def _found(
        self, tile: TileNumber, threads: int, numbers: list[int], loaded: Tile | None = None
    ) -> Iterator[tuple[int, Callable[[Artifact], None]]]:
        """Yield the numbers of some strips with what writes them, to be called before the next one."""
        bounds = self._strip_bounds(tile)
        devices = extending_devices(self.params.extender, self.device)
        with opening(lambda: devices, self.gpu_memory, self.params) as opened:
            loaded = loaded or self.load(tile, threads)
            opened.hold(loaded.reads)
            extension = Extension(loaded, self.params, opened())
            strips = [(int(bounds[number]), int(bounds[number + 1])) for number in numbers]
            found = extension.overlaps(strips, threads, BLOCK_BASES)
            for strip, of_strip in itertools.groupby(found, key=itemgetter(0)):
                overlaps = map(itemgetter(1), of_strip)
                yield numbers[strip], partial(write_strip, found=overlaps, devices=extension.devices)

    def of_blocks(self, blocks: list[int]) -> Tiles:
        """Return the same with the reads and seeds of some blocks alone, in memory."""
        reads, order = self._reads_of(blocks)
        store, seeds = ReadStore.of(reads, order, Reads.empty()), self.seeds and self.seeds.only(blocks)
        return dataclasses.replace(self, store=store, seeds=seeds, results=None)

    def _reads_of(self, blocks: list[int]) -> tuple[Reads, np.ndarray]:
        """Return the reads of some blocks, and the number of each in the input."""
        bounds = [self.bounds[block : block + 2].tolist() for block in blocks]
        reads = Reads.concat([self.store.block(*bound) for bound in bounds])
        return reads, np.concatenate([self.store.order[start:stop] for start, stop in bounds])


@dataclasses.dataclass(frozen=True)
class TileOfWorker:
    """A tile of which a worker is to find the overlaps (`overlapper.overlap.distributed.Part`)."""

    tiles: Tiles
    tile: TileNumber
    strips: list[int]
    """Those that are wanted."""
    devices: list[str]
    """`overlapper.overlap.distributed.Cluster.devices`."""

    @property
    def folders(self) -> list[Path]:
        """Of the reads and the seeds."""
        of_seeds = [self.tiles.seeds.artifact.folder] if self.tiles.seeds else []
        return [self.tiles.store.artifact.folder, *of_seeds]

    def whole(self) -> TileOfWorker:
        """Return the tile with its reads and seeds."""
        blocks = sorted({*self.tile})
        return dataclasses.replace(self, tiles=self.tiles.of_blocks(blocks), tile=(0, len(blocks) - 1))

    def found(self, threads: int) -> list[MemoryArtifact]:
        """Return the strips, found on the worker's own device."""
        from distributed import get_worker

        tiles = self.tiles
        if self.devices and tiles.device != "cpu":
            # Processes that are started here are numbered, one that takes the place of another like it.
            tiles = dataclasses.replace(tiles, device=self.devices[int(get_worker().name)])
        return tiles.found(self.tile, threads, self.strips)


@dataclasses.dataclass(frozen=True)
class Folder:
    """Where a run in a memory budget works."""

    workdir: Workdir
    """Where the finished parts are kept, and looked for."""
    budget: Budget
    workers: Cluster | None = None
    """Who does tiles; one after the other in this process by default."""


def choose_seeds(store: ReadStore, params: Params, folder: Folder | None, threads: int) -> ChosenSeeds | None:
    """Choose which places seed, and how reads are cut into blocks; None where one tile has all reads.

    Parameters
    ----------
    folder : Folder or None
        None for a run in memory. What an earlier run chose there is taken.
    """
    if folder is None:
        return None
    room, finder = folder.budget.left(len(store)), registry.finder(params.finder)
    path = folder.workdir.path("seeds", *finder.depends_on(params), *content_of(store))
    bases, fewest = int(store.lengths.sum()), fewest_tiles(folder.workers.size if folder.workers else 1)
    known = finished(path, verify=True)
    if known is None or known.facts["tile_bytes"] > room:
        seed_bytes = finder.BYTES_PER_SEED * finder.looked_at(store, params, threads)
        if len(cut_blocks(store.lengths, seed_bytes, room, fewest)) == 2:
            return None
        with writing(path) as artifact:
            seed_bytes = finder.BYTES_PER_SEED * finder.choose(artifact, store, params, room, threads)
            bounds = cut_blocks(store.lengths, seed_bytes, room, fewest)
            artifact.save("bounds", bounds)
            artifact.facts["tile_bytes"] = tile_bytes(bases, seed_bytes, len(bounds) - 1)
    return ChosenSeeds.at(path)


def content_of(store: ReadStore) -> list[str]:
    """Return the digest of the reads of a store; none for corrected reads, alone in their work folder."""
    content = store.artifact.facts.get("reads")
    return [content] if content else []


def agreements_of(
    store: registry.SeedSource,
    chosen: ChosenSeeds,
    queries: np.ndarray,
    first_read: int,
    params: Params,
    threads: int,
) -> Iterator[np.ndarray]:
    """Yield the agreement of chains (`overlapper.extend.chain`) of some queries with each block of reads.

    Parameters
    ----------
    chosen : ChosenSeeds
        Of several blocks.
    queries : ndarray of int64
        Ascending.
    first_read : int
        At which blocks begin that count.
    """
    n = len(queries)
    sampled = Reads.concat([store.block(query, query + 1) for query in queries.tolist()])
    places = Seeding.concat([chosen.seeding(query, query + 1) for query in queries.tolist()])
    kind = registry.finder(params.finder)
    for first, stop in itertools.pairwise(chosen.bounds.tolist()):
        if first < first_read or not n:
            continue
        reads = Reads.concat([sampled, store.block(first, stop)])
        seeding = Seeding.concat([places, chosen.seeding(first, stop)])
        finder = kind.of_tile(reads, seeding, chosen, params, n, threads)
        sample = Candidates.concat([finder.find(query, query + 1) for query in range(n)])
        later = sample.target - n + first > queries[sample.query]
        yield chain.agreements(reads, sample.take(later), params.chain)
