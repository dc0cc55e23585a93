"""Overlaps in a memory budget: reads in blocks, pairs of blocks as tiles, finished ones kept on disk.

The reads are packed to disk in canonical order, and cut into blocks; a tile is a block of queries against a
block of targets. What a pair of reads gives depends on these two and on what is decided from all reads
before: parameters, the order of the reads, which k-mers seed, what agreement is typical. So the overlaps
do not depend on how the reads are cut.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from overlapper.candidates.blocks import IN_BLOCKS, SeededBlocks, SeedSource, sketched_form
from overlapper.extend import chain
from overlapper.extend.on_gpus import finding
from overlapper.extend.registry import ALIGNING, check_compression, device_for
from overlapper.extend.selection import Selection
from overlapper.io.artifacts import Artifact, finished, writing
from overlapper.io.fastx import FastxParts
from overlapper.io.identity import Input, QualitiesDigest, ReadsDigest, states_of
from overlapper.io.pieces import read_pieces
from overlapper.io.read_store import ReadStore
from overlapper.overlap import pipeline
from overlapper.overlap.presets import ErrorRate, preset_params, with_error_rate
from overlapper.overlap.summary import Summary
from overlapper.params.stages import Params
from overlapper.runtime.clock import Clock
from overlapper.tables import Candidates, Overlaps, Reads
from overlapper.tiled.plan import Budget, cut_blocks, tile_bytes
from overlapper.tiled.tile_work import LoadedTile, Tile, TileWork, there
from overlapper.tiled.workdir import Workdir

RunTiles = Callable[["TileWork", list[Tile], pipeline.Report], None]
"""``run_tiles(work, tiles, report)`` finishes the strips of tiles that are not finished."""


@dataclasses.dataclass(frozen=True)
class TiledRun(Summary):
    """What a run made, its overlaps on disk.

    Attributes
    ----------
    reads : Reads
        Names and lengths, without bases.
    strips : list of Artifact
    selection : Selection
        What is reported of them.
    """

    reads: Reads
    strips: list[Artifact]
    selection: Selection

    def overlaps(self) -> Iterator[Overlaps]:
        """Yield the overlaps in canonical order, numbered as the input, some at a time."""
        yield from self.selection.chosen(read_pieces(self.strips, len(self.reads)))


def store_reads(workdir: Workdir, parts: Iterable[Reads]) -> ReadStore:
    """Return the packed reads of a folder; they are written if they are not there.

    Parameters
    ----------
    workdir : Workdir
    parts : iterable of Reads
        Gone through once at most: files (`FastxParts`) not at all when the packed reads are theirs, and they
        were not touched since.

    Raises
    ------
    InputError
        When the work in the folder was begun on other reads.
    """
    files = parts if isinstance(parts, FastxParts) else None
    takes_qualities = files is not None and files.keep_qualities
    path = workdir.folder / ("reads-with-qualities" if takes_qualities else "reads")
    given = files.as_input("reads", "", states_of(files.sources)) if files else Input("reads", [], "")
    kept = finished(path, verify=True)
    passing, qualities = ReadsDigest(), QualitiesDigest()
    read = qualities.of_each(passing.of_each(parts))

    def as_read() -> Input:
        """Return the input once all of it has passed."""
        left_out = files.left_out if files else {}
        return dataclasses.replace(given, digest=passing.hexdigest(), left_out=left_out)

    if kept is None:
        with writing(path) as artifact:
            heads = ReadStore.write(artifact, read)
            if files:
                files.check(heads)
            this = as_read()
            artifact.facts |= {"content": this.digest, "qualities as read": qualities.hexdigest()}
            workdir.begin([this])
    else:
        seen = workdir.seen(given)
        if takes_qualities and not workdir.seen(dataclasses.replace(given, what="qualities")):
            seen = None
        if seen is None:
            collections.deque(read, maxlen=0)
        elif files:
            files.left_out = seen.left_out
        this = seen or as_read()
        # Packed by one of the first versions, they are known by their files alone.
        if kept.facts.get("content", this.digest) != this.digest:
            raise workdir.other(this)
        if not seen and takes_qualities and kept.facts["qualities as read"] != qualities.hexdigest():
            raise workdir.other(dataclasses.replace(this, what="qualities"))
        workdir.begin([this])
    return ReadStore.open(there(path))


def run_tiled(
    store: ReadStore,
    workdir: Workdir,
    budget: Budget,
    preset: str | ErrorRate = "auto",
    *,
    changes: Mapping[str, Any] | None = None,
    device: str = "auto",
    gpu_memory: int = 0,
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
    preset, changes, device, gpu_memory
        As in `overlapper.find_overlaps`.
    run_tiles : callable, optional
        See `RunTiles`; one tile after the other in this process by default.
    report, note : callable
        Are told how far the run is, and what the user should know.
    """
    clock = Clock()
    report("choosing parameters", 0, 0)
    params, why, room = planned(store, budget, preset, changes)
    clock.lap("parameters")

    report("seeding", 0, 0)
    seeds_path = _seed(store, workdir, params, room, budget)
    device = device_for(params.extender, device, int(store.lengths.sum()), budget.threads)
    work = TileWork(store.artifact.folder, seeds_path, workdir.folder, params, device, gpu_memory)
    fitted, whole = _fitted(work, budget.threads)
    clock.lap("seed")

    for difference in workdir.changed(dataclasses.asdict(fitted)):
        note(f"parameters differ from the last run in {workdir.folder}: {difference}")
    seeds = work.blocks()
    key = [dataclasses.asdict(fitted), seeds.bounds.tolist(), *_content(store)]
    work = dataclasses.replace(work, params=fitted, results=workdir.path("overlaps", *key))
    n_blocks = len(seeds.bounds) - 1
    tiles = [(query, target) for query in range(n_blocks) for target in range(query, n_blocks)]
    missing = [tile for tile in tiles if work.missing(tile, verify=True)]
    if len(missing) < len(tiles):
        note(f"{len(tiles) - len(missing)} of {len(tiles)} tiles are done already")
    (run_tiles or _one_by_one(budget.threads, whole))(work, missing, report)
    clock.lap("overlap")

    strips = [there(path) for tile in tiles for path in work.strips(tile)]
    taken: dict[str, int] = {}
    for strip in strips:
        taken = {name: taken.get(name, 0) + count for name, count in strip.facts["taken"].items()}
    devices = sorted({name for strip in strips for name in strip.facts["devices"]}) or ["cpu"]
    reads = store.names()
    selection = Selection(reads.lengths, fitted.classes, budget.threads)
    for overlaps in read_pieces(strips, len(reads)):
        selection.add(overlaps)
    selection.settle(lambda: read_pieces(strips, len(reads)))
    funnel = {
        "reads": len(store),
        "bases": int(store.lengths.sum()),
        **seeds.counts,
        **taken,
        **selection.counts,
    }
    return TiledRun(fitted, why, devices, funnel, clock.seconds, clock.memory, reads, strips, selection)


