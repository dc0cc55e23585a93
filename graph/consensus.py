"""Consensus of targets, reads or unitigs, from the reads that lie on them.

Targets are worked on in pieces (`graph.target_pieces`), so that memory is bounded by the piece and one long
target keeps all threads busy. ``docs/algorithms/correction.md`` has the definition.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from graph.machine import Workers
from graph.params import CorrectParams
from graph.piles import Piles
from graph.row_choice import Chosen, choose_rows
from graph.target_pieces import pieces_of, without_margins
from graph.vote_settings import settings_of
from overlapper.kernels.cpu.correct import COUNTS, LEFT_OUT, correct_pieces
from overlapper.kernels.cpu.members import Pieces, Sequences
from overlapper.kernels.cpu.piece_rows import pack_codes
from overlapper.tables import Reads
from overlapper.tables.base import gather_ragged, offsets_of
from overlapper.tables.reads import UNKNOWN, unknown_runs, words_for
from overlapper.threads import cut_evenly, map_in_order, share_of_block

if TYPE_CHECKING:
    from overlapper.gpus import Gpus
    from overlapper.pipeline import Report

BLOCK_BASES = 150_000
"""Bases of targets that a thread works on at a time, at most."""
GPU_BLOCK_BASES = 10_000_000
"""Bases of targets that a GPU takes at a time, at most."""
_NO_RUNS = (np.zeros(0, np.int32), np.zeros(0, np.int32))


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
        How many bases of the target come before each base; empty once nothing needs it.
    counts : ndarray of int64, shape (n, COUNTS)
        See `overlapper.kernels.cpu.correct.COUNTS`.
    """

    offsets: np.ndarray
    codes: np.ndarray
    quality: np.ndarray
    depth: np.ndarray
    origin: np.ndarray
    counts: np.ndarray

    def take(self, targets: np.ndarray, starts: np.ndarray, ends: np.ndarray, names: list[str]) -> Reads:
        """Return intervals of the consensus as reads with qualities.

        Parameters
        ----------
        targets, starts, ends : ndarray of int, shape (m,)
            Half-open intervals of the consensus of targets.
        names : list of str
        """
        lengths = (ends - starts).astype(np.int64)
        begins = self.offsets[:-1][targets] + starts
        codes, quality = (gather_ragged(values, begins, lengths) for values in (self.codes, self.quality))
        offsets = offsets_of(lengths)
        word_offsets = offsets_of(words_for(lengths))
        runs = [unknown_runs(codes[a:b]) if (codes[a:b] == UNKNOWN).any() else _NO_RUNS
                for a, b in itertools.pairwise(offsets)]  # fmt: skip
        encoded = [name.encode() for name in names]
        return Reads(
            lengths=lengths,
            words=pack_codes(codes, offsets, word_offsets),
            word_offsets=word_offsets,
            unknown_start=np.concatenate([r[0] for r in runs] or [_NO_RUNS[0]]),
            unknown_end=np.concatenate([r[1] for r in runs] or [_NO_RUNS[0]]),
            unknown_offsets=offsets_of(np.array([len(r[0]) for r in runs], np.int64)),
            name_bytes=np.frombuffer(b"".join(encoded), np.uint8),
            name_offsets=offsets_of(np.array([len(name) for name in encoded], np.int64)),
            qualities=quality,
            quality_offsets=offsets,
        )


def consensus(
    piles: Piles,
    params: CorrectParams,
    workers: Workers,
    *,
    doubt: int | None = None,
    report: Report = lambda step, done, total: None,
) -> Consensus:
    """Find the consensus of targets.

    Parameters
    ----------
    piles : Piles
    params : CorrectParams
        With all thresholds (`graph.thresholds.fit_threshold`).
    workers : Workers
        Change nothing but the time.
    doubt : int, optional
        Of corrected reads, which do not err independently of each other, what `graph.thresholds.fit_doubt`
        returns.
    report : callable
        Told how far it is.
    """
    vote = _Vote(piles, params, doubt)
    parts, done = [], 0
    for part in vote.on_gpus(workers.gpus, workers.threads) if workers.gpus else vote.on_cpu(workers.threads):
        parts.append(part)
        done += len(part[0])
        report("consensus", done, len(vote.bounds.target))
    return _joined(parts, vote.bounds.target, len(piles.targets))


