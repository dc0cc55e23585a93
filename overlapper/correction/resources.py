"""What a run of correction, polishing or assembly may take, and how it finds overlaps within that."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from overlapper.extend.registry import device_within
from overlapper.io.folders import ANYTHING, temporary_folder
from overlapper.io.memory_artifacts import MemoryArtifact
from overlapper.io.read_store import ReadStore
from overlapper.overlap import pipeline
from overlapper.overlap.presets import ErrorRate
from overlapper.overlap.tiles import Folder
from overlapper.params.shortcuts import merged
from overlapper.runtime.messages import Report
from overlapper.runtime.threads import available_threads
from overlapper.sketch.canonical import packed
from overlapper.tables import Overlaps, Reads
from overlapper.tiled.plan import Budget
from overlapper.tiled.reads import store_reads
from overlapper.tiled.stages import Stages
from overlapper.tiled.workdir import Workdir

if TYPE_CHECKING:
    from overlapper.overlap.distributed import Cluster, SomePart

Result = TypeVar("Result")
Facts = dict[str, Any]
ChangedParams = Mapping[str, Any] | None

VOTING = 60 << 20
"""Bytes of the kernels of the vote and their libraries, on top of `overlapper.tiled.plan.PROGRAM`."""
A_READ = 1700
"""Bytes of memory that correction needs for each read of the set."""
A_UNITIG_BASE = 5
"""Bytes of memory for each base of unitigs, which are cut into windows and joined again."""


def with_votes(budget: Budget, n_reads: int, unitig_bases: int = 0) -> Budget:
    """Return a budget less the memory that correction and polishing always hold.

    Parameters
    ----------
    budget : Budget
    n_reads : int
    unitig_bases : int
        Bases of the unitigs to polish.
    """
    return dataclasses.replace(budget, held=VOTING + A_READ * n_reads + A_UNITIG_BASE * unitig_bases)


@dataclasses.dataclass(frozen=True)
class Resources:
    """What a run may take."""

    stages: Stages
    """Where results are kept; in a memory budget, reads, overlaps and seeds are on disk, too."""
    threads: int
    """Changes nothing but the time."""
    device: str = "auto"
    gpu_memory: int = 0
    """`device`, `gpu_memory`: as `overlapper.correct` takes them."""
    workers: Cluster | None = None
    """Who does parts of the work, in place of the threads of this process; changes nothing but the time."""

    @classmethod
    def of(
        cls,
        stages: Stages | None,
        threads: int | None,
        device: str = "auto",
        gpu_memory: int = 0,
        client: Any = None,
    ) -> Self:
        """Return resources with all threads, and stages that nothing is kept of, where none are given.

        A ``client`` is a `dask.distributed.Client`, whose workers do parts of the work.
        """
        threads, workers = threads or available_threads(), None
        if client is not None:
            from overlapper.overlap.distributed import Cluster

            workers = Cluster(0, None, threads, client=client)
        return cls(stages or Stages(), threads, device, gpu_memory, workers)

    @property
    def budget(self) -> Budget | None:
        """The memory to stay within, of this process and of each worker; None for no limit."""
        if self.stages.budget or not self.workers:
            return self.stages.budget
        return Budget.of(0, self.threads)

    def room(self, n_reads: int, unitig_bases: int = 0) -> int | None:
        """Return the bytes of memory that a part of the work may take; None for no limit.

        Raises
        ------
        ParameterError
            When the budget is too small for the reads.
        """
        return None if self.budget is None else with_votes(self.budget, n_reads, unitig_bases).left(n_reads)

    @property
    def slots(self) -> int:
        """Parts that workers do at the same time; 0 without workers."""
        return self.workers.size if self.workers else 0

    def each(
        self, function: Callable[[SomePart, int], Iterable[Result]], parts: Iterable[SomePart]
    ) -> Iterator[Result]:
        """Yield what a function yields for each of several parts, in their order: here, or on workers.

        Parameters
        ----------
        function : callable
            ``function(part, threads)``; with workers it can be pickled.
        parts : iterable of Part
        """
        made: Iterator[Iterable[Result]]
        if self.workers:
            made = self.workers.in_order(partial(_listed, function), parts)
        else:
            made = (function(part, self.threads) for part in parts)
        return itertools.chain.from_iterable(made)

    @contextlib.contextmanager
    def folder(self, beside: Path) -> Iterator[Path | None]:
        """Yield where files may be that are wanted for a while; None where all is in memory.

        In a memory budget it is ``beside`` a result; for workers of a run in memory it is a temporary folder.
        """
        if self.stages.budget or not self.workers:
            yield beside if self.stages.budget else None
            return
        with temporary_folder(tempfile.gettempdir(), ANYTHING) as made:
            yield made / "for-a-while"

    @contextlib.contextmanager
    def search(self, beside: Path) -> Iterator[Search]:
        """Yield what finds overlaps; in a memory budget it works in a folder, which it leaves behind."""
        with self.folder(beside) as folder, contextlib.ExitStack() as opened:
            yield Search(self, opened.enter_context(Workdir(folder)) if folder else None)


@dataclasses.dataclass(frozen=True)
class Search:
    """Finds overlaps, in memory or in tiles; see `Resources.search`."""

    resources: Resources
    workdir: Workdir | None

    def in_order(self, parts: Iterable[Reads]) -> ReadStore:
        """Return reads, which may be in any order, as a store."""
        if self.workdir:
            return store_reads(self.workdir, parts)
        threads = self.resources.threads
        return packed(Reads.concat(list(parts), threads), threads)

    def run(
        self, store: ReadStore, preset: str | ErrorRate, changes: ChangedParams, report: Report
    ) -> tuple[Facts, Iterator[Overlaps]]:
        """Find overlaps; return counts, and them in parts, numbered as the store was given its reads."""
        resources, folder = self.resources, None
        changes = merged({"sketch": {"cut_adapters": False}}, changes or {})  # ends of reads vote, or are cut
        if self.workdir:
            assert resources.budget
            budget = with_votes(resources.budget, len(store))
            folder = Folder(self.workdir, budget, workers=resources.workers)
        found = pipeline.find(
            store, preset, changes=changes, threads=resources.threads,
            device=device_within(changes, resources.device), gpu_memory=resources.gpu_memory,
            folder=folder, report=report,
        )  # fmt: skip
        return {"chosen": found.why, **found.funnel}, iter(found.parts)

    def run_by_place(
        self, store: ReadStore, preset: str | ErrorRate, changes: ChangedParams, report: Report
    ) -> tuple[Facts, Iterator[Overlaps]]:
        """Find overlaps as `run` does, numbered by the places of reads in the store."""
        if not self.workdir:
            return self.run(dataclasses.replace(store, order=np.arange(len(store))), preset, changes, report)
        if isinstance(store.artifact, MemoryArtifact):
            store = self.in_order(part.bases_alone() for part in store.parts())
        counts, overlaps = self.run(store, preset, changes, report)
        places = np.argsort(store.order)
        return counts, (part.renumber(places) for part in overlaps)


def _listed(
    function: Callable[[SomePart, int], Iterable[Result]], part: SomePart, threads: int
) -> list[Result]:
    """Return all that a function yields."""
    return list(function(part, threads))
