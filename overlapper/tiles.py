"""Overlaps in a memory budget: blocks of reads, pairs of blocks, and what is finished kept on disk.

The reads are packed to disk in canonical order, and cut into blocks; a tile is a block of queries against a
block of targets. What a pair of reads gives depends on these two and on what is decided from all reads
before: parameters, the order of the reads, which minimizers seed, what agreement is typical. So the overlaps
do not depend on how the reads are cut. A tile is done in strips of queries, each an artifact that a later run
finds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from overlapper import pipeline
from overlapper.candidates.dsoft import DsoftFinder
from overlapper.errors import ParameterError
from overlapper.extend import chain
from overlapper.extend.best_ends import BestEnds
from overlapper.extend.registry import ALIGNING
from overlapper.io.artifacts import Artifact, finished, writing
from overlapper.io.pieces import read_pieces, write_piece
from overlapper.io.read_store import ReadStore
from overlapper.params import Params
from overlapper.plan import Budget, cut_blocks, tile_bytes
from overlapper.presets import preset_params, with_error_rate
from overlapper.sketch.homopolymers import RunMap, compress_homopolymers, compressed_lengths
from overlapper.sketch.seed_store import SeedStore, SeedWriter
from overlapper.sketch.tile_index import sample_seeds, tile_index
from overlapper.tables import Candidates, Overlaps, Reads, Seeding
from overlapper.threads import cut_evenly, map_in_order
from overlapper.workdir import Workdir

STRIP_BASES = 1 << 26
"""Query bases of a strip."""
PIECE_BYTES = 1 << 26
"""Bytes of overlaps that wait to be written."""

Tile = tuple[int, int]
"""Block of queries, block of targets."""
RunTiles = Callable[["TileWork", list[Tile], pipeline.Report], None]
"""``run_tiles(work, tiles, report)`` finishes the strips of tiles that are not finished."""


@dataclasses.dataclass(frozen=True)
class TiledRun(pipeline.Summary):
    """What a run made, its overlaps on disk.

    Attributes
    ----------
    reads : Reads
        Names and lengths, without bases.
    strips : list of Artifact
    best : BestEnds or None
        Which overlaps are among the best of a read end, where not all are wanted.
    """

    reads: Reads
    strips: list[Artifact]
    best: BestEnds | None

    def overlaps(self) -> Iterator[Overlaps]:
        """Yield the overlaps in canonical order, numbered as the input, some at a time."""
        for overlaps in read_pieces(self.strips, len(self.reads)):
            yield overlaps if self.best is None else overlaps.take(self.best.among(overlaps))


def store_reads(
    workdir: Workdir, parts: Iterable[Reads], check: Callable[[Reads], None] = lambda heads: None
) -> ReadStore:
    """Return the packed reads of a folder; they are written if they are not there.

    Parameters
    ----------
    workdir : Workdir
    parts : iterable of Reads
        Gone through only when the reads are to be written.
    check : callable
        ``check(heads)`` complains of names and lengths of all reads.
    """
    path = workdir.folder / "reads"
    if finished(path, verify=True) is None:
        with writing(path) as artifact:
            check(ReadStore.write(artifact, parts))
    return ReadStore.open(_there(path))


def run_tiled(
    store: ReadStore,
    workdir: Workdir,
    budget: Budget,
    preset: str = "auto",
    *,
    changes: Mapping[str, Any] | None = None,
    run_tiles: RunTiles | None = None,
    report: pipeline.Report = lambda step, done, total: None,
    note: Callable[[str], None] = lambda text: None,
) -> TiledRun:
    """Find the overlaps of stored reads in a memory budget.

    Parameters
    ----------
    store : ReadStore
    workdir : Workdir
        Where the finished parts are kept, and looked for.
    budget : Budget
    preset, changes
        As in `overlapper.find_overlaps`.
    run_tiles : callable, optional
        See `RunTiles`; one tile after the other in this process by default.
    report, note : callable
        Are told how far the run is, and what the user should know.
    """
    clock = pipeline.Clock()
    report("choosing parameters", 0, 0)
    params, why, room = planned(store, budget, preset, changes)
    clock.lap("parameters")

    report("seeding", 0, 0)
    seeds_path = _seed(store, workdir, params, room, budget.threads)
    work = TileWork(store.artifact.folder, seeds_path, workdir.folder, params)
    fitted = _fitted(work, budget.threads)
    clock.lap("seed")

    for difference in workdir.changed(dataclasses.asdict(fitted)):
        note(f"parameters differ from the last run in {workdir.folder}: {difference}")
    seeds = SeedStore(_there(seeds_path))
    key = [dataclasses.asdict(fitted), seeds.bounds.tolist()]
    work = dataclasses.replace(work, params=fitted, results=workdir.path("overlaps", *key))
    n_blocks = len(seeds.bounds) - 1
    tiles = [(query, target) for query in range(n_blocks) for target in range(query, n_blocks)]
    missing = [tile for tile in tiles if work.missing(tile)]
    if len(missing) < len(tiles):
        note(f"{len(tiles) - len(missing)} of {len(tiles)} tiles are done already")
    (run_tiles or _one_by_one(budget.threads))(work, missing, report)
    clock.lap("overlap")

    strips = [_there(path, verify=True) for tile in tiles for path in work.strips(tile)]
    taken: dict[str, int] = {}
    for strip in strips:
        taken = {name: taken.get(name, 0) + count for name, count in strip.facts["taken"].items()}
    reads, best = store.names(), None
    if fitted.classes.best:
        best = BestEnds(reads.lengths, fitted.classes.best)
        for overlaps in read_pieces(strips, len(reads)):
            best.add(overlaps)
        kept = sum(int(best.among(part).sum()) for part in read_pieces(strips, len(reads)))
        taken = pipeline.without_worse(taken, kept)
    funnel = {"reads": len(store), "bases": int(store.lengths.sum()), **seeds.counts, **taken}
    return TiledRun(fitted, why, ["cpu"], funnel, clock.seconds, reads, strips, best)


def planned(
    store: ReadStore, budget: Budget, preset: str, changes: Mapping[str, Any] | None
) -> tuple[Params, str, int]:
    """Return the parameters as far as they follow from the reads, why, and the bytes that a tile may take.

    Raises
    ------
    ParameterError
        When the parameters ask for what is not done in tiles, or the budget is too small.
    """
    params, why = preset_params(store.mapped(), preset, budget.threads)
    params = params.changed(changes or {})
    if params.finder != "dsoft":
        raise ParameterError(f"finder is {params.finder!r}, expected dsoft: no other works in tiles yet")
    pipeline.check_compression(params)
    return params, why, budget.left(len(store))


def _there(path: Path, *, verify: bool = False) -> Artifact:
    artifact = finished(path, verify=verify)
    assert artifact, path
    return artifact


def _seed(store: ReadStore, workdir: Workdir, params: Params, room: int, threads: int) -> Path:
    """Return the folder of seeds; they are written unless they are there, in blocks that fit."""
    path = workdir.path("seeds", dataclasses.asdict(params.sketch))
    there = finished(path, verify=True)
    if there is None or there.facts["tile_bytes"] > room:
        compressed = params.sketch.homopolymer_compressed

        def load(start: int, stop: int) -> Reads:
            return sketched_form(store.block(start, stop), compressed)[0]

        lengths = compressed_lengths(store.mapped()) if compressed else store.lengths
        with writing(path) as artifact:
            seeder = SeedWriter(artifact, load, lengths, params.sketch, room, threads)
            bounds = cut_blocks(store.lengths, seeder.seeds, room)
            seeder.cut(bounds)
            whole = tile_bytes(int(store.lengths.sum()), seeder.seeds)
            artifact.facts["tile_bytes"] = min(whole, 2 * whole // (len(bounds) - 1))
    return path


def sketched_form(reads: Reads, compressed: bool) -> tuple[Reads, RunMap | None]:
    """Return the reads in the form in which they are sketched, and the way back."""
    return compress_homopolymers(reads) if compressed else (reads, None)


def _one_by_one(threads: int) -> RunTiles:
    def run(work: TileWork, tiles: list[Tile], report: pipeline.Report) -> None:
        for done, tile in enumerate(tiles):
            report("overlapping", done, len(tiles))
            work.run(tile, threads, work.missing(tile))

    return run


def _fitted(work: TileWork, threads: int) -> Params:
    """Return the parameters with what the extender takes from the read set, as `pipeline.run` does."""
    params = work.params
    store = ReadStore.open(_there(work.reads))
    if params.extender in ALIGNING:
        return with_error_rate(params, store.mapped(), threads)
    if params.chain.typical_agreement:
        return params
    queries = pipeline.sample_queries(len(store))
    seeds = SeedStore(_there(work.seeds))
    measured = [
        _agreements(store, seeds, queries, block, params, threads) for block in range(len(seeds.bounds) - 1)
    ]
    fitted = chain.with_typical(params.chain, np.concatenate([np.empty(0), *measured]))
    return dataclasses.replace(params, chain=fitted)


def _agreements(
    store: ReadStore, seeds: SeedStore, queries: np.ndarray, block: int, params: Params, threads: int
) -> np.ndarray:
    """Return the agreements of the chains that some queries have with later reads of a block."""
    start, stop = int(seeds.bounds[block]), int(seeds.bounds[block + 1])
    compressed = params.sketch.homopolymer_compressed
    sampled, _ = sketched_form(store.mapped().take(queries), compressed)
    targets, _ = sketched_form(store.block(start, stop), compressed)
    reads = Reads.concat([sampled, targets])
    seeding = Seeding.concat([seeds.seeding_of(int(query)) for query in queries])
    query_seeds = sample_seeds(sampled, seeding, params.sketch, seeds.layout)
    index = tile_index(seeds, query_seeds, seeds.block(block), reads, threads)
    finder = DsoftFinder(reads.lengths, index, params.dsoft, first_target=len(queries))
    found = [finder.find(query, query + 1) for query in range(len(queries))]
    sample = Candidates.concat(found or [finder.find(0, 0)])
    later = sample.target - len(queries) + start > queries[sample.query]
    return chain.agreements(reads, sample.take(later), params.chain)


@dataclasses.dataclass(frozen=True)
class TileWork:
    """What a worker needs to know to do a tile; everything else is in the folders.

    Attributes
    ----------
    reads, seeds, results : Path
        Folders of the stages.
    params : Params
    """

    reads: Path
    seeds: Path
    results: Path
    params: Params

    def strips(self, tile: Tile) -> list[Path]:
        """Return where the strips of a tile are, or are to be."""
        bounds = self._strip_bounds(tile)
        return [self.results / f"{tile[0]}-{tile[1]}-{number}" for number in range(len(bounds) - 1)]

    def missing(self, tile: Tile) -> list[int]:
        """Return the numbers of the strips that are not finished."""
        return [number for number, path in enumerate(self.strips(tile)) if finished(path) is None]

    def _strip_bounds(self, tile: Tile) -> np.ndarray:
        """Return the queries, counted from the start of their block, at which strips start."""
        bounds = Artifact(self.seeds, {}).load("bounds", np.int64, tile[0], tile[0] + 2)
        lengths = Artifact(self.reads, {}).load("lengths", np.int64, int(bounds[0]), int(bounds[1]))
        return cut_evenly(lengths, STRIP_BASES)

    def run(self, tile: Tile, threads: int, numbers: list[int]) -> None:
        """Do some strips of a tile."""
        loaded = LoadedTile(self, tile, threads)
        bounds, paths = self._strip_bounds(tile), self.strips(tile)
        for number in numbers:
            with writing(paths[number]) as artifact:
                loaded.write(artifact, int(bounds[number]), int(bounds[number + 1]), threads)


class LoadedTile:
    """The reads and seeds of a tile, in memory."""

    def __init__(self, work: TileWork, tile: Tile, threads: int) -> None:
        store, seeds = ReadStore.open(_there(work.reads)), SeedStore(_there(work.seeds))
        blocks = [tile[0]] if tile[0] == tile[1] else list(tile)
        bounds = [(int(seeds.bounds[block]), int(seeds.bounds[block + 1])) for block in blocks]
        reads = Reads.concat([store.block(*bound) for bound in bounds])
        order = np.concatenate([store.order[start:stop] for start, stop in bounds])
        seeded, run_map = sketched_form(reads, work.params.sketch.homopolymer_compressed)
        of_blocks = [seeds.block(block) for block in blocks]
        index = tile_index(seeds, of_blocks[0], of_blocks[1] if len(blocks) > 1 else None, seeded, threads)
        first_target = bounds[0][1] - bounds[0][0] if len(blocks) > 1 else 0
        self._lengths = reads.lengths
        self._finder = DsoftFinder(seeded.lengths, index, work.params.dsoft, first_target)
        self._stages = pipeline.Tile(reads, order, seeded, run_map, work.params, None)

    def write(self, artifact: Artifact, start: int, stop: int, threads: int) -> None:
        """Write the overlaps of queries ``[start, stop)`` of the tile."""
        bounds = start + cut_evenly(self._lengths[start:stop], pipeline.BLOCK_BASES)

        def work(block: int) -> tuple[Overlaps, dict[str, int]]:
            candidates = self._finder.find(int(bounds[block]), int(bounds[block + 1]))
            return self._stages.overlaps(candidates)

        waiting: list[Overlaps] = []
        taken: dict[str, int] = {}
        for overlaps, counts in map_in_order(work, range(len(bounds) - 1), threads):
            if len(overlaps):
                waiting.append(overlaps)
            taken = {name: taken.get(name, 0) + count for name, count in counts.items()}
            if sum(map(_size, waiting)) >= PIECE_BYTES:
                write_piece(artifact, Overlaps.concat(waiting))
                waiting = []
        if waiting:
            write_piece(artifact, Overlaps.concat(waiting))
        artifact.facts["taken"] = taken


def _size(overlaps: Overlaps) -> int:
    """Return about how many bytes overlaps take."""
    return 64 * len(overlaps) + (0 if overlaps.cigar is None else overlaps.cigar.nbytes)
