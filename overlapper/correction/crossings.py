"""Targets compared with the reads on them, which may lack what the targets have, and the other way round.

The definition is in ``docs/algorithms/correction.md``, section 8.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Self

import numpy as np

from overlapper.correction.pileups import Pileups, Rows
from overlapper.correction.vote_settings import anchor_of
from overlapper.kernels.consensus.crossings import cross
from overlapper.kernels.consensus.layers import Rows as LayerRows
from overlapper.kernels.consensus.layers import Sequences, Windows
from overlapper.kernels.consensus.window_rows import LEAST, within_depth
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of, runs_of
from overlapper.tables.reads import UNKNOWN

DEPTH = 12
"""Rows on a stretch that are compared with the target, the best first."""
BEYOND = 20_000
"""Bases of a read beyond its row on either side that are looked at, as the row may end where the target
lacks something."""
LEAST_EDITS, RATES = 12, 2
"""A gap contradicts where it has more edits than `LEAST_EDITS`, and `RATES` times those that the error rate
of its read lets expect. Judged on planted faults (``docs/notes/assembly.md``)."""
SURE = 400
"""Bases that a read has on either side of what it confirms or contradicts: with fewer, it may be of a repeat
there."""
FEWEST, NEAR = 3, 10
"""Fewest reads that contradict a place; bases around a gap that are of the same place."""
APART = 50
"""Bases between two places that are mended by themselves."""
LONGEST_ANCHOR, CHANCE = 16, 0.03
"""Anchors have as many bases as those of votes, or more, up to `LONGEST_ANCHOR`, so that a base of a read has
at most `CHANCE` of them on a target by chance."""
STRETCH = 1000
"""Bases of the stretches on which edits are counted."""


class Compared(NamedTuple):
    """The rows of targets that are compared with them."""

    first: np.ndarray
    """int64, shape (targets + 1,); where those of each target start."""
    number: np.ndarray
    """int64, shape (n,); numbers of the rows in the pileup."""
    on: LayerRows
    """With the intervals of reads that are looked at."""

    @classmethod
    def of(cls, pileups: Pileups, depth: int) -> Self:
        """Take the first rows of pileups, and those with most beyond, each up to ``depth`` on a stretch."""
        rows = pileups.rows
        wide = rows.widened(pileups.targets.lengths, pileups.reads.lengths, BEYOND)
        beyond = np.maximum(rows.t_start - wide.t_start, wide.t_end - rows.t_end)
        number = np.lexsort((rows.r_start, rows.t_start, rows.read, -rows.score, rows.target))
        taken = _up_to(depth, pileups.first, rows, number)
        going_on = number[~taken[number] & (beyond[number] >= SURE)]
        taken |= _up_to(
            depth, pileups.first, rows, going_on[np.lexsort((-beyond[going_on], rows.target[going_on]))]
        )
        number = number[taken[number]]
        first, rows = offsets_of(taken)[pileups.first], rows.take(number)
        lengths, none = pileups.reads.lengths[rows.read], np.zeros(len(rows), np.int32)
        on = LayerRows(
            rows.read, rows.reverse, rows.t_start, rows.t_end, (rows.r_start - BEYOND).clip(0),
            np.minimum(rows.r_end + BEYOND, lengths), none, none,
        )  # fmt: skip
        return cls(first, number, on)


def _up_to(depth: int, first: np.ndarray, rows: Rows, number: np.ndarray) -> np.ndarray:
    """Return a mask of rows, of those that are numbered here, in this order, up to a depth."""
    some = np.zeros(len(rows), bool)
    some[number] = True
    taken = within_depth(offsets_of(some)[first], rows.t_start[number], rows.t_end[number], depth)
    some[number] = taken
    return some


class Instead(NamedTuple):
    """A stretch of a target, half open, what is to replace it, and how many reads contradict it."""

    start: int
    end: int
    codes: np.ndarray
    reads: int


class Crossings:
    """The reads of a target, chained to it.

    Parameters
    ----------
    targets : Reads
    target : int
    reads : Sequences
    rows : Compared
    number : int
        Of the target in ``rows``.
    k : int
        Bases of the shortest anchor.
    """

    def __init__(
        self, targets: Reads, target: int, reads: Sequences, rows: Compared, number: int, k: int
    ) -> None:
        self._length = int(targets.lengths[target])
        self.rows = slice(int(rows.first[number]), int(rows.first[number + 1]))
        on = LayerRows(*(column[self.rows] for column in rows.on))
        one = Windows(*(np.array(v) for v in ([target], [0], [self._length], [0, len(on.read)])))
        first, anchors = cross(Sequences.of(targets), reads, one, on, k)
        self._on, self._some = on, np.flatnonzero(np.diff(first))
        self._row = np.repeat(np.arange(len(on.read)), np.diff(first))
        start, r_start, length, edits = anchors.astype(np.int64).T
        behind = np.flatnonzero(self._row[1:] == self._row[:-1]) + 1
        self._gap_row, self._edits = self._row[behind], edits[behind]
        self._t1, self._t2 = (start + length)[behind - 1], start[behind]
        self._r1, self._r2 = (r_start + length)[behind - 1], r_start[behind]
        ends = first[1:][self._some] - 1
        self.start, self.end = start[first[:-1][self._some]], (start + length)[ends]
        self.r_start, self.r_end = r_start[first[:-1][self._some]], (r_start + length)[ends]
        self._against = self._sure(np.flatnonzero(self._edits > LEAST_EDITS + RATES * self._expected()))

    def _sure(self, against: np.ndarray) -> np.ndarray:
        """End chains before gaps that contradict with less than `SURE` bases beyond; return the others."""
        row = self._gap_row[against]
        for x in np.unique(row).tolist():
            at, gaps = np.searchsorted(self._some, x), against[row == x].tolist()
            for gap in gaps:
                if min(self._t1[gap] - self.start[at], self._r1[gap] - self.r_start[at]) >= SURE:
                    break
                self.start[at], self.r_start[at] = self._t2[gap], self._r2[gap]
            for gap in reversed(gaps):
                beyond = min(self.end[at] - self._t2[gap], self.r_end[at] - self._r2[gap])
                if beyond >= SURE or self._t1[gap] < self.start[at]:
                    break
                self.end[at], self.r_end[at] = self._t1[gap], self._r1[gap]
        low, high = (np.zeros(len(self._on.read), np.int64) for _ in range(2))
        low[self._some], high[self._some] = self.start, self.end
        return against[(self._t1[against] >= low[row]) & (self._t2[against] <= high[row])]

    def _expected(self) -> np.ndarray:
        """Return the edits of each gap that the error rate of its read lets expect."""
        usual = self._edits <= 2 * LEAST_EDITS
        n = len(self._on.read)
        edits = np.bincount(self._gap_row[usual], self._edits[usual], n)
        bases = np.bincount(self._some, self.end - self.start, n)
        longer = np.maximum(self._t2 - self._t1, self._r2 - self._r1)
        rate: np.ndarray = edits / np.maximum(bases, 1)
        return np.asarray(rate[self._gap_row] * longer)

    def places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where most reads contradict the target: half-open intervals, ascending, and how many do."""
        row, low, high = self._gap_row[self._against], *self._around()
        again = np.flatnonzero(row[1:] == row[:-1]) + 1
        low[again] = np.maximum(low[again], high[again - 1])
        against = self._depth(low, np.maximum(low, high))
        most = (against >= FEWEST) & (2 * against > self._across())
        starts, ends, _ = runs_of(most, np.array([0, self._length]))
        apart = starts[1:] - ends[:-1] >= APART
        some = len(starts) > 0
        starts, ends = (
            starts[np.append(some, apart)[: len(starts)]],
            ends[np.append(apart, some)[: len(ends)]],
        )
        return starts, ends, _most(against, starts)

    def breaks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return where too few reads cross, while reads that go on end their chains there on either side.

        Returns
        -------
        start, end : ndarray
            Half-open intervals, ascending.
        reads : ndarray
            How many end there, on the side that has fewer.
        crossed : ndarray of bool
            Whether any read crosses.
        """
        across = self._across()
        low, high, _ = runs_of(across < FEWEST, np.array([0, self._length]))
        bases = (self._on.r_end - self._on.r_start)[self._some]
        starts = np.sort(self.start[np.minimum(self.start, self.r_start) >= SURE])
        ends = np.sort(self.end[np.minimum(self._length - self.end, bases - self.r_end) >= SURE])
        stop = np.searchsorted(ends, high, "right") - np.searchsorted(ends, low)
        begin = np.searchsorted(starts, high, "right") - np.searchsorted(starts, low)
        reads = np.minimum(stop, begin)
        broken = reads >= FEWEST
        low, high = low[broken], high[broken]
        fewest = np.array([across[a:b].min() for a, b in zip(low, high, strict=True)], np.int64)
        return low, high, reads[broken], fewest > 0

    def _across(self) -> np.ndarray:
        """Return how many rows cross each base by `SURE` bases on either side."""
        far = np.flatnonzero(self.end - self.start > 2 * SURE)
        return self._depth(self.start[far] + SURE, self.end[far] - SURE)

    def _around(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what lies around each gap that contradicts."""
        low, high = self._t1[self._against] - NEAR, self._t2[self._against] + NEAR
        return low.clip(0), np.minimum(high, self._length)

    def _depth(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        change = np.bincount(start, minlength=self._length + 1) - np.bincount(end, minlength=self._length + 1)
        return np.asarray(np.cumsum(change[:-1]))

    def instead(self, reads: Reads) -> list[Instead]:
        """Return stretches of the target that most reads contradict, ascending, with what is to replace them.

        Of the reads that contradict a place, that with the median number of bases gives its own.
        """
        found: list[Instead] = []
        around_low, around_high = self._around()
        done, none = 0, np.zeros(0, np.uint8)
        for start, end, _ in zip(*self.places(), strict=True):
            there = self._against[(around_low < end) & (around_high > start)]
            row, begin = np.unique(self._gap_row[there], return_index=True)
            first, last = there[begin], there[np.append(begin[1:], len(there)) - 1]
            t1, t2, r1, r2 = self._t1[first], self._t2[last], self._r1[first], self._r2[last]
            given = []
            for x in np.lexsort((row, (r2 - r1) - (t2 - t1))).tolist():
                codes = self._bases(reads, row[x], r1[x], r2[x])
                if codes.max(initial=0) < UNKNOWN:
                    given.append((int(t1[x]), int(t2[x]), codes))
            median = given[(len(given) - 1) // 2] if len(given) >= FEWEST else (-1, -1, none)
            if median[0] >= done:
                found.append(Instead(median[0], median[1], median[2], len(given)))
                done = median[1]
        return found

    def _bases(self, reads: Reads, row: int, start: int, end: int) -> np.ndarray:
        """Return bases of the read of a row, as they lie on the target."""
        low, high = int(self._on.r_start[row]), int(self._on.r_end[row])
        codes = reads.codes(int(self._on.read[row]))[low:high]
        if self._on.reverse[row]:
            codes = np.where(codes < UNKNOWN, 3 - codes, codes)[::-1].astype(np.uint8)
        return codes[start:end]

    def edits(self, origin: np.ndarray, stretches: int, slack: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the edits of each row on each stretch, and a mask of the stretches that rows cross wholly.

        Parameters
        ----------
        origin : ndarray of int64
            The base of what was voted on that each base of the target comes from, and one behind.
        stretches : int
            Of `STRETCH` bases each, which are numbered by origins.
        slack : int
            Bases of a stretch that may be missing at either end.
        """
        shape = len(self._on.read), stretches
        at = np.minimum((origin[self._t1 - 1] + 1) // STRETCH, stretches - 1)
        edits = (
            np.bincount(self._gap_row * stretches + at, self._edits, shape[0] * stretches)
            .reshape(shape)
            .astype(np.int32)
        )
        crossed, number = np.zeros(shape, bool), np.arange(stretches)
        low, high = -((slack - origin[self.start]) // STRETCH), (origin[self.end] + slack) // STRETCH
        crossed[self._some] = (number >= low[:, None]) & (number < high[:, None])
        return edits, crossed

    def as_rows(self, rows: Rows) -> Rows:
        """Return rows (those of this target, in order) with the intervals that chains have."""
        some = self._some
        low, high = self._on.r_start[some], self._on.r_end[some]
        reverse = self._on.reverse[some]
        made = dataclasses.replace(
            rows.take(some),
            t_start=self.start, t_end=self.end,
            r_start=np.where(reverse, high - self.r_end, low + self.r_start),
            r_end=np.where(reverse, high - self.r_start, low + self.r_end),
        )  # fmt: skip
        return made.take(np.flatnonzero(self.end - self.start >= LEAST))


def _most(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the highest value from each start on, before the next one."""
    return np.maximum.reduceat(values, starts) if len(starts) else np.zeros(0, np.int64)


def shortest_anchor(codes: np.ndarray, divergence: float) -> int:
    """Return the bases of the shortest anchor on a target, by its composition and length.

    Parameters
    ----------
    codes : ndarray of uint8
        Of the target.
    divergence : float
        Typical of the reads.
    """
    counts = np.bincount(codes, minlength=UNKNOWN)[:UNKNOWN]
    shares = counts / max(1, counts.sum())
    alike = min(max(float(shares @ shares), 0.25), 0.99)
    wanted = np.ceil(np.log(CHANCE / max(1, len(codes))) / np.log(alike))
    return int(min(max(wanted, anchor_of(divergence)), LONGEST_ANCHOR))