class _Vote:
    """The consensus of all targets, a block of pieces at a time.

    What it yields of every block is that of `graph.target_pieces.without_margins`.
    """

    def __init__(self, piles: Piles, params: CorrectParams, doubt: int | None) -> None:
        targets, reads = self._targets, self._reads = piles.targets, piles.reads
        self._rows = piles.rows.widened(targets.lengths, reads.lengths).sort_canonical()
        self._first = np.searchsorted(self._rows.target, np.arange(len(targets) + 1))
        self._settings = settings_of(piles, params, doubt)
        self._sequences = Sequences.of(targets), Sequences.of(reads)
        self.bounds = pieces_of(targets.lengths)

    def on_cpu(self, threads: int) -> Iterator[tuple[np.ndarray, ...]]:
        """Yield the consensus of blocks of pieces, in order."""

        def vote(pieces: np.ndarray) -> tuple[np.ndarray, ...]:
            chosen = self._choose(pieces)
            made = correct_pieces(*self._sequences, chosen.pieces, chosen.rows, chosen.paths, self._settings)
            return self._cut(chosen, made)

        return map_in_order(vote, self._blocks(threads), threads)

    def on_gpus(self, gpus: Gpus, threads: int) -> Iterator[tuple[np.ndarray, ...]]:
        """Do the same; rows are chosen by the CPU, and blocks joined until there are enough for a GPU."""
        from graph import gpu_consensus

        def vote(chosen: Chosen) -> tuple[np.ndarray, ...]:
            made = gpu_consensus.correct_pieces(
                gpus, self._targets, self._reads, chosen.pieces, chosen.rows, self._settings
            )
            return self._cut(chosen, made)

        share = min(GPU_BLOCK_BASES, self._targets.total_bases // gpus.slots)
        blocks = map_in_order(self._choose, self._blocks(threads), threads)
        return map_in_order(vote, gpu_consensus.gathered(blocks, share), gpus.slots)

    def _blocks(self, threads: int) -> list[np.ndarray]:
        """Return the numbers of the pieces of every block."""
        share = share_of_block(self._targets.total_bases, BLOCK_BASES, threads)
        starts = cut_evenly(self.bounds.end - self.bounds.start, share)
        return [np.arange(a, b) for a, b in itertools.pairwise(starts)]

    def _choose(self, number: np.ndarray) -> Chosen:
        bounds = self.bounds
        pieces = Pieces(
            bounds.target[number], bounds.start_with_margin[number], bounds.end_with_margin[number],
            self._first,
        )  # fmt: skip
        return choose_rows(self._rows, number, pieces, *self._sequences, self._settings)

    def _cut(self, chosen: Chosen, made: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Cut the consensus of pieces to what lies between their bounds."""
        number, pieces = chosen.number, chosen.pieces
        made[-1][:, LEFT_OUT] += chosen.elsewhere
        lengths = self._targets.lengths[pieces.target]
        if (pieces.end - pieces.start == lengths).all():
            return np.diff(made[0]), *made[1:]
        # What is inserted behind the last base of a target belongs to its last piece.
        stop = self.bounds.end[number] + (self.bounds.end[number] == lengths)
        return without_margins(made, pieces.start, self.bounds.start[number], stop)


def _joined(parts: list[tuple[np.ndarray, ...]], target: np.ndarray, n: int) -> Consensus:
    """Return the consensus of all ``n`` targets from that of pieces, of which each is of a ``target``."""
    if not parts:
        none = np.zeros(0, np.uint8)
        return Consensus(
            np.zeros(1, np.int64), none, none, none, none.astype(np.int32), np.zeros((0, COUNTS), np.int64)
        )
    lengths, codes, quality, depth, origin, counts = (np.concatenate(c) for c in zip(*parts, strict=True))
    by_target = np.zeros((n, COUNTS), np.int64)
    np.add.at(by_target, target, counts)
    sizes = np.bincount(target, lengths, n).astype(np.int64)
    return Consensus(offsets_of(sizes), codes, quality, depth, origin, by_target)
