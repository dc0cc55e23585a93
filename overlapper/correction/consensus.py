"""Consensus of targets, reads or unitigs, from the reads that lie on them.

Targets are worked on in windows (`overlapper.correction.windows`), so that memory is bounded by the window
and one long target keeps all threads busy. ``docs/algorithms/correction.md`` has the definition.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from overlapper.correction.pileups import Pileups, Rows
from overlapper.correction.vote_settings import given_error_rate, settings_of
from overlapper.correction.voting_rows import (
    LOOKED_AT,
    MOST_SURPLUS,
    Chosen,
    most_left_out,
    rows_of_windows,
    turned,
)
from overlapper.correction.windows import windows_of, without_margins
from overlapper.kernels.consensus import erring_words
from overlapper.kernels.consensus.consensus import COUNTS, correct_windows
from overlapper.kernels.consensus.consensus_places import places_of_bases
from overlapper.kernels.consensus.layers import Sequences, Windows
from overlapper.params.correction import CorrectParams
from overlapper.runtime.threads import cut_falling, map_in_order, share_for_threads
from overlapper.tables.ragged import offsets_of

WINDOW_BASES, MARGIN = 50_000, 1_000
BLOCK_BASES = 150_000
"""Bases of targets of a block, the unit of work of a thread; more for large sets."""


class Likeness(NamedTuple):
    """Rows of targets on the reads that are like them, made on demand."""

    rows: Callable[[], Rows]
    """Makes the rows; targets as they were given."""
    before: int
    """Added to the numbers of targets."""


class Part(NamedTuple):
    """Consensus of a block of windows, without margins."""

    lengths: np.ndarray
    """int64, shape (windows,); bases of each window."""
    codes: np.ndarray
    quality: np.ndarray
    depth: np.ndarray
    origin: np.ndarray
    counts: np.ndarray
    """`codes`, `quality`, `depth`, `origin`, `counts`: as in `Consensus`; the counts are those of each
    window."""
    rows: Callable[[], Rows]
    """As in `Likeness`."""


@dataclasses.dataclass(frozen=True, eq=False)
class Consensus:
    """Consensus of ``n`` targets, one after the other."""

    offsets: np.ndarray
    """int64, shape (n + 1,); where each one starts."""
    codes: np.ndarray
    quality: np.ndarray
    """`codes`, `quality`: uint8; bases (4 is unknown) and Phred qualities; 0 where no vote was taken."""
    depth: np.ndarray
    """uint8; reads that cover each base, the target included where it votes; 255 for more."""
    origin: np.ndarray
    """int32; how many bases of the target come before each base."""
    counts: np.ndarray
    """int64, shape (n, COUNTS); see `overlapper.kernels.consensus.consensus.COUNTS`."""
    likeness: Sequence[Likeness] = ()
    """From which `alike` is made."""

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def alike(self) -> Rows:
        """Rows of the consensus on the reads that are like its targets; each access makes them anew.

        A read is like a target if it voted on it, has what the target has wherever layers are divided, and
        reaches beyond rows that were left out, where it touches any. Reads and targets change places: in
        these rows the read is the target (numbered as in the pileups), and the consensus lies on it as the
        read (numbered among these targets).
        """
        rows = Rows.concat([_renumbered(made.rows(), made.before) for made in self.likeness])
        start, end = (
            places_of_bases(self.origin, self.offsets, rows.read, base) for base in (rows.r_start, rows.r_end)
        )
        return dataclasses.replace(rows, r_start=start, r_end=end)


def consensus(
    pileups: Pileups,
    params: CorrectParams,
    threads: int,
    *,
    doubt: int | None = None,
) -> Consensus:
    """Find the consensus of targets.

    Parameters
    ----------
    pileups : Pileups
    params : CorrectParams
        With all thresholds (`overlapper.correction.thresholds.fit_threshold`).
    threads : int
        Change nothing but the time.
    doubt : int, optional
        Result of `overlapper.correction.thresholds.fit_doubt` for reads that were corrected before, and so do
        not err independently of each other.
    """
    return joined([part for _, part in consensus_in_parts(pileups, params, threads, doubt=doubt)])


def consensus_in_parts(
    pileups: Pileups,
    params: CorrectParams,
    threads: int,
    *,
    doubt: int | None = None,
    targets_lead: bool = False,
) -> Iterator[tuple[int, Consensus]]:
    """Yield the consensus of successive targets in parts, each with the number of its first target.

    Parameters
    ----------
    pileups, params, threads, doubt
        As for `consensus`.
    targets_lead : bool
        Whether targets are leaders (`overlapper.correction.leaders`). It is to be known which reads are
        like them, so that more rows vote where all are of one copy.
    """
    vote = _WindowConsensus(pileups, params, doubt, targets_lead)
    target, waiting, done, given = vote.bounds.target, [], 0, 0
    for part in map_in_order(vote.of_windows, vote.blocks(threads), threads):
        waiting.append(part)
        done += len(part.lengths)
        # The windows of a target that is not complete wait for the others.
        if done == len(target) or target[done] != target[done - 1]:
            first, stop = int(target[given]), int(target[done - 1]) + 1
            yield first, _of_targets(waiting, target[given:done], first, stop - first)
            waiting, given = [], done


def contradicted_words(pileups: Pileups, params: CorrectParams) -> tuple[np.ndarray, np.ndarray]:
    """Return `kernels.consensus.erring_words.contradicted_words` of pileups."""
    return _WindowConsensus(pileups, params, None, False).contradicted_words()


class _WindowConsensus:
    """Finds the consensus of all targets, a block of windows at a time.

    Margins are cut off (`overlapper.correction.windows.without_margins`).
    """

    def __init__(
        self, pileups: Pileups, params: CorrectParams, doubt: int | None, targets_lead: bool
    ) -> None:
        self._pileups = pileups
        targets, reads = self._targets, self._reads = pileups.targets, pileups.reads
        self._settings = settings_of(pileups, params, doubt, targets_lead)
        self._nearest = pileups.nearest_divergence
        self._most_left_out = most_left_out(given_error_rate(pileups, params))
        self._sequences = Sequences.of(targets), Sequences.of(reads)
        self.bounds = windows_of(targets.lengths, WINDOW_BASES, MARGIN)

    def blocks(self, threads: int) -> Iterator[np.ndarray]:
        """Yield the numbers of the windows of every block, which a thread takes at a time."""
        share = share_for_threads(self._targets.total_bases, BLOCK_BASES, threads)
        starts = cut_falling(self._work_of_windows(), share, threads)
        return itertools.starmap(np.arange, itertools.pairwise(starts))

    def of_windows(self, number: np.ndarray) -> Part:
        """Return the consensus of windows."""
        chosen = self._rows_of(number)
        windows = chosen.windows
        *made, marks = correct_windows(
            *self._sequences, windows, chosen.rows, chosen.crowded, MOST_SURPLUS, self._settings
        )
        offsets, *columns = made
        start, stop = self.bounds.start[number], self.bounds.end[number]
        rows = partial(turned, chosen, marks, start, stop, self._most_left_out)
        lengths = self._targets.lengths[windows.target]
        if (windows.end - windows.start == lengths).all():
            return Part._make((np.diff(offsets), *columns, rows))
        # What is inserted behind the last base of a target belongs to its last window.
        within = without_margins(tuple(made), windows.start, start, stop + (stop == lengths))
        return Part._make((*within, rows))

    def contradicted_words(self) -> tuple[np.ndarray, np.ndarray]:
        """Count words of all windows."""
        chosen = self._rows_of(np.arange(len(self.bounds.target)))
        return erring_words.contradicted_words(*self._sequences, chosen.windows, chosen.rows, self._settings)

    def _work_of_windows(self) -> np.ndarray:
        """Return what work on each window is about, in bases of windows with as many rows as the mean."""
        lengths = np.maximum(self._targets.lengths, 1)
        rows = self._pileups.rows
        depth = np.bincount(rows.target, rows.t_end - rows.t_start, len(lengths)) / lengths
        depth = np.minimum(depth, LOOKED_AT * self._settings.max_depth)
        mean = max(1.0, (depth @ lengths) / max(1, lengths.sum()))
        bases = self.bounds.end - self.bounds.start
        return (bases * (1 + depth[self.bounds.target] / mean) / 2).astype(np.int64)

    def _rows_of(self, number: np.ndarray) -> Chosen:
        bounds = self.bounds
        target = bounds.target[number]
        first, stop = int(target[0]), int(target[-1]) + 1
        rows = self._pileups.rows_on(first, stop)
        rows = rows.widened(self._targets.lengths, self._reads.lengths, self._pileups.reach)
        windows = Windows(
            target, bounds.start_with_margin[number], bounds.end_with_margin[number],
            self._pileups.first[first : stop + 1] - self._pileups.first[first],
        )  # fmt: skip
        rows = rows.sort_canonical()
        # Reads differ in accuracy: what is near for one is far for another.
        excess = rows.divergence - self._nearest[rows.read]
        return rows_of_windows(rows, excess, windows, self._settings)


def _of_targets(parts: list[Part], target: np.ndarray, first: int, n: int) -> Consensus:
    """Join the consensus of windows to that of targets ``[first, first + n)``; ``target`` is that of each."""
    *columns, rows = zip(*parts, strict=True)
    lengths, codes, quality, depth, origin, counts = (
        np.concatenate(c) if len(c) > 1 else c[0] for c in columns
    )
    by_target = np.zeros((n, COUNTS), np.int64)
    np.add.at(by_target, target - first, counts)
    offsets = offsets_of(np.bincount(target - first, lengths, n))
    likeness = [Likeness(of_windows, -first) for of_windows in rows]
    return Consensus(offsets, codes, quality, depth, origin, by_target, likeness)


def joined(parts: Sequence[Consensus]) -> Consensus:
    """Concatenate the consensus of successive targets."""
    none = np.zeros(0, np.uint8)
    nothing = Consensus(
        np.zeros(1, np.int64), none, none, none, none.astype(np.int32), np.zeros((0, COUNTS), np.int64)
    )
    parts = [nothing, *parts]
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    codes, quality, depth, origin, counts = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("codes", "quality", "depth", "origin", "counts")
    )
    before = offsets_of(np.array([len(part) for part in parts])).tolist()
    likeness = [
        made._replace(before=made.before + n)
        for part, n in zip(parts, before, strict=False)
        for made in part.likeness
    ]
    return Consensus(offsets_of(sizes), codes, quality, depth, origin, counts, likeness)


def _renumbered(rows: Rows, more: int) -> Rows:
    """Return rows with ``more`` added to the numbers of their reads."""
    return dataclasses.replace(rows, read=rows.read + np.int32(more))
