"""Bases that too few reads cover: kept, trimmed off or cut out, and what that makes of a read."""

from __future__ import annotations

import enum

import numpy as np

from graph.changes import Changes, Fate
from graph.consensus import Consensus
from overlapper.kernels.cpu.correct import LEFT_OUT
from overlapper.tables import Reads

CONFIRMED_DEPTH = 3
"""Reads, the read itself among them, without which a base is neither changed nor confirmed."""
SHORTEST_PART = 500
"""Bases of the shortest part that splitting keeps."""


class Uncovered(enum.StrEnum):
    """What becomes of bases that too few reads cover."""

    KEEP = "keep"
    """They stay as they were."""
    TRIM = "trim"
    """They go at the ends of reads."""
    SPLIT = "split"
    """They go everywhere; what lies between them are reads of their own."""


def cut_uncovered(
    given: Reads, made: Consensus, uncovered: Uncovered, identity: np.ndarray, back: np.ndarray
) -> tuple[Reads, Changes]:
    """Return the reads to write, and what became of each, both in the order of the file.

    Parameters
    ----------
    given : Reads
    made : Consensus
        Of the last round.
    uncovered : Uncovered
    identity : ndarray of float64
        Of each read with its consensus, in the first round.
    back : ndarray of int64
        The number of each read of the file among those given.
    """
    read, start, end, names = [], [], [], []
    fates, bases_out, coverage = [], np.zeros(len(given), np.int64), np.zeros(len(given))
    for i in back:
        name, depth = given.name(i), made.depth[made.offsets[i] : made.offsets[i + 1]]
        covered = depth >= CONFIRMED_DEPTH
        coverage[i] = np.maximum(depth, 1).mean() - 1 if len(depth) else 0
        parts = _parts(covered, uncovered)
        fates.append(_fate(covered, parts, uncovered))
        for number, (a, b) in enumerate(parts, 1):
            read.append(i)
            start.append(a)
            end.append(b)
            names.append(name if len(parts) == 1 else f"{name}_{number}")
            bases_out[i] += b - a
    out = made.take(np.array(read, np.int64), np.array(start, np.int64), np.array(end, np.int64), names)
    changes = Changes(
        [given.name(i) for i in back], given.lengths[back], bases_out[back], coverage[back],
        identity[back], made.counts[back, LEFT_OUT], fates,
    )  # fmt: skip
    return out, changes


def _parts(covered: np.ndarray, uncovered: Uncovered) -> list[tuple[int, int]]:
    """Return the intervals of a read that stay."""
    if uncovered is Uncovered.KEEP:
        return [(0, len(covered))]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], covered, [False]]).astype(np.int8)))
    runs = [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
    if uncovered is Uncovered.TRIM:
        return [(runs[0][0], runs[-1][1])] if runs else []
    return [(a, b) for a, b in runs if b - a >= SHORTEST_PART]


def _fate(covered: np.ndarray, parts: list[tuple[int, int]], uncovered: Uncovered) -> Fate:
    if not parts:
        return Fate.DROPPED
    if len(parts) > 1:
        return Fate.SPLIT
    if parts[0] != (0, len(covered)):
        return Fate.TRIMMED
    return Fate.CORRECTED if covered.any() else Fate.UNCHANGED
