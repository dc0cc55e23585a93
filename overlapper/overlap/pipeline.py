"""From reads to overlaps: the stages in the order they run."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Never

import numpy as np

from overlapper.candidates.dsoft_gpu import DsoftOnGpus
from overlapper.candidates.registry import QueryFinder
from overlapper.errors import OutOfMemoryError
from overlapper.extend import chain
from overlapper.extend.batches import cut_rising, gathered, warm_up
from overlapper.extend.chain_gpu import ChainsOnGpus
from overlapper.extend.cigars import with_cigars, without_cigars
from overlapper.extend.classify import extents
from overlapper.extend.on_gpus import finding, found_on, kernels_for, prepared
from overlapper.extend.registry import (
    ALIGNING,
    ON_GPUS,
    check_compression,
    device_for,
    extender,
    extending_devices,
)
from overlapper.extend.selection import Selection
from overlapper.extend.threshold import score_threshold
from overlapper.extend.xdrop_gpu import XdropOnGpus
from overlapper.gpu.gpus import Gpus, opening
from overlapper.io.given import GivenReads, reads_given
from overlapper.overlap.presets import ErrorRate, check_preset, preset_params, with_error_rate
from overlapper.overlap.summary import Run
from overlapper.params.shortcuts import merged, nested, refuse
from overlapper.params.stages import Params
from overlapper.runtime.clock import Clock
from overlapper.runtime.gpu.devices import Device
from overlapper.runtime.memory import free_memory
from overlapper.runtime.threads import available_threads, cut_evenly, map_in_order, share_for_threads, start
from overlapper.sketch.canonical import canonical_order, in_order
from overlapper.sketch.homopolymers import RunMap, compress_homopolymers
from overlapper.tables import Candidates, Overlaps, Reads
from overlapper.tables.overlaps import pair_order

BLOCK_BASES = 1 << 20
"""Query bases whose candidates are held at a time, on each thread; more where there are many."""
BLOCK_HITS = 1 << 23
"""Hits that these may have: where all reads overlap each other, a megabase of them would have billions."""
_COPIES = 2
"""How often overlaps are in memory when they are put in order."""
Report = Callable[[str, int, int], None]
"""``report(step, done, total)`` is told how far a run is."""


def find_overlaps(
    reads: GivenReads,
    preset: str = "auto",
    *,
    finder: str | None = None,
    extender: str | None = None,
    kmer_length: int | None = None,
    window: int | None = None,
    homopolymer_compressed: bool | None = None,
    min_overlap: int | None = None,
    keep_internal: bool | None = None,
    best: int | None = None,
    best_of_pair: int | None = None,
    changes: Mapping[str, Any] | None = None,
    threads: int | None = None,
    device: str = "auto",
    gpu_memory: int = 0,
    **unknown: Never,
) -> Overlaps:
    """Find the overlaps of all pairs of reads.

    Parameters
    ----------
    reads : Reads, path, or sequence of paths
        Files are those that `read_fastx` reads; several make one set.
    preset : str
        ``auto``, ``ont``, ``clr`` or ``hifi``.
    finder : str, optional
        How candidates are found: ``dsoft`` or ``spgemm``.
    extender : str, optional
        What becomes of them: ``chain``, ``xdrop`` or ``gact``.
    kmer_length, window : int, optional
        Bases of a seed, and k-mers of which the smallest seeds.
    homopolymer_compressed : bool, optional
        Seed on reads with homopolymer runs collapsed.
    min_overlap : int, optional
        Shortest overlap reported, in bases.
    keep_internal : bool, optional
        Report internal matches, too.
    best : int, optional
        Best overlaps of each read end to report; 0 for all.
    best_of_pair : int, optional
        Overlaps of a read pair to report at most; 0 for all.
    changes : mapping, optional
        Other parameters that differ from the preset, nested as in `Params`: ``{"dsoft": {"drift": 300}}``.
        What is given by a name of its own goes first.
    threads : int, optional
        All that are available by default; the result does not depend on it.
    device : str
        What candidates are extended on: ``cpu``; ``cuda`` for all GPUs, ``cuda:0,2`` for some; ``auto`` for
        all GPUs if there are any and the extender has kernels for them. The result does not depend on it.
    gpu_memory : int
        Bytes to take on each GPU at most; 0 takes what is free.

    Returns
    -------
    Overlaps
        At most one a pair, if ``best_of_pair`` says nothing else, in canonical order.

    Raises
    ------
    ParameterError
        When a parameter is unknown, which says where it belongs, or a value does not fit.

    Examples
    --------
    >>> from overlapper.simulate import random_genome, simulate_reads
    >>> reads, _ = simulate_reads(random_genome(20_000), "hifi", coverage=8)
    >>> overlaps = find_overlaps(reads, preset="hifi", min_overlap=500)
    >>> bool((overlaps.query < overlaps.target).all())
    True
    """
    refuse(unknown)
    given = {
        "finder": finder, "extender": extender, "kmer_length": kmer_length, "window": window,
        "homopolymer_compressed": homopolymer_compressed, "min_overlap": min_overlap,
        "keep_internal": keep_internal, "best": best, "best_of_pair": best_of_pair,
    }  # fmt: skip
    changes = merged(changes or {}, nested(given))
    Params().changed(changes)  # raises what is wrong before files are read
    check_preset(preset)
    threads = threads or available_threads()
    reads = reads_given(reads, threads)
    return run(reads, preset, changes=changes, threads=threads, device=device, gpu_memory=gpu_memory).overlaps


def run(
    reads: Reads,
    preset: str | ErrorRate = "auto",
    *,
    changes: Mapping[str, Any] | None = None,
    threads: int | None = None,
    device: str = "auto",
    gpu_memory: int = 0,
    order: np.ndarray | None = None,
    devices: Callable[[], Sequence[Device]] | None = None,
    report: Report = lambda step, done, total: None,
) -> Run:
    """Find overlaps and return them with counts and parameters; arguments as of `find_overlaps`, and these.

    Parameters
    ----------
    reads : Reads
    preset : str or ErrorRate
        Of reads whose error rate is known it is not estimated again.
    order : ndarray of int64, shape (reads,), optional
        When the reads are in canonical order already, which this was of (`canonical_order`): it numbers the
        reads of the overlaps, and who keeps no other copy of the reads saves its memory.
    devices : callable, optional
        Tells the devices that ``device`` means (`extending_devices`), where the driver was asked before: it
        takes a while to answer, in which the reads are seeded.
    report : callable, optional
        Is told how far the run is.
    """
    clock, threads = Clock(), threads or available_threads()
    if devices is None:
        extending = (changes or {}).get("extender", Params.extender)
        device = device_for(extending, device, reads.total_bases, threads)
        devices = partial(list, extending_devices(extending, device))
    if order is None:
        report("sorting reads", 0, 0)
        order = canonical_order(reads, threads)
        reads = in_order(reads, order, threads)
    clock.lap("order")

    report("choosing parameters", 0, 0)
    params, why = preset_params(reads, preset, threads, changes)
    clock.lap("parameters")
    with opening(devices, gpu_memory, reads, kernels_for(params), partial(warm_up, params)) as opened:
        return _run(reads, order, params, why, threads, opened, clock, report)


def _run(
    reads: Reads,
    order: np.ndarray,
    params: Params,
    why: str,
    threads: int,
    opened: Callable[[], Gpus | None],
    clock: Clock,
    report: Report,
) -> Run:
    report("seeding", 0, 0)
    seeded, run_map = reads, None
    if params.sketch.homopolymer_compressed:
        check_compression(params)
        seeded, run_map = compress_homopolymers(reads)
    aligning = params.extender in ALIGNING
    rating = start(partial(with_error_rate, params, seeded, threads)) if aligning else None
    seeder = prepared(opened, seeded, params, threads)
    params = (
        rating.result() if rating else with_typical(params, seeded, partial(finding, opened, seeder), threads)
    )
    clock.lap("seed")

    gpus, there = found_on(opened(), seeder, seeded, params)
    tile = Tile(reads, order, seeded, run_map, params, gpus)
    if there:
        bounds = there.blocks(0, len(reads))
    else:
        share = held_bases(share_for_threads(reads.total_bases, BLOCK_BASES, threads), seeder.hits_per_base())
        bounds = cut_rising(reads.lengths, share, threads) if gpus else cut_evenly(reads.lengths, share)
    blocks = list(itertools.pairwise(bounds.tolist()))

    lengths = np.empty_like(reads.lengths)
    lengths[order] = reads.lengths
    selection = Selection(lengths, params.classes, threads)
    parts: list[Overlaps] = []
    held, room = 0, free_memory()
    taken: dict[str, int] = {}
    for _, overlaps, counts in overlaps_of_blocks(tile, there or seeder, [blocks], threads, gpus, report):
        parts.append(selection.add(overlaps))
        held += parts[-1].nbytes
        if _COPIES * held > room:
            raise OutOfMemoryError(
                f"{sum(map(len, parts)):,} overlaps were found, more than the {room / 1e6:,.0f} MB of memory "
                "that were free can hold. --memory keeps overlaps on disk; --best, or a longer "
                "--min-overlap, leaves fewer"
            )
        taken = {name: taken.get(name, 0) + count for name, count in counts.items()}
    if gpus and taken:
        taken = {"candidates": taken["candidates"], **gpus.counts(), **taken}
    clock.lap("overlap")

    selection.settle(lambda: parts)
    parts = list(selection.chosen(parts))
    rows = pair_order(parts, threads)
    overlaps = Overlaps.gather([without_cigars(part) for part in parts], rows, threads)
    overlaps = with_cigars(overlaps, parts, rows, threads=threads)
    clock.lap("sort")
    funnel = {"reads": len(reads), "bases": reads.total_bases, **seeder.counts(), **taken, **selection.counts}
    devices = gpus.names if gpus else ["cpu"]
    return Run(params, why, devices, funnel, clock.seconds, clock.memory, overlaps)


def held_bases(bases: int, hits_per_base: float) -> int:
    """Return the query bases whose candidates are held at a time: so many, or as have `BLOCK_HITS`."""
    return bases if bases * hits_per_base <= BLOCK_HITS else max(1, int(BLOCK_HITS / hits_per_base))


def overlaps_of_blocks(
    tile: Tile,
    finder: QueryFinder | ChainsOnGpus | XdropOnGpus | DsoftOnGpus,
    strips: Sequence[Sequence[tuple[int, int]]],
    threads: int,
    gpus: Gpus | None,
    report: Report = lambda step, done, total: None,
) -> Iterator[tuple[int, Overlaps, dict[str, int]]]:
    """Yield what `Tile.overlaps` gives of the candidates of blocks of queries; GPUs take several at a time.

    Parameters
    ----------
    tile : Tile
    finder : QueryFinder, ChainsOnGpus, XdropOnGpus or DsoftOnGpus
    strips : sequence of sequence of tuple
        Blocks ``(start, stop)`` of each strip, a part of the queries whose results are kept apart. A strip is
        begun before the last results of the one before have come.
    threads : int
    gpus : Gpus or None
    report : callable
        Is told how many blocks are done.

    Yields
    ------
    tuple
        Number of the strip, overlaps, and how many each step took.
    """
    blocks = [(strip, *block) for strip, of_strip in enumerate(strips) for block in of_strip]

    def reported(results: Iterable) -> Iterator:
        for done, result in enumerate(results):
            report("overlapping", done + 1, len(blocks))
            yield result

    def extended(strip: int, candidates: Candidates) -> tuple[int, Overlaps, dict[str, int]]:
        return strip, *tile.overlaps(candidates)

    if isinstance(finder, ChainsOnGpus | XdropOnGpus):
        there, most = finder, threads + finder.slots
        yield from reported(
            map_in_order(lambda b: (b[0], *tile.judged(*there.find(b[1], b[2]))), blocks, most)
        )
        return
    find = finder.find
    if gpus is None:
        yield from reported(map_in_order(lambda b: extended(b[0], find(b[1], b[2])), blocks, threads))
        return
    slots, most = gpus.slots, ON_GPUS[tile.extender]
    found = reported(map_in_order(lambda b: (b[0], find(b[1], b[2]).without_hits()), blocks, threads))
    batches = (
        (strip, batch)
        for strip, of_strip in itertools.groupby(found, key=itemgetter(0))
        for batch in gathered((candidates for _, candidates in of_strip), len(strips[strip]), slots, most)
    )
    yield from map_in_order(lambda b: extended(*b), batches, slots + threads)


def with_typical(
    params: Params,
    reads: Reads,
    finding: Callable[[np.ndarray], Callable[[int], Candidates]],
    threads: int,
) -> Params:
    """Return the parameters with the agreement of chains that is typical of the reads, unless given.

    Parameters
    ----------
    params : Params
    reads : Reads
        In the form in which they are sketched.
    finding : callable
        Is given all queries of a sample, and gives what finds the candidates of one of them, on any thread.
    threads : int
    """
    if params.chain.typical_agreement:
        return params
    queries = chain.sample_queries(len(reads))
    find = finding(queries)
    measured = map_in_order(
        lambda query: chain.agreements(reads, find(query), params.chain), queries.tolist(), threads
    )
    return dataclasses.replace(params, chain=chain.with_typical(params.chain, measured))


class Tile:
    """The reads of a block of queries and its targets, and how its candidates are extended."""

    def __init__(
        self,
        reads: Reads,
        order: np.ndarray,
        seeded: Reads,
        run_map: RunMap | None,
        params: Params,
        gpus: Gpus | None,
    ) -> None:
        self._reads = reads
        self._order = order
        self._seeded = seeded
        self._run_map = run_map
        self._params = params
        self.extender = params.extender
        self._extend = extender(params.extender, gpus)
        self._extender_params: Any = getattr(params, params.extender, None)

    def overlaps(self, candidates: Candidates) -> tuple[Overlaps, dict[str, int]]:
        """Extend candidates and apply the score threshold; return what `judged` does."""
        found, dropped = self._extend(self._seeded, candidates, self._extender_params, 1)
        least = None
        if self.extender in ALIGNING:
            least = score_threshold(candidates.span, self._extender_params, self._params.threshold)
        taken = {"candidates": len(candidates)} | {f"dropped: {why}": n for why, n in dropped.items()}
        return self.judged(found, taken, least)

    def judged(
        self, found: Overlaps, taken: dict[str, int], least: np.ndarray | None = None
    ) -> tuple[Overlaps, dict[str, int]]:
        """Drop overlaps that are too short, or score less than ``least``; return the others, and all counts.

        Reads are numbered as they were given. Which of these overlaps are internal matches, all have to tell.
        """
        overlaps, counts = without_cigars(found), dict(taken)
        if self._run_map:
            overlaps = self._run_map.restore(overlaps)
        overlaps = dataclasses.replace(overlaps, kind=extents(overlaps, self._reads.lengths))
        kept = np.ones(len(overlaps), bool)

        def drop(why: str, faulty: np.ndarray) -> None:
            name = f"dropped: {why}"
            counts[name] = counts.get(name, 0) + int(np.count_nonzero(kept & faulty))
            kept[faulty] = False

        if least is not None:
            drop("low score", overlaps.score < least)
        shorter = np.minimum(overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start)
        drop("too short", shorter < self._params.classes.min_overlap)
        rows = np.flatnonzero(kept)
        overlaps = overlaps.take(rows)
        swapped = self._order[overlaps.query] > self._order[overlaps.target]
        return with_cigars(overlaps.renumber(self._order), [found], rows, swapped=swapped), counts
