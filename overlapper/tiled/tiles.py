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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from overlapper.candidates import registry
from overlapper.extend import chain
from overlapper.extend.registry import ALIGNING, check_compression, device_for
from overlapper.extend.selection import Selection
from overlapper.io.artifacts import Artifact, finished, writing
from overlapper.io.fastx import FastxParts
from overlapper.io.identity import Input, QualitiesDigest, ReadsDigest, states_of
from overlapper.io.read_store import ReadStore
from overlapper.io.sorted_parts import read_parts
from overlapper.overlap.pipeline import Found, run_stages
from overlapper.overlap.presets import ErrorRate, preset_params, with_error_rate
from overlapper.overlap.summary import Summary
from overlapper.overlap.tile import Tile
from overlapper.params.stages import Params
from overlapper.runtime.clock import Clock
from overlapper.runtime.messages import Report, counted
from overlapper.sketch.chosen_seeds import ChosenSeeds
from overlapper.sketch.homopolymers import sketched_form
from overlapper.tables import Candidates, Overlaps, Reads, Seeding
from overlapper.tiled.plan import Budget, cut_blocks, tile_bytes
from overlapper.tiled.tile_work import TileNumber, TileWork, finished_artifact
from overlapper.tiled.workdir import Workdir

RunTiles = Callable[[TileWork, list[TileNumber], Report], None]
"""``run_tiles(work, tiles, report)`` finishes the strips of tiles that are not finished."""


@dataclasses.dataclass(frozen=True)
class TiledRun(Summary):
    """What a run made, its overlaps on disk.

    Attributes
    ----------
    overlaps : callable
        Yields the overlaps in canonical order, numbered as the input, some at a time.
    """

    overlaps: Callable[[], Iterator[Overlaps]]


class _GivenReads:
    """Reads that are given; what they hold is digested as they pass.

    Parameters
    ----------
    parts : iterable of Reads

    Attributes
    ----------
    files : FastxParts or None
        The parts, if they are files.
    with_qualities : bool
        Whether their qualities are stored.
    unread : Input
        The reads as an input, without a digest.
    passing : iterator of Reads
        The parts, to be gone through once.
    """

    def __init__(self, parts: Iterable[Reads]) -> None:
        self.files = files = parts if isinstance(parts, FastxParts) else None
        self.with_qualities = files is not None and files.keep_qualities
        self.unread = (
            files.as_input("reads", "", states_of(files.sources)) if files else Input("reads", [], "")
        )
        self._content, self._qualities = ReadsDigest(), QualitiesDigest()
        self.passing = self._qualities.of_each(self._content.of_each(parts))

    def as_input(self) -> Input:
        """Return the reads as an input, once all of them have passed."""
        left_out = self.files.left_out if self.files else {}
        return dataclasses.replace(self.unread, digest=self._content.hexdigest(), left_out=left_out)

    def digest_of_qualities(self) -> str:
        """Return the digest of the qualities, once all reads have passed."""
        return self._qualities.hexdigest()


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
    given = _GivenReads(parts)
    path = workdir.folder / ("reads-with-qualities" if given.with_qualities else "reads")
    kept = finished(path, verify=True)
    if kept is None:
        _write_reads(workdir, path, given)
    else:
        workdir.begin([_same_reads(workdir, kept, given)])
    return ReadStore.open(finished_artifact(path))


def _write_reads(workdir: Workdir, path: Path, given: _GivenReads) -> None:
    """Pack reads to disk, and begin the work on them."""
    with writing(path) as artifact:
        heads = ReadStore.write(artifact, given.passing)
        if given.files:
            given.files.check(heads)
        this = given.as_input()
        artifact.facts |= {"content": this.digest, "qualities as read": given.digest_of_qualities()}
        workdir.begin([this])


def _same_reads(workdir: Workdir, kept: Artifact, given: _GivenReads) -> Input:
    """Return reads as an input, after checking that they are those which were packed.

    They are read only if their files were touched since, or are none.
    """
    known = workdir.untouched(given.unread)
    if given.with_qualities and not workdir.untouched(dataclasses.replace(given.unread, what="qualities")):
        known = None
    if known is None:
        collections.deque(given.passing, maxlen=0)
    elif given.files:
        given.files.left_out = known.left_out
    this = known or given.as_input()
    if kept.facts["content"] != this.digest:
        raise workdir.other_input(this)
    if not known and given.with_qualities and kept.facts["qualities as read"] != given.digest_of_qualities():
        raise workdir.other_input(dataclasses.replace(this, what="qualities"))
    return this


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
    report: Report = lambda step, done, total: None,
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
    stored = StoredRun(store, workdir, budget, device, gpu_memory, run_tiles, note)
    summary, chosen = run_stages(stored, preset, changes, clock, report)
    return TiledRun(**vars(summary), overlaps=chosen)


