"""Reads laid on targets by the finder and the chain extender (``docs/algorithms/correction.md``)."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from overlapper.candidates.registry import finder
from overlapper.correct.pileups import Rows
from overlapper.correct.rounds import Round
from overlapper.extend import chain
from overlapper.extend.best_of_pair import best_of_pair
from overlapper.extend.classify import classify
from overlapper.io import folders
from overlapper.io.artifacts import finished_artifact, writing
from overlapper.io.read_store import ReadStore
from overlapper.overlap.presets import ErrorRate, preset_params
from overlapper.overlap.tiles import agreements_of
from overlapper.params.stages import Params
from overlapper.runtime.threads import map_in_order
from overlapper.sketch.chosen_seeds import ChosenSeeds
from overlapper.tables import Candidates, OverlapClass, Overlaps, Reads
from overlapper.tables.samples import spread
from overlapper.tiled.plan import cut_blocks

SAMPLE_TARGETS = 16

Laid = tuple[Overlaps, np.ndarray]
"""Overlaps of reads with a target, which is the query, and a mask of the internal matches."""


def rows_on(
    targets: Reads, store: ReadStore, rate: ErrorRate, round_: Round, room: int | None, beside: Path
) -> Rows:
    """Lay reads on targets, with at most one row for each pair.

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
        Folder of the seeds of tiles, which is removed again.
    """
    threads, n = round_.threads, len(targets)
    round_.report("choosing parameters", 0, 0)
    params, _ = preset_params(store.mapped(), rate, threads)
    round_.report("seeding", 0, 0)
    if room is None:
        found = _laid_at_once(targets, store, params, round_)
    else:
        found = _laid_in_tiles(targets, store, params, round_, room, beside)
    return rows_of_laid(found, n)


def _laid_at_once(targets: Reads, store: ReadStore, params: Params, round_: Round) -> Iterator[Laid]:
    """Yield the reads that lie on each target."""
    threads, n = round_.threads, len(targets)
    together = Reads.concat([targets.bases_alone(), store.mapped()])
    find = finder(params.finder).prepare(together, params, threads).find
    sampled = Candidates.concat([of_reads(find(t, t + 1), n) for t in sample_targets(n).tolist()])
    params = chain.with_typical(params, [chain.agreements(together, sampled, params.chain)])
    for done, part in enumerate(laid(together, find, n, params, threads)):
        yield part
        round_.report("laying reads on windows", done + 1, n)


def _laid_in_tiles(
    targets: Reads, store: ReadStore, params: Params, round_: Round, room: int, beside: Path
) -> Iterator[Laid]:
    """Yield the reads that lie on targets, a block of targets and one of reads at a time."""
    together, n, threads = _Together(targets.bases_alone(), store), len(targets), round_.threads
    kind = finder(params.finder)
    with writing(beside) as artifact:
        seed_bytes = kind.BYTES_PER_SEED * kind.choose(artifact, together, params, room, threads)
        total = int(together.lengths.sum())
        cuts = []
        for first, lengths in ((0, targets.lengths), (n, store.lengths)):
            of_seeds = seed_bytes * int(lengths.sum()) // max(total, 1)
            cuts.append(first + cut_blocks(lengths, of_seeds, room // 2))
        artifact.save("bounds", np.unique(np.concatenate(cuts)))
    seeds = ChosenSeeds(finished_artifact(beside))
    measured = agreements_of(together, seeds, sample_targets(n), n, params, threads)
    params = chain.with_typical(params, measured)
    bounds = list(enumerate(itertools.pairwise(seeds.bounds.tolist())))
    of_targets = [block for block in bounds if block[1][0] < n]
    tiles = list(itertools.product(of_targets, bounds[len(of_targets) :]))
    for done, ((queries, (first, last)), (block, (start, stop))) in enumerate(tiles):
        round_.report("laying reads on windows", done, len(tiles))
        reads = Reads.concat([together.block(first, last), together.block(start, stop)])
        seeding = seeds.of_blocks([queries, block])
        find = kind.of_tile(reads, seeding, seeds, params, last - first, threads).find
        for found, internal in laid(reads, find, last - first, params, threads):
            numbered = dataclasses.replace(
                found, query=found.query + first, target=found.target + (start - (last - first))
            )
            yield numbered, internal
    folders.remove(beside)


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


def laid(
    together: Reads, find: Callable[[int, int], Candidates], n: int, params: Params, threads: int
) -> Iterator[Laid]:
    """Yield the overlaps of reads with each of ``n`` targets.

    Parameters
    ----------
    together : Reads
        Targets, then reads.
    find : callable
        ``find(start, stop)`` returns the candidates of a range of targets.
    n : int
    params : Params
    threads : int
    """

    def work(target: int) -> Laid:
        overlaps, _ = chain.extend(together, of_reads(find(target, target + 1), n), params.chain, 1)
        long = np.minimum(overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start)
        kept = best_of_pair(overlaps, long >= params.classes.min_overlap)
        inner = classify(overlaps, together.lengths) == OverlapClass.INTERNAL
        return overlaps.take(kept), inner[kept]

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
