"""Exact matches of reads in a reference as seeds; from an FM-index."""

from __future__ import annotations

import abc
import dataclasses
from typing import Self

import numpy as np

from overlapper.index import Index
from overlapper.kernels.seeds.reference_seeds import STRETCH
from overlapper.mapping.anchors import Anchors
from overlapper.params.mapping import MapParams, SeedParams
from overlapper.tables import Matches, Reads
from overlapper.tables.reads import BASES_PER_WORD


@dataclasses.dataclass(frozen=True)
class _MatchSeeder(abc.ABC):
    """Base of the seeders that use an FM-index."""

    index: Index
    first_bases: np.ndarray
    """int64, shape (sequences,); first base of every sequence, counted as anchors are."""
    params: SeedParams

    @classmethod
    def prepare(cls, reference: Reads, params: MapParams, threads: int) -> Self:
        """Index a reference."""
        index = Index.build(reference, threads=threads)
        return cls(index, reference.word_offsets[:-1] * BASES_PER_WORD, params.seeds)

    def find(self, reads: Reads) -> Anchors:
        """Return the anchors of reads."""
        matches, counts = self._matches(reads)
        sequence, position = self.index.place(matches.t_start)
        x = matches.q_start
        x = np.where(matches.reverse, reads.lengths[matches.query] - matches.length - x, x)
        y = self.first_bases[sequence] + position
        order = np.lexsort((matches.length, x, y, matches.reverse, matches.query))
        starts = np.searchsorted(matches.query, np.arange(len(reads) + 1))
        length = matches.length[order]
        return Anchors(starts, x[order].astype(np.int32), y[order], length, matches.reverse[order], counts)

    @abc.abstractmethod
    def _matches(self, reads: Reads) -> tuple[Matches, dict[str, int]]:
        """Return the matches of the seeds that have few enough, and counts for the funnel."""

    @property
    def _limit(self) -> int:
        return self.params.hit_limit or SeedParams.MOST_PLACES

    @property
    def _few(self) -> dict[str, int]:
        """Arguments of a search that stops at one more place than the limit."""
        return {"most_places": self._limit + 1, "threads": 1}


class SmemSeeder(_MatchSeeder):
    """Seeds are the super-maximal exact matches."""

    def _matches(self, reads: Reads) -> tuple[Matches, dict[str, int]]:
        return _rare(self.index.smems(reads, self.params.length, **self._few), self._limit)


class NovSmemSeeder(_MatchSeeder):
    """Seeds are the greedy non-overlapping matches."""

    def _matches(self, reads: Reads) -> tuple[Matches, dict[str, int]]:
        return _rare(self.index.nov_smems(reads, self.params.length, **self._few), self._limit)


def _seed_starts(matches: Matches) -> np.ndarray:
    """Return the first match of every seed: interval of a read."""
    changes = np.ones(len(matches), bool)
    changes[1:] = False
    for column in (matches.query, matches.q_start, matches.length):
        changes[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(changes)


def _rare(matches: Matches, limit: int) -> tuple[Matches, dict[str, int]]:
    """Leave out seeds with more places than the limit, and those that crowd their stretch of the read."""
    starts = _seed_starts(matches)
    places = np.diff(np.append(starts, len(matches)))
    few = np.flatnonzero(places <= limit)
    query, start, length = (getattr(matches, name)[starts[few]] for name in ("query", "q_start", "length"))
    order = np.lexsort((length, start, places[few], start // STRETCH, query))
    stretch = np.flatnonzero(np.diff(query[order], prepend=-1) | np.diff(start[order] // STRETCH, prepend=-1))
    together = np.cumsum(places[few][order])
    before = np.append(0, together)[stretch]
    together -= np.repeat(before, np.diff(np.append(stretch, len(order))))
    taken = np.zeros(len(starts), bool)
    taken[few[order[together <= SeedParams.MOST_ANCHORS]]] = True
    counts = {"seeds": len(starts), "seeds with too many places": int((~taken).sum())}
    return matches.take(np.repeat(taken, places)), counts
