"""Reads without the adapters at their ends: overlaps are found of what is inside, and told of whole reads.

Reads that have the same adapter or barcode share its words and nothing else. Where a chance seed carries such
a match on, it looks like an overlap of reads that begin at one place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np

from overlapper.io.artifacts import Artifact, kept_or_made
from overlapper.io.memory_artifacts import MemoryArtifact
from overlapper.io.read_columns import PART_BASES
from overlapper.io.read_store import ReadStore
from overlapper.params.stages import Params
from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.sketch.adapters import adapters_at_ends, adapters_of
from overlapper.sketch.read_parts import intervals_of
from overlapper.tables import Overlaps, Reads
from overlapper.tiled.workdir import Workdir

_BEFORE, _CUT = "before", "bases cut"
ADAPTERS = "bases of adapters"
"""Their name in the funnel."""


@dataclasses.dataclass(frozen=True)
class Inside:
    """What is inside of the adapters of reads."""

    store: ReadStore
    """Of what is inside; numbers in the input are those of the whole reads."""
    before: np.ndarray
    """int32, shape (reads,); bases that each read has before it, by numbers in the input."""
    bases_cut: int

    @classmethod
    def of(
        cls, store: ReadStore, changes: Mapping[str, Any] | None, threads: int, workdir: Workdir | None = None
    ) -> Self:
        """Look for adapters, unless ``cut_adapters`` is off, and cut them off.

        Parameters
        ----------
        changes : mapping or None
            Of parameters.
        workdir : Workdir, optional
            Where what is inside is kept, if there are adapters; in memory by default.
        """
        wanted = Params().changed(changes or {}).sketch.cut_adapters
        adapters = adapters_of(store.mapped()) if wanted else []
        if not adapters:
            return cls(store, np.zeros(len(store), np.int32), 0)
        write = partial(_write, store=store, adapters=adapters, threads=threads)
        artifact: Artifact = MemoryArtifact()
        if workdir:
            artifact = kept_or_made(
                workdir.path("inside", adapters, store.artifact.facts.get("reads")), write
            )
        else:
            write(artifact)
        return cls(ReadStore.open(artifact), artifact.load(_BEFORE, np.int32), artifact.facts[_CUT])

    def on_whole(self, overlaps: Overlaps) -> Overlaps:
        """Return overlaps of what is inside as those of the whole reads."""
        if not self.bases_cut:
            return overlaps
        query, target = self.before[overlaps.query], self.before[overlaps.target]
        return dataclasses.replace(
            overlaps, q_start=overlaps.q_start + query, q_end=overlaps.q_end + query,
            t_start=overlaps.t_start + target, t_end=overlaps.t_end + target,
        )  # fmt: skip

    def counts(self) -> dict[str, int]:
        """Return what the funnel begins with: whole reads, and what of them is left out."""
        cut = {ADAPTERS: self.bases_cut} if self.bases_cut else {}
        return {"reads": len(self.store), "bases": int(self.store.lengths.sum()) + self.bases_cut, **cut}


def write_inside(artifact: Artifact, store: ReadStore, taken: np.ndarray, threads: int) -> dict[str, Any]:
    """Write the bases of reads but some at their ends; return how many reads, and bases, that concerns.

    Parameters
    ----------
    taken : ndarray of int64, shape (reads, 2)
        As `overlapper.sketch.adapters.adapters_at_ends` returns them.
    """
    start, end = taken[:, 0], store.lengths - taken[:, 1]

    def cut(part: tuple[int, int]) -> Reads:
        rows = slice(*part)
        return intervals_of(store.block(*part), start[rows], end[rows])

    ReadStore.write(artifact, map_in_order(cut, even_ranges(store.lengths, PART_BASES), threads))
    return {"reads cut": int(taken.any(axis=1).sum()), _CUT: int(taken.sum())}


def _write(artifact: Artifact, store: ReadStore, adapters: list[str], threads: int) -> None:
    """Write what `Inside` has."""
    taken = adapters_at_ends(store.mapped(), adapters, threads)
    artifact.facts |= write_inside(artifact, store, taken, threads)
    artifact.facts["reads"] = store.artifact.facts.get("reads")
    artifact.save("order", store.order[artifact.load("order", np.int64)])
    before = np.empty(len(store), np.int32)
    before[store.order] = taken[:, 0]
    artifact.save(_BEFORE, before)