class StoredRun:
    """A run whose reads, seeds and overlaps are on disk; see `overlapper.overlap.pipeline.Store`.

    The parameters are those of `run_tiled`.
    """

    def __init__(
        self,
        store: ReadStore,
        workdir: Workdir,
        budget: Budget,
        device: str,
        gpu_memory: int,
        run_tiles: RunTiles | None,
        note: Callable[[str], None],
    ) -> None:
        self._store, self._workdir, self._budget = store, workdir, budget
        self._device, self._gpu_memory = device, gpu_memory
        self._run_tiles, self._note = run_tiles, note
        self.threads, self.all_reads = budget.threads, store.mapped
        self._whole: Tile | None = None

    @property
    def lengths(self) -> np.ndarray:
        """See `Store`."""
        return self._store.names().lengths

    def seed(self, params: Params) -> Params:
        """See `Store`."""
        self.write_seeds(params)
        return self.fitted(params)

    def write_seeds(self, params: Params) -> None:
        """Choose which places seed, unless that is there, or one tile has all reads."""
        store, threads = self._store, self.threads
        room, finder = self._budget.left(len(store)), registry.finder(params.finder)
        path: Path | None = self._workdir.path("seeds", *finder.depends_on(params), *_content(store))
        bases, fewest = int(store.lengths.sum()), self._budget.fewest_tiles
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
        device = device_for(params.extender, self._device, bases, threads)
        results = self._workdir.folder
        self.work = TileWork(store.artifact.folder, path, results, params, device, self._gpu_memory)

    def fitted(self, params: Params) -> Params:
        """Return the parameters with what the extender takes from the read set."""
        if params.extender in ALIGNING:
            return with_error_rate(params, self._store.mapped(), self.threads)
        return chain.with_typical(params, self._agreements(params))

    def _agreements(self, params: Params) -> Iterator[np.ndarray]:
        """Yield the agreement of chains of some queries; where one tile is all, it stays loaded."""
        store, chosen = self._store, self.work.chosen()
        if chosen and len(chosen.bounds) > 2:
            queries = chain.sample_queries(len(store))
            yield from agreements_of(store, chosen, queries, 0, params, self.threads)
        else:
            yield from self._loaded().agreements(params, lambda: None, self.threads)

    def _loaded(self) -> Tile:
        """Return the tile that has all reads."""
        self._whole = self._whole or self.work.loaded((0, 0), self.threads)
        return self._whole

    def find(self, params: Params, selection: Selection, report: Report) -> Found:
        """See `Store`; tiles are done unless they are done already."""
        for difference in self._workdir.changed(dataclasses.asdict(params)):
            self._note(difference)
        bounds = self.work.bounds()
        key = [dataclasses.asdict(params), bounds.tolist(), *_content(self._store)]
        work = dataclasses.replace(self.work, params=params, results=self._workdir.path("overlaps", *key))
        tiles = list(itertools.combinations_with_replacement(range(len(bounds) - 1), 2))
        missing = [tile for tile in tiles if work.missing(tile, verify=True)]
        if len(missing) < len(tiles):
            self._note(f"done already: {len(tiles) - len(missing)} of {counted(len(tiles), 'tile')}")
        (self._run_tiles or self._one_by_one)(work, missing, report)
        strips = [finished_artifact(path) for tile in tiles for path in work.strips(tile)]
        taken: Counter[str] = Counter()
        for strip in strips:
            taken.update(strip.facts["taken"])
        devices = sorted({name for strip in strips for name in strip.facts["devices"]}) or ["cpu"]
        chosen = self.work.chosen()
        counts = chosen.counts if chosen else self._loaded().finder.counts()
        found = Found(lambda: read_parts(strips, len(self._store)), {**counts, **taken}, devices)
        for overlaps in found.overlaps():
            selection.add(overlaps)
        return found

    def _one_by_one(self, work: TileWork, tiles: list[TileNumber], report: Report) -> None:
        """Do tiles in this process."""
        for done, tile in enumerate(tiles):
            report("overlapping", done, len(tiles))
            work.run(tile, self.threads, work.missing(tile), self._whole)


def planned(
    store: ReadStore, budget: Budget, preset: str | ErrorRate, changes: Mapping[str, Any] | None
) -> Params:
    """Return the parameters as far as they follow from the reads.

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
    params, _ = preset_params(store.mapped(), preset, budget.threads, changes)
    check_compression(params)
    budget.left(len(store))
    return params


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
    for start, stop in itertools.pairwise(chosen.bounds.tolist()):
        if start < first_read or not n:
            continue
        targets, _ = sketched_form(store.block(start, stop), compressed)
        reads, seeding = (
            Reads.concat([sampled, targets]),
            Seeding.concat([places, chosen.seeding(start, stop)]),
        )
        finder = kind.of_tile(reads, seeding, chosen, params, n, threads)
        sample = Candidates.concat([finder.find(query, query + 1) for query in range(n)])
        later = sample.target - n + start > queries[sample.query]
        yield chain.agreements(reads, sample.take(later), params.chain)
