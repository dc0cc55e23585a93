"""Reads set aside where molecules are deeper than layouts and votes need, as a stage of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from overlapper.io.artifacts import Artifact
from overlapper.io.read_columns import PART_BASES
from overlapper.io.read_store import ReadStore
from overlapper.runtime.threads import even_ranges
from overlapper.sketch.choice import SharedKmers
from overlapper.sketch.depth import ASIDE, ChosenReads, groups
from overlapper.sketch.estimates import estimate_errors
from overlapper.tables import Reads
from overlapper.tiled.stages import Stages


def choose(
    stages: Stages,
    store: ReadStore,
    depth: int,
    threads: int,
    shared_kmers: Callable[[], SharedKmers | None] | None = None,
    take: Callable[[np.ndarray], Reads] | None = None,
) -> tuple[ReadStore, ChosenReads | None, dict[str, Any]]:
    """Choose reads, as stages; return those that are left, the choice, None where it is all, and the facts.

    Parameters
    ----------
    stages : Stages
    store : ReadStore
        What is chosen of it has no names.
    depth : int
        See `ChosenReads.of`.
    threads : int
    shared_kmers : callable, optional
        Gives what overlapping reads share, which is estimated by default.
    take : callable, optional
        Gives those of some numbers as they are to be used, if they are not those of the store.
    """

    def make() -> tuple[ChosenReads, dict[str, Any]]:
        reads = store.mapped()
        shared = shared_kmers() if shared_kmers else estimate_errors(reads, threads)[1]
        chosen = ChosenReads.of(reads, shared, depth, threads)
        return chosen, chosen.facts(reads.lengths)

    chosen, facts = None, dict[str, Any]()
    if depth:
        chosen, facts = stages.run("depth", ChosenReads, [depth], make)
        chosen = chosen if facts[ASIDE] else None
    if not (chosen or take):
        return store, None, facts
    numbers = np.flatnonzero(chosen.kept) if chosen else np.arange(len(store))
    taken = take or store.take

    def write(artifact: Artifact, beside: Path) -> dict[str, Any]:
        parts = even_ranges(store.lengths[numbers], PART_BASES)
        ReadStore.write(artifact, (taken(numbers[start:stop]) for start, stop in parts))
        return {}

    return ReadStore.open(stages.write("chosen-reads", [], write)[0]), chosen, facts


def groups_of(reads: Reads, depth: int, threads: int) -> list[np.ndarray]:
    """Return the groups of reads, by number, among which overlaps are found.

    Parameters
    ----------
    reads : Reads
        As given, in canonical order.
    depth : int
        0 for one group.
    threads : int
        Changes nothing but the time.
    """
    return groups(reads, estimate_errors(reads, threads)[1] if depth else None, depth, threads)
