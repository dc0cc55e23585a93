"""Which overlaps are reported, decided when all have been found.

Internal matches are left out (`overlapper.extend.stops`), unless asked for; then each read pair keeps its
best overlap, or several (`overlapper.extend.best_of_pair`); then each read end keeps its best ones, if only
these are asked for (`overlapper.extend.best_ends`).
"""

from __future__ import annotations

import dataclasses
import threading
import weakref
from collections.abc import Iterable, Iterator

import numpy as np

from overlapper.extend.best_ends import BestEnds
from overlapper.extend.best_of_pair import best_of_pair
from overlapper.extend.stops import Stops
from overlapper.params.stages import ClassParams
from overlapper.runtime.threads import map_in_order
from overlapper.tables import OverlapClass, Overlaps


class Selection:
    """Chooses the overlaps to report: `add` all parts, then `decide`, then `chosen` yields them.

    All overlaps of a read pair are in the same part, and follow each other there.

    Parameters
    ----------
    lengths : ndarray of int64, shape (reads,)
    params : ClassParams
    threads : int
        Changes nothing but the time.
    """

    def __init__(self, lengths: np.ndarray, params: ClassParams, threads: int = 1) -> None:
        self._params = params
        self._threads = threads
        self._stops = Stops(lengths, params)
        self._best = BestEnds(lengths, params.best) if params.best else None
        self._certain = 0
        self._adding = threading.Lock()
        self._judged: weakref.WeakKeyDictionary[Overlaps, tuple[np.ndarray, np.ndarray]] = (
            weakref.WeakKeyDictionary()
        )
        self.counts: dict[str, int] = {}

    def add(self, overlaps: Overlaps) -> Overlaps:
        """Add a part of the overlaps; return those that may still be reported, for the caller to keep.

        Parts may come in any order, also from several threads.
        """
        with self._adding:
            self._stops.add(overlaps, self._threads)
            if self._best is None:
                return overlaps
            certain = self._is_certain(overlaps)
            self._best.add(overlaps.take(certain))
            self._certain += int(np.count_nonzero(certain))
            # A certain overlap that is not among the best now never will be.
            return overlaps.take(~certain | self._best.among(overlaps))

    def decide(self, parts: Iterable[Overlaps]) -> None:
        """Decide which overlaps are reported, once all parts are added, and count those dropped.

        Parameters
        ----------
        parts : iterable of Overlaps
            All that `add` returned; gone through several times.
        """
        self._stops.summarise(parts, self._threads)
        uncertain = internal = chosen = 0
        judged = map_in_order(lambda part: (part, *self._best_of_pairs(part)), parts, self._threads)
        for part, rows, inside in judged:
            if self._best is not None:
                certain = self._is_certain(part)
                rows = rows[~certain[rows]]
                self._best.add(part.take(rows))
                uncertain -= int(np.count_nonzero(certain))
            uncertain += len(part)
            chosen += len(rows)
            internal += int(np.count_nonzero(inside))
        dropped = 0 if self._params.keep_internal else internal
        self.counts = {
            "dropped: internal match": dropped,
            "dropped: not the best of its pair": uncertain - dropped - chosen,
        }
        chosen += self._certain
        if self._best is not None:
            kept = sum(map(len, self.chosen(parts)))
            self.counts["dropped: not among the best of a read end"] = chosen - kept
            chosen = kept
        self.counts["overlaps"] = chosen

    def chosen(self, parts: Iterable[Overlaps]) -> Iterator[Overlaps]:
        """Yield the reported overlaps of each part, with their classes; `decide` comes first."""
        return map_in_order(self._chosen, parts, self._threads)

    def _chosen(self, overlaps: Overlaps) -> Overlaps:
        rows, internal = self._best_of_pairs(overlaps)
        kind = np.where(internal, np.uint8(OverlapClass.INTERNAL), overlaps.kind)
        chosen = dataclasses.replace(overlaps, kind=kind).take(rows)
        return chosen if self._best is None else chosen.take(self._best.among(chosen))

    def _best_of_pairs(self, overlaps: Overlaps) -> tuple[np.ndarray, np.ndarray]:
        """Return the best rows of each pair, and a mask of internal matches.

        The result is cached as long as the overlaps live: for overlaps in memory it is needed twice.
        """
        judged = self._judged.get(overlaps)
        if judged is None:
            internal = self._stops.internal(overlaps)
            kept = np.ones(len(overlaps), bool) if self._params.keep_internal else ~internal
            judged = best_of_pair(overlaps, kept, self._params.best_of_pair), internal
            self._judged[overlaps] = judged
        return judged

    def _is_certain(self, overlaps: Overlaps) -> np.ndarray:
        """Return a mask of overlaps that cannot be internal matches and are the only ones of their pair."""
        same = (np.diff(overlaps.query) == 0) & (np.diff(overlaps.target) == 0)
        certain = ~self._stops.may_be_internal(overlaps)
        certain[1:] &= ~same
        certain[:-1] &= ~same
        return certain
