"""From reads to overlaps: the stages of a run, in order.

A run in memory is a run of one tile.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Never

import numpy as np

from overlapper.extend.cigars import with_cigars, without_cigars
from overlapper.extend.on_gpus import kernels_for
from overlapper.extend.registry import check_compression, device_for, extending_devices
from overlapper.extend.selection import Selection
from overlapper.gpu.opening import Opening
from overlapper.io.given import GivenReads, reads_given
from overlapper.io.read_store import ReadStore
from overlapper.overlap.inside import Inside
from overlapper.overlap.presets import ErrorRate, check_preset, preset_params
from overlapper.overlap.summary import Run, Summary, TiledRun
from overlapper.overlap.tiles import Folder, Tiles
from overlapper.params.shortcuts import merged, nested, refuse
from overlapper.params.stages import Params
from overlapper.runtime.clock import Clock
from overlapper.runtime.gpu.devices import Device
from overlapper.runtime.messages import Report, unreported
from overlapper.runtime.threads import available_threads
from overlapper.sketch.canonical import canonical_order, in_order
from overlapper.tables import Overlaps, Reads
from overlapper.tables.overlaps import pair_order
from overlapper.tiled.plan import Budget


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
    reads : Reads, path, or sequence of paths or of bases
        Files are those that `read_fastx` reads; several make one set.
    preset : str
        ``auto``, ``ont``, ``clr`` or ``hifi``.
    finder : str, optional
        How candidates are found: ``dsoft`` or ``spgemm``.
    extender : str, optional
        How candidates become overlaps: ``chain``, ``xdrop``, ``gact`` or ``exact``.
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
        Further changes of the preset's parameters, nested as in `Params`: ``{"dsoft": {"drift": 300}}``. The
        arguments above go before them.
    threads : int, optional
        All that are available by default; the result does not depend on it.
    device : str
        What candidates are extended on: ``cpu``; ``cuda`` for all GPUs, ``cuda:0,2`` for some; ``auto`` for
        all GPUs if there are any and the extender has kernels for them, and for chains the CPU where there
        are fewer than 10 million bases a thread (`overlapper.extend.registry.device_for`). The result does
        not depend on it.
    gpu_memory : int
        Bytes to take on each GPU at most; 0 takes what is free.

    Returns
    -------
    Overlaps
        In canonical order; at most one a pair unless ``best_of_pair`` is given.

    Raises
    ------
    ParameterError
        When a parameter is unknown (the message says where it belongs) or a value is out of range.
    InputError
        When a file of reads cannot be read, or is not what it should be.
    OutOfMemoryError
        When there is too little memory to put the overlaps in order.
    DeviceError, MissingExtraError
        When a GPU that was asked for is missing or unusable, or a GPU fails.

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
    opened: Opening | None = None,
    report: Report = unreported,
) -> Run:
    """Find overlaps; return them with counts and parameters.

    Other arguments are those of `find_overlaps`.

    Parameters
    ----------
    reads : Reads
    preset : str or ErrorRate
        An `ErrorRate` is taken as it is; nothing is estimated.
    order : ndarray of int64, shape (reads,), optional
        The number of each read in the input, when ``reads`` are in canonical order already
        (`canonical_order`). This saves the memory of a second, sorted copy of the reads.
    opened : Opening, optional
        What `opening` returned, in place of ``device`` and ``gpu_memory``, when GPUs were opened while the
        reads were read; it is closed as soon as all overlaps are found.
    report : callable, optional
        Receives the progress of the run.
    """
    clock, threads = Clock(), threads or available_threads()
    if opened is None:
        extending = (changes or {}).get("extender", Params.extender)
        device = device_for(extending, device, reads.total_bases, threads)
        devices = extending_devices(extending, device)
        opened = opening(lambda: devices, gpu_memory, changes)
    with opened:
        return _run(reads, preset, changes, threads, order, opened, clock, report)


def opening(
    choose: Callable[[], Sequence[Device]],
    memory: int,
    changes: Mapping[str, Any] | None,
    closed: Callable[[Sequence[str]], object] = lambda names: None,
) -> Opening:
    """Open the GPUs of a run in the background, before its parameters are chosen.

    Parameters
    ----------
    choose, memory, closed
        As `Opening` takes them.
    changes : mapping, optional
        As `run` takes it.
    """
    return Opening(choose, memory, kernels_for(Params().changed(changes or {})), closed)


def _run(
    reads: Reads,
    preset: str | ErrorRate,
    changes: Mapping[str, Any] | None,
    threads: int,
    order: np.ndarray | None,
    opened: Opening,
    clock: Clock,
    report: Report,
) -> Run:
    """Find overlaps as `run` does, on GPUs that are being opened."""
    if order is None:
        report("sorting reads", 0, 0)
        order = canonical_order(reads, threads)
        reads = in_order(reads, order, threads)
    clock.lap("order")

    inside = Inside.of(dataclasses.replace(ReadStore.of(reads), order=order), changes, threads)
    clock.lap("adapters")

    opened.hold(inside.store.mapped())
    tiles = Tiles(inside.store, threads, opened)
    summary, chosen = run_stages(tiles, preset, changes, clock, report)
    parts = list(inside.on_whole(chosen()))
    del chosen  # and with it what was found
    rows = pair_order(parts, threads)
    overlaps = Overlaps.gather([without_cigars(part) for part in parts], rows, threads)
    overlaps = with_cigars(overlaps, parts, rows, threads=threads)
    clock.lap("sort")
    summary = dataclasses.replace(summary, funnel=inside.funnel(summary.funnel))
    return Run(**vars(summary), overlaps=overlaps)


def run_tiled(
    store: ReadStore,
    folder: Folder,
    preset: str | ErrorRate = "auto",
    *,
    changes: Mapping[str, Any] | None = None,
    report: Report = unreported,
) -> TiledRun:
    """Find the overlaps of stored reads in a memory budget.

    Parameters
    ----------
    store : ReadStore
    folder : Folder
        Where and within what the run works.
    preset, changes, report
        As `run` takes them.
    """
    clock, threads = Clock(), folder.budget.threads
    inside = Inside.of(store, changes, threads, folder.workdir)
    clock.lap("adapters")
    summary, chosen = run_stages(Tiles(inside.store, threads, folder=folder), preset, changes, clock, report)
    summary = dataclasses.replace(summary, funnel=inside.funnel(summary.funnel))
    return TiledRun(**vars(summary), overlaps=lambda: inside.on_whole(chosen()))


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


def run_stages(
    tiles: Tiles, preset: str | ErrorRate, changes: Mapping[str, Any] | None, clock: Clock, report: Report
) -> tuple[Summary, Callable[[], Iterator[Overlaps]]]:
    """Run all stages; return the summary, and a function that yields the reported overlaps in parts.

    Parameters
    ----------
    tiles : Tiles
    preset, changes, report
        As `run` takes them.
    clock : Clock
        That the summary is made from.
    """
    store = tiles.store
    report("choosing parameters", 0, 0)
    params, why = preset_params(store.mapped(), preset, tiles.threads, changes)
    check_compression(params)
    clock.lap("parameters")

    report("seeding", 0, 0)
    params = tiles.seeded(params)
    clock.lap("seed")

    lengths = np.empty_like(store.lengths)
    lengths[store.order] = store.lengths
    selection = Selection(lengths, params.classes, tiles.threads)
    found = tiles.overlaps(params, selection, report)
    clock.lap("overlap")

    selection.decide(found)
    funnel = {"reads": len(lengths), "bases": int(lengths.sum()), **found.counts, **selection.counts}
    summary = Summary(params, why, found.devices, funnel, clock.seconds, clock.memory)
    return summary, lambda: selection.chosen(found)
