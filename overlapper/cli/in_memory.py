"""``overlapper overlap`` in memory: the reads and all their overlaps at once."""

from __future__ import annotations

import dataclasses
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from typing import TYPE_CHECKING, Any

from overlapper.cli.overlap_request import OverlapRequest
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import RunFiles

if TYPE_CHECKING:
    import numpy as np

    from overlapper.overlap.summary import Run
    from overlapper.runtime.gpu.devices import Device
    from overlapper.tables import Reads


def run_in_memory(request: OverlapRequest, copies: str | None, progress: Progress, files: RunFiles) -> Run:
    """Find overlaps, tell copies apart where that is asked for, and write them."""
    from overlapper.extend.registry import device_for, extending_devices
    from overlapper.io.sided import open_sided
    from overlapper.overlap.pipeline import run
    from overlapper.runtime.gpu.devices import end_gpus, named
    from overlapper.runtime.threads import start
    from overlapper.sketch.canonical import canonical_order, in_order

    extending, threads = request.extender, request.threads
    progress.report("reading")
    reading: Future[Reads] = start(request.parts.together)
    known = device_for(extending, request.device, 0, threads)  # how many bases there are is told later
    choosing: Future[list[Device]] = start(partial(extending_devices, extending, known))
    either: list[Future[Any]] = [reading, choosing]
    wait(either, return_when=FIRST_COMPLETED)
    if choosing.done():
        choosing.result()  # raises what is wrong with the devices before all reads are there
    table = reading.result()
    del reading, either  # and with it the reads as they were
    progress.left_out(request.parts.left_out)
    device = device_for(extending, request.device, table.total_bases, threads)
    if device != known:
        choosing = start(partial(extending_devices, extending, device))

    def devices() -> list[Device]:
        chosen = choosing.result()
        progress.note(f"extending on {named(chosen, threads)}")
        return chosen

    writer = files.enter_context(open_sided(request.output, table.heads(), **request.sides, threads=threads))
    progress.report("sorting reads")
    order = canonical_order(table, threads)
    table = in_order(table, order, threads)
    result = run(
        table, request.preset, changes=request.changes, threads=threads,
        gpu_memory=request.gpu_memory, order=order, devices=devices, report=progress.report,
    )  # fmt: skip
    if copies:
        result = _told_apart(request, result, table, order, copies == "separate", progress)
    progress.report("writing")
    end_gpus(result.devices)
    writer.write(result.overlaps)
    return result


def _told_apart(
    request: OverlapRequest, result: Run, table: Reads, order: np.ndarray, separate: bool, progress: Progress
) -> Run:
    """Count the differences of copies of overlaps, and leave out those that join different copies."""
    from overlapper.assemble.told_apart import are_trans, count_copy_differences

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
