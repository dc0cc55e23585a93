"""Reads laid on targets by the finder and the chain extender (``docs/algorithms/correction.md``)."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from overlapper.candidates import registry
from overlapper.candidates.registry import QueryFinder
from overlapper.correction.pileups import Rows
from overlapper.correction.rounds import Round
from overlapper.extend import chain
from overlapper.extend.best_of_pair import best_of_pair
from overlapper.extend.classify import classify
from overlapper.io import folders
from overlapper.io.artifacts import writing
from overlapper.io.read_store import ReadStore
from overlapper.overlap.presets import ErrorRate, preset_params
from overlapper.overlap.tiles import agreements_of
from overlapper.params.stages import Params
from overlapper.runtime.messages import reported
from overlapper.runtime.threads import map_in_order
from overlapper.sketch.chosen_seeds import ChosenSeeds
from overlapper.tables import Candidates, OverlapClass, Overlaps, Reads
from overlapper.tables.samples import spread
from overlapper.tiled.plan import cut_blocks, fewest_tiles

SAMPLE_TARGETS = 16

Laid = tuple[Overlaps, np.ndarray]
"""Overlaps of reads with a target, which is the query, and a mask of the internal matches."""


def rows_on(
    targets: Reads, store: ReadStore, rate: ErrorRate, round_: Round, room: int | None, beside: Path
) -> Rows:
    """Lay reads on targets, here or on workers, with at most one row for each pair.

    Parameters
    ----------
    targets : Reads
    store : ReadStore
    rate : ErrorRate
        Of the reads.
    round_ : Round
    room : int or None
        Bytes that a tile may take: a block of targets and one of reads, with their seeds; None lays all reads
        on all targets at once.
    beside : Path
        Folder of the seeds of tiles in a memory budget, which is removed again.
    """
    threads, n, resources = round_.threads, len(targets), round_.resources
    round_.report("choosing parameters", 0, 0)
    params, _ = preset_params(store.mapped(), rate, threads)
    round_.report("seeding", 0, 0)
    targets, sample = targets.bases_alone(), spread(n, SAMPLE_TARGETS)
    with resources.folder(beside) as folder:
        if room is None or folder is None:
            whole, read_blocks = _Tile(targets, 0, store, 0, len(store), 0, params), 1
            reads, finder = loaded = whole.load(threads)
            sampled = [_with_reads(finder.find(target, target + 1), n) for target in sample.tolist()]
            measured = iter([chain.agreements(reads, Candidates.concat(sampled), params.chain)])
            params = chain.with_typical(params, measured)
            found = whole._replace(params=params).laid(threads, loaded)
        else:
            together = _Together(targets, store)
            seeds = _chosen_seeds(together, n, params, room, folder, round_)
            measured = agreements_of(together, seeds, sample, n, params, threads)
            params = chain.with_typical(params, measured)
            tiles, read_blocks = _tiles(targets, store, seeds, params)
            found = resources.each(_Tile.laid, tiles)
        rows = rows_of_laid(reported(found, "laying reads on windows", n * read_blocks, round_.report))
        if folder:
            folders.remove(folder)
    return rows


class _Tile(NamedTuple):
    """A block of targets and one of reads, loaded by whoever works on it.

    It is what a worker is sent (`overlapper.overlap.distributed.Part`).
    """

    targets: Reads
    first_target: int
    """Number of the first one."""
    store: ReadStore
    start: int
    stop: int
    """`start`, `stop`: of the reads in the store."""
    first_read: int
    """Number of the first one."""
    params: Params
    seeds: ChosenSeeds | None = None
    """None where this is the only tile."""
    blocks: Sequence[int] = ()
    """Those of the targets and of the reads, as the seeds number them."""

    @property
    def folders(self) -> list[Path]:
        """Of the reads and the seeds."""
        return [self.store.artifact.folder, *([self.seeds.artifact.folder] if self.seeds else [])]

    def whole(self) -> Self:
        """Return the same with its reads and seeds."""
        store = ReadStore.of(self.store.block(self.start, self.stop))
        seeds = self.seeds and self.seeds.only(self.blocks)
        return self._replace(store=store, start=0, stop=len(store), seeds=seeds, blocks=(0, 1))

    def load(self, threads: int) -> tuple[Reads, QueryFinder]:
        """Return the targets and the reads behind them, and the finder of their candidates."""
        reads = Reads.concat([self.targets, self.store.block(self.start, self.stop)])
        kind = registry.finder(self.params.finder)
        if self.seeds is None:
            return reads, kind.prepare(reads, self.params, threads)
        seeding, n = self.seeds.of_blocks(self.blocks), len(self.targets)
        return reads, kind.of_tile(reads, seeding, self.seeds, self.params, n, threads)

    def laid(self, threads: int, loaded: tuple[Reads, QueryFinder] | None = None) -> Iterator[Laid]:
        """Yield the overlaps of reads with each target, numbered as all targets and all reads are."""
        (together, finder), n, params = loaded or self.load(threads), len(self.targets), self.params

        def work(target: int) -> Laid:
            candidates = _with_reads(finder.find(target, target + 1), n)
            overlaps, _ = chain.extend(together, candidates, params.chain, 1)
            long = np.minimum(overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start)
            kept = best_of_pair(overlaps, long >= params.classes.min_overlap)
            inner = classify(overlaps, together.lengths) == OverlapClass.INTERNAL
            found = overlaps.take(kept)
            query, read = found.query + self.first_target, found.target + (self.first_read - n)
            return dataclasses.replace(found, query=query, target=read), inner[kept]

        return map_in_order(work, range(n), threads)


def _with_reads(candidates: Candidates, first_read: int) -> Candidates:
    """Return the candidates of targets with reads; those of two targets are left out."""
    return candidates.take(candidates.target >= first_read)


def _chosen_seeds(
    together: _Together, n: int, params: Params, room: int, folder: Path, round_: Round
) -> ChosenSeeds:
    """Choose which places seed, and cut ``n`` targets and the reads into blocks."""
    kind, fewest = registry.finder(params.finder), fewest_tiles(round_.resources.slots)
    with writing(folder) as artifact:
        seed_bytes = kind.BYTES_PER_SEED * kind.choose(artifact, together, params, room, round_.threads)
        total = max(int(together.lengths.sum()), 1)
        cuts = []
        for first, lengths in ((0, together.lengths[:n]), (n, together.lengths[n:])):
            of_seeds = seed_bytes * int(lengths.sum()) // total
            cuts.append(first + cut_blocks(lengths, of_seeds, room // 2, fewest))
        artifact.save("bounds", np.unique(np.concatenate(cuts)))
    return ChosenSeeds.at(folder)


def _tiles(
    targets: Reads, store: ReadStore, seeds: ChosenSeeds, params: Params
) -> tuple[Iterator[_Tile], int]:
    """Return all tiles, and how many blocks of reads there are."""
    n, bounds = len(targets), list(itertools.pairwise(seeds.bounds.tolist()))
    target_blocks = sum(first < n for first, _ in bounds)

    def tile(queries: int, block: int) -> _Tile:
        (first, last), (start, stop) = bounds[queries], bounds[block]
        on, start, stop = targets.rows(first, last), start - n, stop - n
        return _Tile(on, first, store, start, stop, start, params, seeds, (queries, block))

    numbers = itertools.product(range(target_blocks), range(target_blocks, len(bounds)))
    return itertools.starmap(tile, numbers), len(bounds) - target_blocks


class _Together:
    """Targets, and stored reads behind them, as what seeds are made from."""

    def __init__(self, targets: Reads, store: ReadStore) -> None:
        self._targets, self._store = targets, store
        self.lengths = np.concatenate([targets.lengths, store.lengths])

    def block(self, start: int, stop: int) -> Reads:
        """Return some of them."""
        n = len(self._targets)
        parts = [self._targets.rows(min(start, n), min(stop, n))]
        if stop > n:
            parts.append(self._store.block(max(start, n) - n, stop - n))
        return Reads.concat([part for part in parts if len(part)])

    def mapped(self) -> Reads:
        """Return all of them."""
        return self.block(0, len(self.lengths))


def rows_of_laid(parts: Iterable[Laid]) -> Rows:
    """Return the rows of all reads on targets, but for those of `bettered`."""
    rows, inner = [], []
    for found, internal in parts:
        rows.append(
            Rows(
                found.query, found.target, found.reverse,
                found.q_start, found.q_end, found.t_start, found.t_end, found.score, found.divergence,
            )
        )  # fmt: skip
        inner.append(internal)
    together = Rows.concat(rows)
    return together.take(~bettered(together, np.concatenate(inner)))


def bettered(rows: Rows, internal: np.ndarray) -> np.ndarray:
    """Return a mask of internal matches that share half of their read's interval or more with a better row.

    A true match stops short at a bad end of the read. So does a match with another copy of a repeat, but then
    the read has a better row where it comes from.

    Parameters
    ----------
    rows : Rows
    internal : ndarray of bool, shape (n,)
        Which rows end within both the target and the read.
    """
    order = np.lexsort((rows.target, rows.r_start, rows.r_end, -rows.score, rows.read))
    read, start, end = rows.read[order], rows.r_start[order], rows.r_end[order]
    first = np.searchsorted(read, read)
    worse = np.zeros(len(rows), bool)
    for i in np.flatnonzero(internal[order]):
        better = slice(first[i], i)
        shared = np.minimum(end[better], end[i]) - np.maximum(start[better], start[i])
        worse[order[i]] = 2 * shared.max(initial=0) >= end[i] - start[i]
    return worse
