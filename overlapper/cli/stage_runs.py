"""Runs of `correct`, `polish` and `assemble`: reads and stages in memory, or on disk in a memory budget."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from overlapper.cli.progress import Progress
from overlapper.cli.run_files import work_folder
from overlapper.cli.run_request import RunRequest
from overlapper.cli.workers import allowed, connected, devices_for

if TYPE_CHECKING:
    from overlapper.correction.resources import Resources
    from overlapper.io.identity import Input
    from overlapper.io.read_store import ReadStore
    from overlapper.overlap.distributed import Cluster
    from overlapper.runtime.gpu.devices import Device
    from overlapper.tables import Reads
    from overlapper.tiled.workdir import Workdir


def _no_others(heads: Reads) -> list[Input]:
    return []


@dataclasses.dataclass(frozen=True)
class StageRun(RunRequest):
    """A run of stages; see `RunRequest` for the other attributes."""

    params: Any
    """Dataclass; parameters; what the result depends on is in these, the preset and the reads alone."""
    option: str = "--workdir"
    """What the user names the folder with."""

    def __post_init__(self) -> None:
        from overlapper.tiled.workdir import check_workdir

        if self.workdir:
            check_workdir(self.workdir, self.option)
        super().__post_init__()
        _ = self.devices

    @functools.cached_property
    def devices(self) -> list[Device]:
        """What overlaps are found on."""
        from overlapper.runtime.gpu.devices import select_devices

        return select_devices(self.device)

    @property
    def on_disk(self) -> bool:
        """Whether reads and overlaps are on disk, as a budget or workers want it."""
        return bool(self.memory or self.workers or self.scheduler)

    def note_devices(self, bases: int, progress: Progress) -> None:
        """Log on what overlaps of so many bases of reads are found."""
        from overlapper.extend.registry import FROM_SEEDS_ON_GPUS, device_for
        from overlapper.runtime.gpu.devices import named, select_devices

        taken = device_for(FROM_SEEDS_ON_GPUS, self.device, bases, self.threads)
        devices = self.devices if taken == self.device else select_devices(taken)
        progress.note(f"overlaps on {named(devices, self.threads)}")

    def facts(self) -> dict[str, Any]:
        """Return devices and parameters, for the record of the run."""
        return {
            "devices": [device.name for device in self.devices],
            "params": dataclasses.asdict(self.params),
        }

    def print_plan(self, progress: Progress, rounds: int, unitig_bases: int = 0) -> None:
        """Read the reads, and print what a run would take (`overlapper.assembly.budget_estimate`)."""
        from overlapper.assembly.budget_estimate import describe
        from overlapper.overlap.pipeline import planned

        alone = dataclasses.replace(self, memory=self.budget.memory, workers=0, scheduler=None)
        with alone.opened(progress) as (store, _):
            params = planned(store, self.budget, self.preset, None)
            for line in describe(store, params, self.budget, rounds, unitig_bases):
                print(line)

    @contextlib.contextmanager
    def opened(
        self, progress: Progress, others: Callable[[Reads], list[Input]] = _no_others
    ) -> Iterator[tuple[ReadStore, Resources]]:
        """Yield the reads, in memory or, in a memory budget or for workers, on disk; and what may be taken.

        Without a folder of the user's what is on disk is in a temporary one beside the output.

        Parameters
        ----------
        others : callable
            Gives the inputs besides reads, when the names and lengths of these are there.
        """
        from overlapper.correction.resources import Resources
        from overlapper.tiled.reads import store_reads
        from overlapper.tiled.stages import Stages
        from overlapper.tiled.workdir import Workdir

        parts, stages = self.parts, Stages()
        with contextlib.ExitStack() as closing:
            place = None
            workers = self._workers(progress, closing)
            if self.on_disk or self.workdir:
                folder = closing.enter_context(work_folder(self.workdir, self.output))
                note = progress.note if self.workdir else lambda text: None
                place = closing.enter_context(Workdir(folder, option=self.option, note=note))
            progress.report("reading")
            if self.on_disk and place:
                store = store_reads(place, parts)
                progress.left_out(parts.left_out)
            else:
                store = self._in_memory(progress, place)
            inputs = others(store.names())
            if place:
                place.begin(inputs)
                if self.workdir:
                    place.note_changes({"preset": self.preset, **dataclasses.asdict(self.params)})
                stages = Stages(place, self.budget if self.on_disk else None)
            yield store, Resources(stages, self.threads, self.device, self.gpu_memory, workers)

    def _workers(self, progress: Progress, closing: contextlib.ExitStack) -> Cluster | None:
        """Start or find the processes that share the work, if any are to."""
        if not self.workers and not self.scheduler:
            return None
        from overlapper.extend.registry import FROM_SEEDS_ON_GPUS

        devices = devices_for(FROM_SEEDS_ON_GPUS, self.device, self.scheduler)
        number = allowed(self.workers, devices, progress)
        return connected(number, self.scheduler, self.threads, devices, closing)

    def _in_memory(self, progress: Progress, place: Workdir | None) -> ReadStore:
        """Read the reads into memory, and begin the work on them where it is kept."""
        from overlapper.io.identity import DIGESTS, digest_of_reads, states_of
        from overlapper.runtime.threads import start
        from overlapper.sketch.canonical import packed

        states, given = states_of(self.parts.sources), self.parts.together()
        progress.left_out(self.parts.left_out)
        # Each takes a thread, while all others sort the reads.
        digests = {
            what: start(functools.partial(digest_of_reads, given, DIGESTS[what])) for what in DIGESTS if place
        }
        progress.report("sorting reads")
        store = packed(given, self.parts.threads)
        if place:
            place.begin([self.parts.as_input(what, one.result(), states) for what, one in digests.items()])
        return store
