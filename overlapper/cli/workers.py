"""Worker processes of a run: how many are started, and on what."""

from __future__ import annotations

from overlapper.cli.progress import Progress
from overlapper.runtime.messages import counted


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
