"""Consensus of targets, reads or unitigs, from the reads that lie on them.

Targets are worked on in windows (`overlapper.correct.windows`), so that memory is bounded by the window and
one long target keeps all threads busy. ``docs/algorithms/correction.md`` has the definition.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from overlapper.correct.machine import Workers
from overlapper.correct.pileups import Pileups
from overlapper.correct.vote_settings import settings_of
from overlapper.correct.voting_rows import MOST_SURPLUS, Chosen, choose_rows, rows_of_windows
from overlapper.correct.windows import windows_of, without_margins
from overlapper.kernels.consensus.consensus import COUNTS, LEFT_OUT, correct_windows
from overlapper.kernels.consensus.layers import Sequences, Windows
from overlapper.params.correction import CorrectParams
from overlapper.runtime.threads import Crew, cut_evenly, map_among, map_in_order, share_for_threads
from overlapper.tables.base import offsets_of

if TYPE_CHECKING:
    from overlapper.gpu.gpus import Gpus

WINDOW_BASES, MARGIN = 50_000, 1_000
BLOCK_BASES = 150_000
"""Bases of targets that a thread works on at a time; more where there are many threads."""
GPU_BLOCK_BASES = 4_000_000
"""Bases of targets that a GPU takes at a time, at most."""
GPU_LEAST_BASES = 2_000_000
"""Bases of targets from which on GPUs take part; fewer are done before their kernels are loaded."""


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
    """

    offsets: np.ndarray
    codes: np.ndarray
    quality: np.ndarray
    depth: np.ndarray
    origin: np.ndarray
    counts: np.ndarray

    def __len__(self) -> int:
        return len(self.counts)


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
        Of corrected reads, which do not err independently of each other, what
        `overlapper.correct.thresholds.fit_doubt` returns.
    """
    return joined([part for _, part in consensus_in_parts(pileups, params, workers, doubt=doubt)])


def consensus_in_parts(
    pileups: Pileups,
    params: CorrectParams,
    workers: Workers,
    *,
    doubt: int | None = None,
) -> Iterator[tuple[int, Consensus]]:
    """Yield what `consensus` returns, some targets at a time, and the number of the first of them."""
    vote = _Vote(pileups, params, doubt)
    if workers.gpus and pileups.targets.total_bases >= GPU_LEAST_BASES:
        of_windows = vote.on_gpus(workers.gpus, workers.threads)
    else:
        of_windows = vote.on_cpu(workers.threads)
    target, waiting, done, given = vote.bounds.target, [], 0, 0
    for part in of_windows:
        waiting.append(part)
        done += len(part[0])
        # A target whose windows have not all come waits for them.
        if done == len(target) or target[done] != target[done - 1]:
            first, stop = int(target[given]), int(target[done - 1]) + 1
            yield first, _of_targets(waiting, target[given:done] - first, stop - first)
            waiting, given = [], done


class _Vote:
    """The consensus of all targets, a block of windows at a time.

    What it yields of every block is that of `overlapper.correct.windows.without_margins`.
    """

    def __init__(self, pileups: Pileups, params: CorrectParams, doubt: int | None) -> None:
        self._pileups = pileups
        targets, reads = self._targets, self._reads = pileups.targets, pileups.reads
        self._settings = settings_of(pileups, params, doubt)
        self._sequences = Sequences.of(targets), Sequences.of(reads)
        self.bounds = windows_of(targets.lengths, WINDOW_BASES, MARGIN)

    def on_cpu(self, threads: int) -> Iterator[tuple[np.ndarray, ...]]:
        """Yield the consensus of blocks of windows, in order."""
        return map_in_order(self._vote, self._blocks(threads), threads)

    def on_gpus(self, gpus: Gpus, threads: int) -> Iterator[tuple[np.ndarray, ...]]:
        """As `on_cpu`; GPUs take several blocks at a time, and the CPU those that they do not come to.

        The CPU chooses rows for all. Twice as many threads feed GPUs as there are slots, so that it does so
        while these are busy.
        """
        from overlapper.correct import gpu_consensus

        blocks, choosing = self._blocks(threads), threading.Semaphore(threads)

        def vote_there(some: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
            with choosing:
                chosen = gpu_consensus.as_one([self._choose(windows) for windows in some])
            made = gpu_consensus.correct_windows(
                gpus, self._targets, self._reads, chosen.windows, chosen.rows, self._settings
            )
            return self._cut(chosen, made)

        most = max(1, GPU_BLOCK_BASES * len(blocks) // self._targets.total_bases)
        crews: list[Crew[np.ndarray, tuple[np.ndarray, ...]]] = [
            Crew(max(0, threads - gpus.slots), lambda some: self._vote(some[0]), 1),
            Crew(2 * gpus.slots, vote_there, most),
        ]
        return map_among(blocks, crews)

    def _vote(self, windows: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the consensus of windows."""
        chosen = self._rows_of(windows)
        made = correct_windows(
            *self._sequences, chosen.windows, chosen.rows, chosen.crowded, MOST_SURPLUS, self._settings
        )
        return self._cut(chosen, made)

    def _blocks(self, threads: int) -> list[np.ndarray]:
        """Return the numbers of the windows of every block."""
        share = share_for_threads(self._targets.total_bases, BLOCK_BASES, threads)
        starts = cut_evenly(self.bounds.end - self.bounds.start, share)
        return [np.arange(a, b) for a, b in itertools.pairwise(starts)]

    def _choose(self, windows: np.ndarray) -> Chosen:
        """Return windows with the rows that vote on them, as GPUs need them."""
        return choose_rows(self._rows_of(windows), *self._sequences, self._settings)

    def _rows_of(self, number: np.ndarray) -> Chosen:
        bounds = self.bounds
        target = bounds.target[number]
        first, stop = int(target[0]), int(target[-1]) + 1
        rows = self._pileups.rows_on(first, stop).widened(self._targets.lengths, self._reads.lengths)
        windows = Windows(
            target, bounds.start_with_margin[number], bounds.end_with_margin[number],
            self._pileups.first[first : stop + 1] - self._pileups.first[first],
        )  # fmt: skip
        return rows_of_windows(rows.sort_canonical(), number, windows, self._settings)

    def _cut(self, chosen: Chosen, made: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Cut the consensus of windows to what lies between their bounds."""
        number, windows = chosen.number, chosen.windows
        made[-1][:, LEFT_OUT] += chosen.elsewhere
        lengths = self._targets.lengths[windows.target]
        if (windows.end - windows.start == lengths).all():
            return np.diff(made[0]), *made[1:]
        # What is inserted behind the last base of a target belongs to its last window.
        stop = self.bounds.end[number] + (self.bounds.end[number] == lengths)
        return without_margins(made, windows.start, self.bounds.start[number], stop)


def _of_targets(parts: list[tuple[np.ndarray, ...]], target: np.ndarray, n: int) -> Consensus:
    """Return the consensus of ``n`` targets from that of their windows, of which each is of a ``target``."""
    lengths, codes, quality, depth, origin, counts = (
        np.concatenate(c) if len(c) > 1 else c[0] for c in zip(*parts, strict=True)
    )
    by_target = np.zeros((n, COUNTS), np.int64)
    np.add.at(by_target, target, counts)
    sizes = np.bincount(target, lengths, n).astype(np.int64)
    return Consensus(offsets_of(sizes), codes, quality, depth, origin, by_target)


def joined(parts: Sequence[Consensus]) -> Consensus:
    """Return the consensus of targets that follow each other."""
    none = np.zeros(0, np.uint8)
    nothing = Consensus(
        np.zeros(1, np.int64), none, none, none, none.astype(np.int32), np.zeros((0, COUNTS), np.int64)
    )
    columns = (
        np.concatenate([getattr(part, field.name) for part in (nothing, *parts)])
        for field in dataclasses.fields(Consensus)[1:]
    )
    sizes = np.concatenate([np.diff(part.offsets) for part in (nothing, *parts)])
    return Consensus(offsets_of(sizes), *columns)
