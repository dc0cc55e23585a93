"""Worker processes of a run: how many are started, and on what; or those of a cluster."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from overlapper.cli.progress import Progress
from overlapper.runtime.messages import counted

if TYPE_CHECKING:
    from overlapper.overlap.distributed import Cluster


def devices_for(extender: str, device: str, scheduler: str | None) -> list[str]:
    """Return the devices that extend candidates; those of a cluster are for its workers to know."""
    from overlapper.extend.registry import extending_devices

    return [found.name for found in extending_devices(extender, "cpu" if scheduler else device)]


def allowed(workers: int, devices: list[str], progress: Progress) -> int:
    """Return how many processes are started: on processors, at most one for each."""
    from overlapper.runtime.threads import available_threads

    processors = available_threads()
    if workers <= processors or devices[0] != "cpu":
        return workers
    progress.note(
        f"starting {counted(processors, 'worker')}, one for each processor that may be used, not {workers}"
    )
    return processors


def connected(
    workers: int, scheduler: str | None, threads: int, devices: list[str], closing: ExitStack
) -> Cluster | None:
    """Connect to the processes that share the work, here or of a cluster, until ``closing``; None without."""
    if not workers and not scheduler:
        return None
    from overlapper.overlap.distributed import Cluster

    return closing.enter_context(Cluster(workers, scheduler, threads, devices))
