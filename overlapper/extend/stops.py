"""Internal matches: overlaps that a repeat causes, found by what other overlaps of the two reads do.

A repeat makes reads of different places match. Such a match *stops* at the border of the repeat, where both
reads go on. True overlaps stop as well: at bad ends, bad stretches, junctions of chimeras, and where few
molecules are rearranged. The other overlaps of both reads at the same place tell the two apart: some stop
there, some *cross* it. A match that ends with the reads, each on another side of the repeat, is found by its
depth: reads of all copies cross it.

``docs/algorithms/internal-matches.md`` is the definition, and says what its numbers were fitted on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from overlapper.kernels.selection import stops as kernel
from overlapper.kernels.selection.overlap_classes import Matches
from overlapper.params.stages import ClassParams
from overlapper.runtime.threads import even_ranges, for_each, map_in_order
from overlapper.tables import Overlaps
from overlapper.tables.ragged import offsets_of

FEW = 4
"""Fewest stops and crossings at a place that tell what a stop is; fewest crossings that a copy of a repeat
has."""
BAD_READ_STOPS = 3
"""Stops at a place that nothing crosses, from which on the read is taken to be bad there."""
_RARE = 0.05
_LONE_OF_PAIRS, _BORDERS_OF_ERRORS = 2, 32
_RATIO_UNIT = 1_000_000
_ADDING_THREADS, _FEW_TO_ADD = 4, 20_000
_ACCUMULATED_TOGETHER = 1 << 16
"""Stretches of reads whose crossings are summed as one task."""
_IN_COMMON = 10
"""Reads share their ends (as amplicons do) if one overlap in this many goes from end to end on both."""
_MOST_CROSSINGS = 1 << 16
"""Largest number of crossings of a stretch that is told from larger ones."""


class Stops:
    """Finds internal matches among overlaps in parts: `add` all parts, `summarise` them, then ask `internal`.

    Parameters
    ----------
    lengths : ndarray of int64, shape (reads,)
    params : ClassParams

    Notes
    -----
    Memory is 12 bytes for every 128 bases of the reads.
    """

    def __init__(self, lengths: np.ndarray, params: ClassParams) -> None:
        self._lengths = np.asarray(lengths, np.int64)
        self._params = params
        self._first = offsets_of(self._lengths // kernel.STRETCH + 1)
        self._stops = np.zeros((2, self._first[-1]), np.int32)
        self._crossings = np.zeros(self._first[-1], np.int32)
        self._levels = np.zeros(kernel.LEVELS, np.int64)
        self._typical = 0
        self._others = 0.0
        self._all = self._from_end_to_end = 0

    def add(self, overlaps: Overlaps, threads: int = 1) -> None:
        """Count the stops and crossings of a part of the overlaps."""
        self._all += len(overlaps)
        self._from_end_to_end += int(np.count_nonzero(self._is_from_end_to_end(overlaps)))
        # Each thread goes through all overlaps and counts those on its own range of reads, so that none
        # waits.
        parts = min(threads, _ADDING_THREADS) if len(overlaps) >= _FEW_TO_ADD else 1
        bounds = len(self._lengths) * np.arange(parts + 1) // parts

        def count(part: int) -> None:
            reads = bounds[part], bounds[part + 1]
            kernel.add(*self._arguments(overlaps, *reads, self._stops, self._crossings))

        for_each(count, range(parts), parts)

    def may_be_internal(self, overlaps: Overlaps) -> np.ndarray:
        """Return a mask of the overlaps that may be internal matches, by themselves."""
        return kernel.may_be_internal(*self._arguments(overlaps))

    def summarise(self, parts: Iterable[Overlaps], threads: int = 1) -> None:
        """Sum up the counts of all parts, and find how often true overlaps stop.

        Parameters
        ----------
        parts : iterable of Overlaps
            All parts that were added.
        """

        def accumulate(reads: tuple[int, int]) -> tuple[int, int]:
            start, stop = reads
            return kernel.accumulate(self._first[start : stop + 1], self._stops, self._crossings)

        blocks = even_ranges(np.diff(self._first), _ACCUMULATED_TOGETHER)
        accumulated = list(map_in_order(accumulate, blocks, threads))
        covered, quiet = (sum(counts[of] for counts in accumulated) for of in range(2))
        self._others = math.log(max(covered, 1) / max(quiet, 1))
        counts = kernel.count_crossings(self._crossings, _MOST_CROSSINGS)
        self._typical = int(np.searchsorted(np.cumsum(counts[1:]), (counts[1:].sum() + 1) // 2)) + 1

        def tally(part: Overlaps) -> np.ndarray:
            return kernel.tally(*self._arguments(part, self._evidence))

        self._levels = sum(map_in_order(tally, parts, threads), np.zeros(kernel.LEVELS, np.int64))

    @property
    def least(self) -> int:
        """Least number of stops at the border of a repeat; `summarise` comes first."""
        lone, pairs, more = self._levels.tolist()
        errors = lone - _LONE_OF_PAIRS * max(0.0, pairs - self._others * lone)
        if errors * _BORDERS_OF_ERRORS <= more:
            return 1
        n = 2
        while self._others ** (n - 1) / math.factorial(n - 1) > _RARE:
            n += 1
        return n

    def internal(self, overlaps: Overlaps) -> np.ndarray:
        """Return a mask of the internal matches; `summarise` comes first."""
        if self._from_end_to_end * _IN_COMMON >= self._all:
            return np.zeros(len(overlaps), np.bool_)
        ratio = round(self._params.min_ratio * _RATIO_UNIT)
        stop = kernel.internal(*self._arguments(overlaps, self._evidence, self.least, ratio, _RATIO_UNIT))
        matches = Matches.of(overlaps, self._lengths)
        within = kernel.within_repeats(matches, self._first, self._crossings, self._typical)
        return stop | (within & self._is_dovetail(overlaps) if self._params.contained_in_repeats else within)

    @property
    def _evidence(self) -> kernel.Evidence:
        """What kernels judge stops by."""
        return kernel.Evidence(self._stops, self._crossings, BAD_READ_STOPS, FEW, self._typical)

    def _is_dovetail(self, overlaps: Overlaps) -> np.ndarray:
        o, hang = overlaps, self._params.max_hang
        of_query = np.maximum(o.q_start, self._lengths[o.query] - o.q_end)
        return np.minimum(of_query, np.maximum(o.t_start, self._lengths[o.target] - o.t_end)) > hang

    def _is_from_end_to_end(self, overlaps: Overlaps) -> np.ndarray:
        o, hang = overlaps, self._params.max_hang
        behind = (self._lengths[o.query] - o.q_end, self._lengths[o.target] - o.t_end)
        most: np.ndarray = np.maximum.reduce([o.q_start, o.t_start, *behind])
        return most <= hang

    def _arguments(self, overlaps: Overlaps, *more: Any) -> list[Any]:
        """Return the arguments that all kernels share, and more."""
        return [Matches.of(overlaps, self._lengths), self._params.max_hang, self._first, *more]