def planned(
    store: ReadStore, budget: Budget, preset: str | ErrorRate, changes: Mapping[str, Any] | None
) -> tuple[Params, str, int]:
    """Return the parameters as far as they follow from the reads, why, and the bytes that a tile may take.

    Parameters
    ----------
    store : ReadStore
    budget : Budget
    preset : str or ErrorRate
    changes : mapping or None
        Parameters that differ from the preset.

    Raises
    ------
    ParameterError
        When the parameters contradict each other, or the budget is too small.
    """
    params, why = preset_params(store.mapped(), preset, budget.threads, changes)
    check_compression(params)
    return params, why, budget.left(len(store))


def _seed(store: ReadStore, workdir: Workdir, params: Params, room: int, budget: Budget) -> Path:
    """Return the folder of seeds; they are written unless they are there, in blocks that fit."""
    blocks = IN_BLOCKS[params.finder]
    path = workdir.path("seeds", *blocks.depends_on(params), *_content(store))
    known = finished(path, verify=True)
    if known is None or known.facts["tile_bytes"] > room:
        with writing(path) as artifact:

            def cut(seed_bytes: int) -> np.ndarray:
                bounds = cut_blocks(store.lengths, seed_bytes, room, budget.fewest_tiles)
                whole = tile_bytes(int(store.lengths.sum()), seed_bytes)
                artifact.facts["tile_bytes"] = min(whole, 2 * whole // (len(bounds) - 1))
                return bounds

            blocks.write(artifact, store, params, room, budget.threads, cut)
    return path


def _content(store: ReadStore) -> list[str]:
    """Return what tells the reads that stages are made of; nothing where one of the first versions packed."""
    content = store.artifact.facts.get("content")
    return [content] if content else []


def _one_by_one(threads: int, whole: LoadedTile | None) -> RunTiles:
    """Return what does tiles in this process; the tile of all reads may be loaded already."""

    def run(work: TileWork, tiles: list[Tile], report: pipeline.Report) -> None:
        for done, tile in enumerate(tiles):
            report("overlapping", done, len(tiles))
            work.run(tile, threads, work.missing(tile), whole)

    return run


def _fitted(work: TileWork, threads: int) -> tuple[Params, LoadedTile | None]:
    """Return the parameters with what the extender takes from the read set, as `pipeline.run` does.

    Where one tile is all, and had to be loaded for it, this is returned, too.
    """
    params, store, seeds = work.params, work.store(), work.blocks()
    if params.extender in ALIGNING:
        return with_error_rate(params, store.mapped(), threads), None
    if params.chain.typical_agreement:
        return params, None
    if len(seeds.bounds) == 2:
        whole = LoadedTile(work, (0, 0), threads)
        find = partial(finding, lambda: None, whole.finder)
        return pipeline.with_typical(params, whole.seeded, find, threads), whole
    queries = chain.sample_queries(len(store))
    measured = agreements_of(store, seeds, queries, 0, params, threads)
    return dataclasses.replace(params, chain=chain.with_typical(params.chain, measured)), None


def agreements_of(
    store: SeedSource, seeds: SeededBlocks, queries: np.ndarray, first_read: int, params: Params, threads: int
) -> Iterator[np.ndarray]:
    """Yield the agreement of chains (`overlapper.extend.chain`) of some queries with each block of reads.

    Parameters
    ----------
    store : SeedSource
    seeds : SeededBlocks
        Of several blocks.
    queries : ndarray of int64
        Ascending.
    first_read : int
        At which blocks begin that count.
    params : Params
    threads : int
    """
    compressed = params.sketch.homopolymer_compressed
    sampled, _ = sketched_form(
        Reads.concat([store.block(query, query + 1) for query in queries.tolist()]), compressed
    )
    finder_with = seeds.sample(queries, sampled)
    for block, (start, stop) in enumerate(itertools.pairwise(seeds.bounds.tolist())):
        if start < first_read:
            continue
        targets, _ = sketched_form(store.block(start, stop), compressed)
        reads = Reads.concat([sampled, targets])
        finder = finder_with(block, reads, threads)
        found = [finder.find(query, query + 1) for query in range(len(queries))]
        sample = Candidates.concat(found or [finder.find(0, 0)])
        later = sample.target - len(queries) + start > queries[sample.query]
        yield chain.agreements(reads, sample.take(later), params.chain)
