"""Bases that too few reads cover: kept, trimmed off the ends, or cut out of reads."""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections.abc import Callable, Iterator

import numpy as np

from overlapper.correction.changes import Changes, Fate
from overlapper.correction.packed_reads import with_names
from overlapper.correction.read_consensus import ReadConsensus
from overlapper.kernels.consensus.consensus import LEFT_OUT
from overlapper.runtime.threads import cut_evenly
from overlapper.sketch import read_parts
from overlapper.tables import Reads

SHORTEST_PART = 500
"""Bases of the shortest part that splitting keeps."""


class Uncovered(enum.StrEnum):
    """What is done with bases that too few reads cover."""

    KEEP = "keep"
    """They stay."""
    TRIM = "trim"
    """They are cut off at the ends of reads."""
    SPLIT = "split"
    """They are cut out everywhere; each stretch that is left becomes a read."""


@dataclasses.dataclass(frozen=True, eq=False)
class Parts:
    """The parts of reads that are kept; arrays have one value a part."""

    read: np.ndarray
    """int64, shape (n,)."""
    start: np.ndarray
    end: np.ndarray
    """`start`, `end`: int64, shape (n,); half open."""
    names: list[str]

    def as_reads(self, take: Callable[[np.ndarray], Reads], bases: int) -> Iterator[Reads]:
        """Yield the parts as reads, about ``bases`` bases at a time.

        Parameters
        ----------
        take : callable
            ``take(numbers)`` returns reads.
        bases : int
        """
        for a, b in itertools.pairwise(cut_evenly(self.end - self.start, bases).tolist()):
            yield intervals_of(take(self.read[a:b]), self.start[a:b], self.end[a:b], self.names[a:b])


def cut_uncovered(
    given: Reads, made: ReadConsensus, uncovered: Uncovered, identity: np.ndarray, back: np.ndarray
) -> tuple[Parts, Changes]:
    """Return the parts of reads that are kept, and the fate of every read, in the order of the input.

    Parameters
    ----------
    given : Reads
        Only names and lengths are used.
    made : ReadConsensus
        Of the last round.
    uncovered : Uncovered
    identity : ndarray of float64
        Identity of each read with its consensus, in the first round.
    back : ndarray of int64
        The number of each read of the input among ``given``.
    """
    read, start, end, names = [], [], [], []
    fates, bases_out = [], np.zeros(len(given), np.int64)
    names_given = given.names
    for number, i in enumerate(back.tolist()):
        name, length = names_given[i], int(made.reads.lengths[i])
        stretches = slice(made.covered.offsets[i], made.covered.offsets[i + 1])
        covered = list(
            zip(made.covered.start[stretches].tolist(), made.covered.end[stretches].tolist(), strict=True)
        )
        parts = _parts(covered, length, uncovered)
        fates.append(_fate(bool(covered), parts, length))
        for part, (a, b) in enumerate(parts, 1):
            read.append(i)
            start.append(a)
            end.append(b)
            names.append(name if len(parts) == 1 else f"{name}_{part}")
            bases_out[number] += b - a
    kept_parts = Parts(np.array(read, np.int64), np.array(start, np.int64), np.array(end, np.int64), names)
    changes = Changes(
        [names_given[i] for i in back.tolist()], given.lengths[back], bases_out, made.covered.depth[back],
        identity[back], made.counts[back, LEFT_OUT], fates,
    )  # fmt: skip
    return kept_parts, changes


def _parts(covered: list[tuple[int, int]], length: int, uncovered: Uncovered) -> list[tuple[int, int]]:
    """Return the intervals of a read that are kept."""
    if uncovered is Uncovered.KEEP:
        return [(0, length)]
    if uncovered is Uncovered.TRIM:
        return [(covered[0][0], covered[-1][1])] if covered else []
    return [(a, b) for a, b in covered if b - a >= SHORTEST_PART]


def _fate(covered: bool, parts: list[tuple[int, int]], length: int) -> Fate:
    if not parts:
        return Fate.DROPPED
    if len(parts) > 1:
        return Fate.SPLIT
    if parts[0] != (0, length):
        return Fate.TRIMMED
    return Fate.CORRECTED if covered else Fate.UNCHANGED


def intervals_of(reads: Reads, start: np.ndarray, end: np.ndarray, names: list[str]) -> Reads:
    """Return an interval of every read, half open, as reads with other names."""
    return with_names(read_parts.intervals_of(reads, start, end), names)
