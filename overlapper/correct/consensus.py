"""Consensus of targets, reads or unitigs, from the reads that lie on them.

Targets are worked on in windows (`overlapper.correct.windows`), so that memory is bounded by the window and
one long target keeps all threads busy. ``docs/algorithms/correction.md`` has the definition.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from overlapper.correct.pileups import Pileups, Rows
from overlapper.correct.resources import Workers
from overlapper.correct.vote_settings import given_error_rate, settings_of
from overlapper.correct.voting_rows import (
    LOOKED_AT,
    MOST_SURPLUS,
    Chosen,
    choose_rows,
    most_left_out,
    rows_of_windows,
    turned,
)
from overlapper.correct.windows import windows_of, without_margins
from overlapper.kernels.consensus.consensus import COUNTS, LEFT_OUT, correct_windows
from overlapper.kernels.consensus.consensus_places import places_of_bases
from overlapper.kernels.consensus.layers import Sequences, Windows
from overlapper.params.correction import CorrectParams
from overlapper.runtime.threads import (
    Crew,
    cut_falling,
    map_among,
    map_in_order,
    share_for_threads,
)
from overlapper.tables.ragged import offsets_of

if TYPE_CHECKING:
    from overlapper.gpu.gpus import Gpus

WINDOW_BASES, MARGIN = 50_000, 1_000
BLOCK_BASES = 150_000
"""Bases of targets of a block, the unit of work of a thread; more for large sets."""
GPU_BLOCK_BASES = 4_000_000
"""Most bases of the blocks that a GPU takes together."""
GPU_LEAST_BASES = 2_000_000
"""Least bases of targets for GPUs to be used: fewer are done before their kernels are loaded."""


class Likeness(NamedTuple):
    """Rows of targets on the reads that are like them, made on demand.

    Attributes
    ----------
    rows : callable
        Makes the rows; targets as they were given.
    before : int
        Added to the numbers of targets.
    """

    rows: Callable[[], Rows]
    before: int


class Part(NamedTuple):
    """Consensus of a block of windows, without margins.

    Attributes
    ----------
    lengths : ndarray of int64, shape (windows,)
        Bases of each window.
    codes, quality, depth, origin, counts : ndarray
        As in `Consensus`; the counts are those of each window.
    rows : callable
        As in `Likeness`.
    """

    lengths: np.ndarray
    codes: np.ndarray
    quality: np.ndarray
    depth: np.ndarray
    origin: np.ndarray
    counts: np.ndarray
    rows: Callable[[], Rows]


@dataclasses.dataclass(frozen=True, eq=False)
class Consensus:
    """Consensus of ``n`` targets, one after the other.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Where each one starts.
    codes, quality : ndarray of uint8
        Bases (4 is unknown) and Phred qualities; 0 where no vote was taken.
    depth : ndarray of uint8
        Reads that cover each base, the target included where it votes; 255 for more.
    origin : ndarray of int32
        How many bases of the target come before each base.
    counts : ndarray of int64, shape (n, COUNTS)
        See `overlapper.kernels.consensus.consensus.COUNTS`.
    likeness : sequence of Likeness
        From which `alike` is made.
    """

    offsets: np.ndarray
    codes: np.ndarray
    quality: np.ndarray
    depth: np.ndarray
    origin: np.ndarray
    counts: np.ndarray
    likeness: Sequence[Likeness] = ()

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
    workers: Workers,
    *,
    doubt: int | None = None,
) -> Consensus:
    """Find the consensus of targets.

    Parameters
    ----------
    pileups : Pileups
    params : CorrectParams
        With all thresholds (`overlapper.correct.thresholds.fit_threshold`).
    workers : Workers
        Change nothing but the time.
    doubt : int, optional
        Result of `overlapper.correct.thresholds.fit_doubt` for reads that were corrected before, and so do
        not err independently of each other.
    """
    return joined([part for _, part in consensus_in_parts(pileups, params, workers, doubt=doubt)])


def consensus_in_parts(
    pileups: Pileups,
    params: CorrectParams,
    workers: Workers,
    *,
    doubt: int | None = None,
    targets_lead: bool = False,
) -> Iterator[tuple[int, Consensus]]:
    """Yield the consensus of successive targets in parts, each with the number of its first target.

    Parameters
    ----------
    pileups, params, workers, doubt
        As for `consensus`.
    targets_lead : bool
        Whether targets are leaders (`overlapper.correct.leaders`). It is to be known which reads are
        like them, so that more rows vote where all are of one copy.
    """
    vote = _WindowConsensus(pileups, params, doubt, targets_lead)
    if workers.gpus and pileups.targets.total_bases >= GPU_LEAST_BASES:
        of_windows = vote.on_gpus(workers.gpus, workers.threads)
    else:
        of_windows = vote.on_cpu(workers.threads)
    target, waiting, done, given = vote.bounds.target, [], 0, 0
    for part in of_windows:
        waiting.append(part)
        done += len(part.lengths)
        # The windows of a target that is not complete wait for the others.
        if done == len(target) or target[done] != target[done - 1]:
            first, stop = int(target[given]), int(target[done - 1]) + 1
            yield first, _of_targets(waiting, target[given:done], first, stop - first)
            waiting, given = [], done


class _WindowConsensus:
    """Finds the consensus of all targets, a block of windows at a time.

    Margins are cut off (`overlapper.correct.windows.without_margins`).
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

    def on_cpu(self, threads: int) -> Iterator[Part]:
        """Yield the consensus of blocks of windows, in order."""
        return map_in_order(self._vote, self._blocks(threads), threads)

    def on_gpus(self, gpus: Gpus, threads: int) -> Iterator[Part]:
        """As `on_cpu`, by GPUs, which take several blocks at a time, and the threads that they leave free.

        The CPU chooses the rows. Each slot of a GPU has two threads: one chooses rows while the other waits
        for the GPU.
        """
        from overlapper.correct import consensus_gpu

        blocks, choosing = self._blocks(threads), threading.Semaphore(threads)

        def vote_on_device(some: Sequence[np.ndarray]) -> Part:
            with choosing:
                chosen = consensus_gpu.as_one([self._choose(windows) for windows in some])
            made = consensus_gpu.correct_windows(
                gpus, self._targets, self._reads, chosen.windows, chosen.rows, self._settings
            )
            return self._cut(chosen, made)

        most = max(1, GPU_BLOCK_BASES // self._share(threads))
        crews: list[Crew[np.ndarray, Part]] = [
            Crew(max(0, threads - gpus.slots), lambda some: self._vote(some[0]), 1),
            Crew(2 * gpus.slots, vote_on_device, most),
        ]
        return map_among(blocks, crews)

    def _vote(self, windows: np.ndarray) -> Part:
        """Return the consensus of windows."""
        chosen = self._rows_of(windows)
        made = correct_windows(
            *self._sequences, chosen.windows, chosen.rows, chosen.crowded, MOST_SURPLUS, self._settings
        )
        return self._cut(chosen, made)

    def _blocks(self, threads: int) -> list[np.ndarray]:
        """Return the numbers of the windows of every block."""
        starts = cut_falling(self._work_of_windows(), self._share(threads), threads)
        return [np.arange(a, b) for a, b in itertools.pairwise(starts)]

    def _work_of_windows(self) -> np.ndarray:
        """Return what work on each window is about, in bases of windows with as many rows as the mean."""
        lengths = np.maximum(self._targets.lengths, 1)
        rows = self._pileups.rows
        depth = np.bincount(rows.target, rows.t_end - rows.t_start, len(lengths)) / lengths
        depth = np.minimum(depth, LOOKED_AT * self._settings.max_depth)
        mean = max(1.0, (depth @ lengths) / max(1, lengths.sum()))
        bases = self.bounds.end - self.bounds.start
        return (bases * (1 + depth[self.bounds.target] / mean) / 2).astype(np.int64)

    def _share(self, threads: int) -> int:
        """Return the bases of a block, before blocks become smaller."""
        return share_for_threads(self._targets.total_bases, BLOCK_BASES, threads)

    def _choose(self, windows: np.ndarray) -> Chosen:
        """Return windows with the rows that vote; on the CPU the kernel chooses them in crowded windows."""
        return choose_rows(self._rows_of(windows), *self._sequences, self._settings)

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
        return rows_of_windows(rows, excess, number, windows, self._settings)

    def _cut(self, chosen: Chosen, made: tuple[np.ndarray, ...]) -> Part:
        """Cut the margins off the consensus of windows, as `correct_windows` returns it."""
        number, windows = chosen.number, chosen.windows
        offsets, codes, quality, depth, origin, counts, marks = made
        counts[:, LEFT_OUT] += np.bincount(chosen.elsewhere[:, 0], minlength=len(number))
        start, stop = self.bounds.start[number], self.bounds.end[number]
        rows = partial(turned, chosen, marks, start, stop, self._most_left_out)
        lengths = self._targets.lengths[windows.target]
        if (windows.end - windows.start == lengths).all():
            return Part(np.diff(offsets), codes, quality, depth, origin, counts, rows)
        # What is inserted behind the last base of a target belongs to its last window.
        within = without_margins(made[:-1], windows.start, start, stop + (stop == lengths))
        return Part._make((*within, rows))


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
