"""The tiles of a run: reads in blocks, pairs of blocks as tiles.

A run in memory has one tile, of all reads. In a memory budget the reads are packed to disk in canonical
order, and cut into blocks; a tile is a block of queries against a block of targets, whose overlaps are kept
on disk.
What a pair of reads gives depends on these two and on what is decided from all reads before: parameters, the
order of the reads, which k-mers seed, what agreement is typical. So the overlaps do not depend on how the
reads are cut.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from overlapper.candidates import registry
from overlapper.errors import OutOfMemoryError
from overlapper.extend import chain
from overlapper.extend.on_gpus import prepared_finder
from overlapper.extend.registry import ALIGNING, device_for
from overlapper.extend.selection import Selection
from overlapper.gpu.gpus import Gpus
from overlapper.gpu.opening import Opening
from overlapper.io.artifacts import Artifact, finished, finished_artifact, writing
from overlapper.io.read_store import ReadStore
from overlapper.io.sorted_parts import read_parts
from overlapper.overlap.presets import with_error_rate
from overlapper.overlap.tile import BLOCK_BASES, Extended, Extension, Tile
from overlapper.overlap.tile_work import TileNumber, TileWork
from overlapper.params.stages import Params
from overlapper.runtime.memory import free_memory
from overlapper.runtime.messages import Report, counted
from overlapper.runtime.threads import share_for_threads, start
from overlapper.sketch.chosen_seeds import ChosenSeeds
from overlapper.sketch.homopolymers import sketched_form
from overlapper.tables import Candidates, Overlaps, Reads, Seeding
from overlapper.tiled.plan import Budget, cut_blocks, tile_bytes
from overlapper.tiled.workdir import Workdir

_COPIES = 2
"""Copies of the overlaps that are in memory while they are sorted."""
_PART_ROWS = 1 << 15
"""Least overlaps of a part, but for the last one: what is done with a part takes Python's lock many times."""

RunTiles = Callable[[TileWork, list[TileNumber], Report], None]
"""``run_tiles(work, tiles, report)`` finishes the strips of tiles that are not finished."""


@dataclasses.dataclass(frozen=True)
class Folder:
    """Where a run in a memory budget works.

    Attributes
    ----------
    workdir : Workdir
        Where the finished parts are kept, and looked for.
    budget : Budget
    device : str
    gpu_memory : int
        As in `overlapper.find_overlaps`.
    run_tiles : callable, optional
        See `RunTiles`; one tile after the other in this process by default.
    note : callable
        Told what the user should know.
    """

    workdir: Workdir
    budget: Budget
    device: str = "auto"
    gpu_memory: int = 0
    run_tiles: RunTiles | None = None
    note: Callable[[str], None] = lambda text: None


