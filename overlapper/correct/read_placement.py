"""Reads laid on targets by the finder and the chain extender (``docs/algorithms/correction.md``)."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from overlapper.candidates.registry import QueryFinder, finder
from overlapper.correct.pileups import Rows
from overlapper.correct.rounds import Round
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
    together = _Together(targets.bases_alone(), store)
    with resources.folder(beside) as folder:
        if room is None or folder is None:
            reads = together.mapped()
            whole = _Tile(reads, finder(params.finder).prepare(reads, params, threads), 0, n, n)
            sampled = [of_reads(whole.finder.find(t, t + 1), n) for t in sample_targets(n).tolist()]
            measured = iter([chain.agreements(reads, Candidates.concat(sampled), params.chain)])
            params, total = chain.with_typical(params, measured), n
            found = laid(whole, params, threads)
        else:
            seeds = _chosen_seeds(together, n, params, room, folder, round_)
            measured = agreements_of(together, seeds, sample_targets(n), n, params, threads)
            params = chain.with_typical(params, measured)
            tiles, read_blocks = _tiles(targets.bases_alone(), store, seeds, params)
            found, total = resources.each(_laid_in_tile, tiles), n * read_blocks
        rows = rows_of_laid(reported(found, "laying reads on windows", total, round_.report), n)
        if folder:
            folders.remove(folder)
    return rows


class _Tile(NamedTuple):
    """A block of targets, and one of reads behind them.

    Attributes
    ----------
    reads : Reads
    finder : QueryFinder
    first_target, targets : int
        Number of the first target, and how many there are.
    first_read : int
        Number of the first read, behind all targets.
    """

    reads: Reads
    finder: QueryFinder
    first_target: int
    targets: int
    first_read: int


def _chosen_seeds(
    together: _Together, n: int, params: Params, room: int, folder: Path, round_: Round
) -> ChosenSeeds:
    """Choose which places seed, and cut ``n`` targets and the reads into blocks."""
    kind, fewest = finder(params.finder), fewest_tiles(round_.resources.slots)
    with writing(folder) as artifact:
        seed_bytes = kind.BYTES_PER_SEED * kind.choose(artifact, together, params, room, round_.threads)
        total = max(int(together.lengths.sum()), 1)
        cuts = []
        for first, lengths in ((0, together.lengths[:n]), (n, together.lengths[n:])):
            of_seeds = seed_bytes * int(lengths.sum()) // total
            cuts.append(first + cut_blocks(lengths, of_seeds, room // 2, fewest))
        artifact.save("bounds", np.unique(np.concatenate(cuts)))
    return ChosenSeeds.at(folder)


class _TileToLoad(NamedTuple):
    """A `_Tile`, loaded by whoever works on it (`overlapper.overlap.distributed.Part`).

    Attributes
    ----------
    targets : Reads
    first_target : int
    store : ReadStore
    start, stop : int
        Of the reads in the store.
    first_read : int
        As of `_Tile`.
    seeds : ChosenSeeds
    blocks : list of int
        Those of the targets and of the reads.
    params : Params
    """

    targets: Reads
    first_target: int
    store: ReadStore
    start: int
    stop: int
    first_read: int
    seeds: ChosenSeeds
    blocks: list[int]
    params: Params

    @property
    def folders(self) -> list[Path]:
        """Of the reads and the seeds."""
        return [self.store.artifact.folder, self.seeds.artifact.folder]

    def whole(self) -> Self:
        """Return the same with its reads and seeds."""
        store = ReadStore.of(self.store.block(self.start, self.stop))
        seeds = self.seeds.only(self.blocks)
        return self._replace(store=store, start=0, stop=len(store), seeds=seeds, blocks=[0, 1])

    def load(self, threads: int) -> _Tile:
        """Return the tile."""
        reads = Reads.concat([self.targets, self.store.block(self.start, self.stop)])
        n, seeding = len(self.targets), self.seeds.of_blocks(self.blocks)
        of_tile = finder(self.params.finder).of_tile(reads, seeding, self.seeds, self.params, n, threads)
        return _Tile(reads, of_tile, self.first_target, n, self.first_read)


def _tiles(
    targets: Reads, store: ReadStore, seeds: ChosenSeeds, params: Params
) -> tuple[Iterator[_TileToLoad], int]:
    """Return all tiles, and how many blocks of reads there are."""
    n, bounds = len(targets), list(itertools.pairwise(seeds.bounds.tolist()))
    target_blocks = sum(first < n for first, _ in bounds)

    def tile(queries: int, block: int) -> _TileToLoad:
        (first, last), (start, stop) = bounds[queries], bounds[block]
        on = targets.rows(first, last)
        return _TileToLoad(on, first, store, start - n, stop - n, start, seeds, [queries, block], params)

    numbers = itertools.product(range(target_blocks), range(target_blocks, len(bounds)))
    return itertools.starmap(tile, numbers), len(bounds) - target_blocks


def _laid_in_tile(tile: _TileToLoad, threads: int) -> Iterator[Laid]:
    return laid(tile.load(threads), tile.params, threads)


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


def sample_targets(n: int) -> np.ndarray:
    """Return the targets on which the typical agreement of chains is measured, evenly spread."""
    return spread(n, SAMPLE_TARGETS)


def of_reads(candidates: Candidates, first_read: int) -> Candidates:
    """Return the candidates of targets with reads; those of two targets are left out."""
    return candidates.take(candidates.target >= first_read)


def laid(tile: _Tile, params: Params, threads: int) -> Iterator[Laid]:
    """Yield the overlaps of reads with each target of a tile, numbered as all targets and reads are."""
    together, n = tile.reads, tile.targets

    def work(target: int) -> Laid:
        candidates = of_reads(tile.finder.find(target, target + 1), n)
        overlaps, _ = chain.extend(together, candidates, params.chain, 1)
        long = np.minimum(overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start)
        kept = best_of_pair(overlaps, long >= params.classes.min_overlap)
        inner = classify(overlaps, together.lengths) == OverlapClass.INTERNAL
        found = overlaps.take(kept)
        numbered = dataclasses.replace(
            found, query=found.query + tile.first_target, target=found.target + (tile.first_read - n)
        )
        return numbered, inner[kept]

    return map_in_order(work, range(n), threads)


def rows_of_laid(parts: Iterable[Laid], first_read: int) -> Rows:
    """Return the rows of all reads on targets, but for those of `bettered`.

    Parameters
    ----------
    parts : iterable of Laid
    first_read : int
        Number of targets, which come before the reads.
    """
    rows, inner = [], []
    for found, internal in parts:
        rows.append(
            Rows(
                found.query, found.target - first_read, found.reverse,
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
