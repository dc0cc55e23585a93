"""The run of ``overlapper overlap``: reads are read, overlaps found and written, in memory or in tiles."""

from __future__ import annotations

import dataclasses
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from overlapper.cli.overlap_request import OverlapRequest
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import RunFiles, work_folder
from overlapper.cli.workers import allowed, connected, devices_for

if TYPE_CHECKING:
    from overlapper.gpu.gpus import Opening
    from overlapper.io.read_store import ReadStore
    from overlapper.overlap.summary import Run
    from overlapper.overlap.tiles import Folder
    from overlapper.runtime.gpu.devices import Device
    from overlapper.tables import Reads


def find_and_write(
    request: OverlapRequest, copies: str | None, progress: Progress, files: RunFiles
) -> Run | None:
    """Find overlaps and write them; None when only a plan was asked for.

    Parameters
    ----------
    copies : str or None
        ``keep`` or ``separate`` to tell copies apart.
    """
    with ExitStack() as closing:
        folder, opened = None, None
        if request.tiled:
            devices = devices_for(request.extender, request.device, request.scheduler)
            request = dataclasses.replace(request, workers=allowed(request.workers, devices, progress))
        progress.report("reading")
        if request.tiled:
            store, folder = _on_disk(request, progress, closing)
        else:
            store, opened = _in_memory(request, copies, progress, closing)
        hints = request.hints(store.mapped())
        if request.plan and folder:
            from overlapper.overlap.pipeline import planned
            from overlapper.tiled.plan import describe

            params = planned(store, folder.budget, request.preset, request.changes)
            for line in (*describe(store, params, folder.budget), *hints):
                print(line)
            return None
        progress.note(*hints)
        writer = files.enter_context(request.open_output(store.names()))
        if folder:
            workers = connected(request.workers, request.scheduler, request.threads, devices, closing)
            folder = dataclasses.replace(folder, workers=workers)

        # Loaded while files are read, where they are read into memory.
        from overlapper.overlap.pipeline import find
        from overlapper.runtime.gpu.devices import end_gpus

        result = find(
            store, request.preset, changes=request.changes, threads=request.threads, device=request.device,
            gpu_memory=request.gpu_memory, folder=folder, opened=opened, report=progress.report,
        )  # fmt: skip
        if copies:
            result = _told_apart(request, result, store, copies == "separate", progress)
            end_gpus(result.devices)
        progress.report("writing")
        for overlaps in result.parts:
            writer.write(overlaps)
        return result


def _in_memory(
    request: OverlapRequest, copies: str | None, progress: Progress, closing: ExitStack
) -> tuple[ReadStore, Opening]:
    """Read the reads, and put them in order; the GPUs of the run are opened meanwhile."""
    from overlapper.runtime.threads import start

    reading: Future[Reads] = start(request.parts.together)

    # These are loaded while files are read.
    from overlapper.overlap import pipeline  # noqa: F401
    from overlapper.sketch.canonical import packed

    opened = _opened(request, copies, progress, reading, closing)
    reads = reading.result()
    del reading  # and with it the reads as they were
    progress.left_out(request.parts.left_out)
    progress.report("sorting reads")
    return packed(reads, request.threads), opened


def _opened(
    request: OverlapRequest,
    copies: str | None,
    progress: Progress,
    reading: Future[Reads],
    closing: ExitStack,
) -> Opening:
    """Open the GPUs of a run while reads are read, unless it depends on the reads whether any is used."""
    from overlapper.extend.on_gpus import opening
    from overlapper.extend.registry import device_for, extending_devices
    from overlapper.params.stages import Params
    from overlapper.runtime.gpu.devices import end_gpus, named

    params, threads, device = Params().changed(request.changes), request.threads, request.device
    known = device_for(params.extender, device, 0, threads) == device
    if not known:
        device = device_for(params.extender, device, reading.result().total_bases, threads)

    def choose() -> list[Device]:
        chosen = extending_devices(params.extender, device)
        progress.note(f"extending on {named(chosen, threads)}")
        return chosen

    ended = () if copies else (end_gpus,)  # to tell copies apart takes them again
    opened = closing.enter_context(opening(choose, request.gpu_memory, params, *ended))
    if known:
        either: list[Future[Any]] = [reading, opened.chosen]
        wait(either, return_when=FIRST_COMPLETED)
        if opened.chosen.done():
            opened.chosen.result()
    return opened


def _on_disk(request: OverlapRequest, progress: Progress, closing: ExitStack) -> tuple[ReadStore, Folder]:
    """Pack the reads in a work folder, unless they are there."""
    from overlapper.overlap.tiles import Folder
    from overlapper.tiled.reads import store_reads
    from overlapper.tiled.workdir import Workdir

    place = closing.enter_context(work_folder(request.workdir, request.output))
    workdir = closing.enter_context(Workdir(place, note=progress.note))
    store = store_reads(workdir, request.parts)
    progress.left_out(request.parts.left_out)
    return store, Folder(workdir, request.budget)


def _told_apart(
    request: OverlapRequest, result: Run, store: ReadStore, separate: bool, progress: Progress
) -> Run:
    """Count the differences of copies of overlaps, and leave out those that join different copies."""
    from overlapper.assembly.copy_differences import are_trans, count_copy_differences

    overlaps = count_copy_differences(
        store.mapped(), result.overlaps, preset=request.preset, threads=request.threads,
        device=request.device, gpu_memory=request.gpu_memory, order=store.order, report=progress.report,
    )  # fmt: skip
    if not separate:
        return dataclasses.replace(result, parts=[overlaps])
    within = overlaps.take(~are_trans(overlaps))
    counts = {"dropped: other copy": len(overlaps) - len(within), "overlaps": len(within)}
    funnel = {name: count for name, count in result.funnel.items() if name != "overlaps"} | counts
    return dataclasses.replace(result, parts=[within], funnel=funnel)
