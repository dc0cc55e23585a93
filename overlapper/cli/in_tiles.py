"""``overlapper overlap`` in a memory budget, from a folder that a run can be resumed in, or on a cluster."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from overlapper.cli.overlap_request import OverlapRequest
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import RunFiles
from overlapper.errors import OutputError
from overlapper.runtime import cleanup
from overlapper.runtime.messages import counted

if TYPE_CHECKING:
    from overlapper.overlap.distributed import Cluster
    from overlapper.overlap.summary import TiledRun


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of a run (memory, disk, workers) and its work folder; 0 and None where not given.

    Attributes
    ----------
    memory, disk : int
        Bytes.
    workdir : str or None
    plan : bool
        Only say what a run would take.
    workers : int
        Processes to start.
    scheduler : str or None
        Address of a Dask scheduler.
    """

    memory: int = 0
    disk: int = 0
    workdir: str | None = None
    plan: bool = False
    workers: int = 0
    scheduler: str | None = None

    @property
    def given(self) -> bool:
        """Whether any is given, which asks for tiles."""
        return self != Limits()


def run_in_tiles(
    request: OverlapRequest, limits: Limits, progress: Progress, files: RunFiles
) -> TiledRun | None:
    """Find overlaps in tiles and write them; None when only a plan was asked for."""
    from overlapper.extend.registry import extending_devices
    from overlapper.io.sided import open_sided
    from overlapper.overlap.pipeline import planned, run_tiled
    from overlapper.overlap.tiles import Folder
    from overlapper.tiled.plan import Budget, check_disk, describe
    from overlapper.tiled.reads import store_reads
    from overlapper.tiled.workdir import Workdir

    threads = request.threads
    # The devices of a cluster are for its workers to know.
    found = extending_devices(request.extender, "cpu" if limits.scheduler else request.device)
    devices = [device.name for device in found]
    limits = _with_processors(limits, devices, progress)
    with work_folder(limits.workdir, request.output) as folder:
        progress.report("reading")
        with Workdir(folder) as workdir:
            store = store_reads(workdir, request.parts)
            progress.left_out(request.parts.left_out)
            budget = Budget.of(limits.memory, threads, max(1, limits.workers))
            if limits.plan or limits.disk:
                params = planned(store, budget, request.preset, request.changes)
            hints = request.hints(store.mapped())
            if limits.plan:
                for line in (*describe(store, params, budget), *hints):
                    print(line)
                return None
            for line in hints:
                progress.note(line)
            if limits.disk:
                check_disk(store, params, budget.threads, limits.disk)
            writer = files.enter_context(
                open_sided(request.output, store.names(), **request.sides, threads=threads)
            )
            with _cluster(limits, threads, devices) as cluster:
                if cluster:
                    budget = dataclasses.replace(budget, workers=cluster.size)
                run_tiles = cluster.run_tiles if cluster else None
                place = Folder(workdir, budget, request.device, request.gpu_memory, run_tiles, progress.note)
                result = run_tiled(
                    store, place, request.preset, changes=request.changes, report=progress.report
                )
            progress.report("writing")
            for overlaps in result.overlaps():
                writer.write(overlaps)
            return result


@contextlib.contextmanager
def work_folder(workdir: str | None, output: str) -> Iterator[str]:
    """Yield the folder to work in: a temporary one beside the output if none is given."""
    if workdir is not None:
        with cleanup.resumable():
            yield workdir
        return
    from overlapper.io.folders import temporary_folder
    from overlapper.runtime.streams import is_stream

    beside = tempfile.gettempdir() if is_stream(output) else os.path.dirname(os.path.realpath(output))
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(temporary_folder(beside, "work/lock"))
        except OSError as error:
            raise OutputError(
                f"no folder to work in can be made in {beside}: {error.strerror}. Name one with --workdir"
            ) from None
        yield str(folder / "work")


def _with_processors(limits: Limits, devices: list[str], progress: Progress) -> Limits:
    """Return limits with at most as many worker processes as there are processors."""
    from overlapper.runtime.threads import available_threads

    processors = available_threads()
    if limits.workers <= processors or devices[0] != "cpu":
        return limits
    progress.note(
        f"starting {counted(processors, 'worker')}, one for each processor that may be used, "
        f"not {limits.workers}"
    )
    return dataclasses.replace(limits, workers=processors)


def _cluster(limits: Limits, threads: int, devices: list[str]) -> AbstractContextManager[Cluster | None]:
    """Connect to the processes that do tiles, here or of a cluster; None if this process does them."""
    if not limits.workers and not limits.scheduler:
        return contextlib.nullcontext()
    from overlapper.overlap.distributed import Cluster

    return Cluster(limits.workers, limits.scheduler, threads, devices)