class Tiles:
    """The tiles of a run, whose stages `overlapper.overlap.pipeline.run_stages` calls in their order.

    Parameters
    ----------
    store : ReadStore
    threads : int
    opened : Opening or None
        Waits for the GPUs that hold the reads of the one tile of a run in memory.
    folder : Folder or None
        None for a run in memory.

    Attributes
    ----------
    store, threads
    work : TileWork or None
        What it takes to do a tile on disk, once seeds are found.
    """

    def __init__(
        self, store: ReadStore, threads: int, opened: Opening | None = None, folder: Folder | None = None
    ) -> None:
        self.store, self.threads = store, threads
        self._opened, self._folder = opened, folder
        self._whole: Tile | None = None
        self.work: TileWork | None = None

    def seeded(self, params: Params) -> Params:
        """Find the seeds; return the parameters with those that the extender estimates from the reads.

        An error rate is estimated meanwhile.
        """
        reads, rating = self.store.mapped(), None
        if params.extender in ALIGNING:
            rating = start(partial(with_error_rate, params, reads, self.threads))
        if self._folder:
            self.work = self._chosen(params, self._folder)
        chosen = self.work.chosen() if self.work else None
        if chosen is None or len(chosen.bounds) == 2:
            self._load(params)
        if rating:
            return rating.result()
        if self._whole:
            return chain.with_typical(params, self._whole.agreements(params, self._gpus, self.threads))
        assert chosen
        queries = chain.sample_queries(len(self.store))
        measured = agreements_of(self.store, chosen, queries, 0, params, self.threads)
        return chain.with_typical(params, measured)

    def _load(self, params: Params) -> None:
        """Load the tile that has all reads."""
        if self.work:
            self._whole = self.work.loaded((0, 0), self.threads)
            return
        reads = self.store.mapped()
        seeded, run_map = sketched_form(reads, params.sketch.homopolymer_compressed)
        finder = prepared_finder(self._gpus, seeded, params, self.threads)
        self._whole = Tile(reads, self.store.order, seeded, run_map, finder)

    def _gpus(self) -> Gpus | None:
        return self._opened() if self._opened else None

    def _chosen(self, params: Params, folder: Folder) -> TileWork:
        """Choose which places seed, unless that is there, or one tile has all reads."""
        store, threads, workdir = self.store, self.threads, folder.workdir
        room, finder = folder.budget.left(len(store)), registry.finder(params.finder)
        path: Path | None = workdir.path("seeds", *finder.depends_on(params), *_content(store))
        bases, fewest = int(store.lengths.sum()), folder.budget.fewest_tiles
        assert path
        known = finished(path, verify=True)
        if known is None or known.facts["tile_bytes"] > room:
            seed_bytes = finder.BYTES_PER_SEED * finder.looked_at(store, params, threads)
            if len(cut_blocks(store.lengths, seed_bytes, room, fewest)) == 2:
                path = None
            else:
                with writing(path) as artifact:
                    seed_bytes = finder.BYTES_PER_SEED * finder.choose(artifact, store, params, room, threads)
                    bounds = cut_blocks(store.lengths, seed_bytes, room, fewest)
                    artifact.save("bounds", bounds)
                    artifact.facts["tile_bytes"] = tile_bytes(bases, seed_bytes, len(bounds) - 1)
        device = device_for(params.extender, folder.device, bases, threads)
        return TileWork(store.artifact.folder, path, workdir.folder, params, device, folder.gpu_memory)

    def overlaps(self, params: Params, selection: Selection, report: Report) -> FoundOverlaps:
        """Find the overlaps, numbered as in the input; keep what the selection returns of them."""
        if self._folder:
            return self._on_disk(params, self._folder, selection, report)
        return self._in_memory(params, selection, report)

    def _in_memory(self, params: Params, selection: Selection, report: Report) -> FoundOverlaps:
        """Find the overlaps of the one tile.

        Raises
        ------
        OutOfMemoryError
            When there is too little memory to put the overlaps in order.
        """
        assert self._whole and self._opened
        bases = int(self.store.lengths.sum())
        extension = Extension(self._whole, params, self._opened())
        gpus, share = extension.gpus, share_for_threads(bases, BLOCK_BASES, self.threads)
        parts: list[Overlaps] = []
        held, room = 0, free_memory()
        taken: Counter[str] = Counter()
        strips = [(0, len(self.store))]
        found = extension.overlaps(strips, self.threads, share, report, selection.add)
        for overlaps in _joined(found, taken):
            parts.append(overlaps)
            held += overlaps.nbytes
            if _COPIES * held > room:
                raise OutOfMemoryError(
                    f"{sum(map(len, parts)):,} overlaps were found, more than the {room / 1e6:,.0f} MB of "
                    "memory that were free can hold. --memory keeps overlaps on disk; --best, or a longer "
                    "--min-overlap, leaves fewer"
                )
        on_gpus = {"candidates": taken["candidates"], **gpus.counts()} if gpus and taken else {}
        counts = {**self._whole.finder.counts(), **on_gpus, **taken}
        devices = extension.devices
        # The seeds are most of what is held, and the overlaps are copied when they are put in order.
        self._whole = None
        del extension, found
        self._opened.close()
        return FoundOverlaps(parts, [], len(self.store), counts, devices)

    def _on_disk(self, params: Params, folder: Folder, selection: Selection, report: Report) -> FoundOverlaps:
        """Find the overlaps of tiles that are not done already."""
        assert self.work
        workdir, bounds, chosen = folder.workdir, self.work.bounds(), self.work.chosen()
        for difference in workdir.changed(dataclasses.asdict(params)):
            folder.note(difference)
        key = [dataclasses.asdict(params), bounds.tolist(), *_content(self.store)]
        work = dataclasses.replace(self.work, params=params, results=workdir.path("overlaps", *key))
        tiles = list(itertools.combinations_with_replacement(range(len(bounds) - 1), 2))
        missing = [tile for tile in tiles if work.missing(tile, verify=True)]
        if len(missing) < len(tiles):
            folder.note(f"done already: {len(tiles) - len(missing)} of {counted(len(tiles), 'tile')}")
        if folder.run_tiles:
            folder.run_tiles(work, missing, report)
        else:
            for done, tile in enumerate(missing):
                report("overlapping", done, len(missing))
                work.run(tile, self.threads, work.missing(tile), self._whole)
        strips = [finished_artifact(path) for tile in tiles for path in work.strips(tile)]
        taken: Counter[str] = Counter()
        for strip in strips:
            taken.update(strip.facts["taken"])
        devices = sorted({name for strip in strips for name in strip.facts["devices"]}) or ["cpu"]
        seeds = self._whole.finder.counts() if self._whole else chosen.counts if chosen else {}
        found = FoundOverlaps([], strips, len(self.store), {**seeds, **taken}, devices)
        for overlaps in found:
            selection.add(overlaps)
        return found


