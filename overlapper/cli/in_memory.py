"""``overlapper overlap`` in memory: the reads and all their overlaps at once."""

from __future__ import annotations

import contextlib
import dataclasses
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TYPE_CHECKING, Any

from overlapper.cli.overlap_request import OverlapRequest
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import RunFiles

if TYPE_CHECKING:
    import numpy as np

    from overlapper.gpu.opening import Opening
    from overlapper.overlap.summary import Run
    from overlapper.runtime.gpu.devices import Device
    from overlapper.tables import Reads


def run_in_memory(request: OverlapRequest, copies: str | None, progress: Progress, files: RunFiles) -> Run:
    """Find overlaps, tell copies apart where that is asked for, and write them."""
    from overlapper.runtime.threads import start

    progress.report("reading")
    reading: Future[Reads] = start(request.parts.together)

    # These are loaded while files are read.
    from overlapper.io.sided import open_sided
    from overlapper.overlap.pipeline import run
    from overlapper.runtime.gpu.devices import end_gpus
    from overlapper.sketch.canonical import canonical_order, in_order

    with contextlib.ExitStack() as closing:
        opened = _opened(request, copies, progress, reading, closing)
        table, threads = reading.result(), request.threads
        del reading  # and with it the reads as they were
        progress.left_out(request.parts.left_out)
        writer = files.enter_context(
            open_sided(request.output, table.heads(), **request.sides, threads=threads)
        )
        progress.report("sorting reads")
        order = canonical_order(table, threads)
        table = in_order(table, order, threads)
        for line in request.hints(table):
            progress.note(line)
        result = run(
            table, request.preset, changes=request.changes, threads=threads, order=order, opened=opened,
            report=progress.report,
        )  # fmt: skip
        if copies:
            result = _told_apart(request, result, table, order, copies == "separate", progress)
            end_gpus(result.devices)
        progress.report("writing")
        writer.write(result.overlaps)
    return result


def _opened(
    request: OverlapRequest,
    copies: str | None,
    progress: Progress,
    reading: Future[Reads],
    closing: contextlib.ExitStack,
) -> Opening:
    """Open the GPUs of a run while reads are read, unless it depends on the reads whether any is used.

    Raises
    ------
    OverlapperError
        What is wrong with the devices, if that is known before all reads are there.
    """
    from overlapper.extend.registry import device_for, extending_devices
    from overlapper.overlap.pipeline import opening
    from overlapper.runtime.gpu.devices import end_gpus, named

    extending, threads = request.extender, request.threads

    def opened_on(device: str) -> Opening:
        def choose() -> list[Device]:
            chosen = extending_devices(extending, device)
            progress.note(f"extending on {named(chosen, threads)}")
            return chosen

        ended = () if copies else (end_gpus,)  # to tell copies apart takes them again
        return closing.enter_context(opening(choose, request.gpu_memory, request.changes, *ended))

    if device_for(extending, request.device, 0, threads) != request.device:
        return opened_on(device_for(extending, request.device, reading.result().total_bases, threads))
    opened = opened_on(request.device)
    either: list[Future[Any]] = [reading, opened.chosen]
    wait(either, return_when=FIRST_COMPLETED)
    if opened.chosen.done():
        opened.chosen.result()
    return opened


def _told_apart(
    request: OverlapRequest, result: Run, table: Reads, order: np.ndarray, separate: bool, progress: Progress
) -> Run:
    """Count the differences of copies of overlaps, and leave out those that join different copies."""
    from overlapper.assemble.copy_differences import are_trans, count_copy_differences

    overlaps = count_copy_differences(
        table, result.overlaps, preset=request.preset, threads=request.threads, device=request.device,
        gpu_memory=request.gpu_memory, order=order, report=progress.report,
    )  # fmt: skip
    if not separate:
        return dataclasses.replace(result, overlaps=overlaps)
    within = overlaps.take(~are_trans(overlaps))
    counts = {"dropped: other copy": len(overlaps) - len(within), "overlaps": len(within)}
    funnel = {name: count for name, count in result.funnel.items() if name != "overlaps"} | counts
    return dataclasses.replace(result, overlaps=within, funnel=funnel)
