"""From reads to overlaps: the stages of a run, in order.

A run in memory is a run of one tile.
"""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Never

from overlapper.extend.chain import with_typical
from overlapper.extend.on_gpus import opening
from overlapper.extend.registry import ALIGNING, device_for, extending_devices
from overlapper.extend.selection import Selection
from overlapper.gpu.gpus import Opening
from overlapper.io.folders import ANYTHING, temporary_folder
from overlapper.io.given import GivenReads, reads_given
from overlapper.io.read_store import ReadStore
from overlapper.overlap.found import ChosenOverlaps, FoundOverlaps
from overlapper.overlap.inside import Inside
from overlapper.overlap.presets import ErrorRate, check_preset, preset_params, with_error_rate
from overlapper.overlap.summary import Run
from overlapper.overlap.tiles import Folder, Tiles, choose_seeds
from overlapper.params.shortcuts import SECTIONS, merged, nested, refuse
from overlapper.params.stages import Params
from overlapper.runtime.clock import Clock
from overlapper.runtime.messages import Report, unreported
from overlapper.runtime.threads import available_threads, start
from overlapper.sketch.canonical import packed
from overlapper.tables import Overlaps, Reads
from overlapper.tiled.plan import Budget
from overlapper.tiled.reads import store_reads
from overlapper.tiled.workdir import Workdir


def find_overlaps(
    reads: GivenReads,
    preset: str = "auto",
    *,
    finder: str | None = None,
    extender: str | None = None,
    kmer_length: int | None = None,
    window: int | None = None,
    min_overlap: int | None = None,
    keep_internal: bool | None = None,
    best: int | None = None,
    best_of_pair: int | None = None,
    changes: Mapping[str, Any] | None = None,
    threads: int | None = None,
    device: str = "auto",
    gpu_memory: int = 0,
    client: Any = None,
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
    client : dask.distributed.Client, optional
        Whose workers find the overlaps; they change nothing but the time, and need no common folder.

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
    refuse(unknown, Params(), SECTIONS)
    given = {
        "finder": finder, "extender": extender, "kmer_length": kmer_length, "window": window,
        "min_overlap": min_overlap, "keep_internal": keep_internal, "best": best,
        "best_of_pair": best_of_pair,
    }  # fmt: skip
    changes = merged(changes or {}, nested(given))
    Params().changed(changes)  # raises what is wrong before files are read
    check_preset(preset)
    threads = threads or available_threads()
    return run(
        reads_given(reads, threads), preset, changes=changes, threads=threads, device=device,
        gpu_memory=gpu_memory, client=client,
    ).overlaps  # fmt: skip


def run(
    reads: Reads,
    preset: str | ErrorRate = "auto",
    *,
    changes: Mapping[str, Any] | None = None,
    threads: int | None = None,
    device: str = "auto",
    gpu_memory: int = 0,
    client: Any = None,
    report: Report = unreported,
) -> Run:
    """Find overlaps; return them with counts and parameters.

    Other arguments are those of `find_overlaps`.

    Parameters
    ----------
    reads : Reads
    preset : str or ErrorRate
        An `ErrorRate` is taken as it is; nothing is estimated.
    report : callable, optional
        Receives the progress of the run.
    """
    threads = threads or available_threads()
    report("sorting reads", 0, 0)
    with contextlib.ExitStack() as opened:
        folder = None
        if client is None:
            store = packed(reads, threads)
        else:
            from overlapper.overlap.distributed import Cluster

            place = opened.enter_context(temporary_folder(tempfile.gettempdir(), ANYTHING)) / "work"
            workdir, workers = opened.enter_context(Workdir(place)), Cluster(0, None, threads, client=client)
            store = store_reads(workdir, [reads])
            folder = Folder(workdir, Budget.of(0, threads), workers=workers)
        found = find(
            store, preset, changes=changes, threads=threads, device=device, gpu_memory=gpu_memory,
            folder=folder, report=report,
        )  # fmt: skip
        return dataclasses.replace(found, parts=[found.overlaps]) if folder else found


def find(
    store: ReadStore,
    preset: str | ErrorRate = "auto",
    *,
    changes: Mapping[str, Any] | None = None,
    threads: int,
    device: str = "auto",
    gpu_memory: int = 0,
    folder: Folder | None = None,
    opened: Opening | None = None,
    report: Report = unreported,
) -> Run:
    """Find the overlaps of reads that are in the order of their content: all stages of a run.

    Parameters
    ----------
    preset, changes, threads, device, gpu_memory, report
        As `run` takes them.
    folder : Folder, optional
        Where and within what memory to work; in memory without it.
    opened : Opening, optional
        GPUs that were opened while the reads were read, for a run in memory: in place of ``device`` and
        ``gpu_memory``. They are closed as soon as all overlaps are found.
    """
    clock = Clock()
    inside = Inside.of(store, changes, threads, folder.workdir if folder else None)
    store = inside.store
    clock.lap("adapters")

    if folder is None:
        opened = opened or _opened(store, changes, threads, device, gpu_memory)
        opened.hold(store.mapped())
    with opened or contextlib.nullcontext():
        report("choosing parameters", 0, 0)
        params, why = preset_params(store.mapped(), preset, threads, changes)
        clock.lap("parameters")

        report("seeding", 0, 0)
        rating = None
        if params.extender in ALIGNING:  # the error rate is estimated while seeds are found
            rating = start(partial(with_error_rate, params, store.mapped(), threads))
        device = device_for(params.extender, device, int(store.lengths.sum()), threads)
        tiles = Tiles(store, choose_seeds(store, params, folder, threads), params, device, gpu_memory)
        whole = tiles.load((0, 0), threads, opened) if len(tiles.numbers) == 1 else None
        if rating:
            params = rating.result()
        else:
            params = with_typical(params, tiles.agreements(whole, opened, threads))
        clock.lap("seed")

        selection = Selection(store.names().lengths, params.classes, threads)
        tiles = dataclasses.replace(tiles, params=params)
        if folder is None:
            assert whole and opened
            found = FoundOverlaps.of_whole(whole, params, opened, selection, threads, report)
        else:
            found = FoundOverlaps.of_tiles(tiles, whole, folder, selection, threads, report)
        del whole  # Seeds take most of the memory, and overlaps are copied when they are put in order.
        if opened:
            opened.close()  # after the seeds that are on GPUs
        clock.lap("overlap")

        selection.decide(found)
        parts: Iterable[Overlaps] = ChosenOverlaps(found, selection, inside, threads)
        if folder is None:
            parts = list(parts)
            clock.lap("sort")
    funnel = {**inside.counts(), **found.counts, **selection.counts}
    return Run(params, why, found.devices, funnel, clock.seconds, clock.memory, parts)


def _opened(
    store: ReadStore, changes: Mapping[str, Any] | None, threads: int, device: str, gpu_memory: int
) -> Opening:
    """Open the GPUs of a run in memory, if it is to use any."""
    wanted = Params().changed(changes or {})
    device = device_for(wanted.extender, device, int(store.lengths.sum()), threads)
    devices = extending_devices(wanted.extender, device)
    return opening(lambda: devices, gpu_memory, wanted)


def planned(
    store: ReadStore, budget: Budget, preset: str | ErrorRate, changes: Mapping[str, Any] | None
) -> Params:
    """Return the parameters as far as they follow from the reads.

    Parameters
    ----------
    changes : mapping or None
        Parameters that differ from the preset.
    """
    params, _ = preset_params(store.mapped(), preset, budget.threads, changes)
    budget.left(len(store))
    return params