@dataclasses.dataclass(frozen=True)
class FoundOverlaps:
    """The overlaps of a run before they are chosen among, to be gone through several times.

    Attributes
    ----------
    parts : list of Overlaps
        Those in memory.
    strips : list of Artifact
        Hold those on disk.
    n_reads : int
    counts : dict of str to int
        What the funnel shows of seeds and candidates.
    devices : list of str
        Names of the devices that extended candidates.
    """

    parts: list[Overlaps]
    strips: list[Artifact]
    n_reads: int
    counts: dict[str, int]
    devices: list[str]

    def __iter__(self) -> Iterator[Overlaps]:
        return itertools.chain(self.parts, read_parts(self.strips, self.n_reads))


def _joined(blocks: Iterable[tuple[int, Extended]], taken: Counter[str]) -> Iterator[Overlaps]:
    """Yield the overlaps of blocks in parts of `_PART_ROWS`, and add their counts to ``taken``."""
    small: list[Overlaps] = []
    rows = 0
    for _, (overlaps, counts) in blocks:
        taken.update(counts)
        small.append(overlaps)
        rows += len(overlaps)
        if rows >= _PART_ROWS:
            yield Overlaps.concat(small)
            small, rows = [], 0
    if small:
        yield Overlaps.concat(small)


def _content(store: ReadStore) -> list[str]:
    """Return the digest of the reads of a store; none for corrected reads, alone in their work folder."""
    content = store.artifact.facts.get("content")
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
    store : SeedSource
    chosen : ChosenSeeds
        Of several blocks.
    queries : ndarray of int64
        Ascending.
    first_read : int
        At which blocks begin that count.
    params : Params
    threads : int
    """
    compressed, n = params.sketch.homopolymer_compressed, len(queries)
    of_queries = Reads.concat([store.block(query, query + 1) for query in queries.tolist()])
    sampled, _ = sketched_form(of_queries, compressed)
    places = Seeding.concat([chosen.seeding(query, query + 1) for query in queries.tolist()])
    kind = registry.finder(params.finder)
    for first, stop in itertools.pairwise(chosen.bounds.tolist()):
        if first < first_read or not n:
            continue
        targets, _ = sketched_form(store.block(first, stop), compressed)
        reads, seeding = (
            Reads.concat([sampled, targets]),
            Seeding.concat([places, chosen.seeding(first, stop)]),
        )
        finder = kind.of_tile(reads, seeding, chosen, params, n, threads)
        sample = Candidates.concat([finder.find(query, query + 1) for query in range(n)])
        later = sample.target - n + first > queries[sample.query]
        yield chain.agreements(reads, sample.take(later), params.chain)
