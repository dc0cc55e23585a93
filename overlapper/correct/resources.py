"""What a run of correction, polishing or assembly may take, and how it finds overlaps within that."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from overlapper.extend.registry import device_within
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
    """What a run may take.

    Attributes
    ----------
    stages : Stages
        Where results are kept; in a memory budget, reads, overlaps and seeds are on disk, too.
    threads : int
        Changes nothing but the time.
    device, gpu_memory
        As `overlapper.correct.reads.correct` takes them.
    """

    stages: Stages
    threads: int
    device: str = "auto"
    gpu_memory: int = 0

    @classmethod
    def of(
        cls, stages: Stages | None, threads: int | None, device: str = "auto", gpu_memory: int = 0
    ) -> Self:
        """Return resources with all threads, and stages that nothing is kept of, where none are given."""
        return cls(stages or Stages(), threads or available_threads(), device, gpu_memory)

    def room(self, n_reads: int, unitig_bases: int = 0) -> int | None:
        """Return the bytes of memory that a part of the work may take; None for no limit.

        Raises
        ------
        ParameterError
            When the budget is too small for the reads.
        """
        budget = self.stages.budget
        return None if budget is None else with_votes(budget, n_reads, unitig_bases).left(n_reads)

    @contextlib.contextmanager
    def search(self, beside: Path) -> Iterator[Search]:
        """Yield what finds overlaps; in a memory budget it works in a folder, which it leaves behind."""
        if self.stages.budget is None:
            yield Search(self, None)
        else:
            with Workdir(beside) as workdir:
                yield Search(self, workdir)


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
            assert resources.stages.budget
            folder = Folder(self.workdir, with_votes(resources.stages.budget, len(store)))
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
        counts, overlaps = self.run(store, preset, changes, report)
        places = np.argsort(store.order)
        return counts, (part.renumber(places) for part in overlaps)
