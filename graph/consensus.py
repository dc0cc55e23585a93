"""Consensus of targets, reads or unitigs, from the reads that lie on them.

Targets are worked on in pieces (`graph.target_pieces`), so that memory is bounded by the piece and one long
target keeps all threads busy. ``docs/algorithms/correction.md`` has the definition.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from graph.params import CorrectParams
from graph.row_choice import rows_of_pieces
from graph.target_pieces import pieces_of, without_margins
from overlapper.tables import Reads
from overlapper.tables.base import Table, column, offsets_of
from overlapper.threads import cut_evenly, map_in_order, share_of_block

if TYPE_CHECKING:
    from graph.gpu_consensus import Chosen
    from overlapper.gpus import Gpus
    from overlapper.pipeline import Report

BLOCK_BASES = 150_000
"""Bases of targets that a thread works on at a time, at most."""
GPU_BLOCK_BASES = 10_000_000
"""Bases of targets that a GPU takes at a time, at most."""
WEIGHT, MOST_WEIGHT = 10, 40
"""Weight of a base without a quality, and the highest weight of one that has it."""
WIDEN = 200
"""Rows are widened by so many bases where both reads go on."""
ACCURATE_ANCHOR, ANCHOR = 15, 11
"""Shortest anchors where the median divergence of overlaps is below `LONG_ANCHORS_BELOW`, and elsewhere."""
LONG_ANCHORS_BELOW = 0.05
ACCURATE_BELOW, NEAREST_SHARE = 0.02, 0.1
"""Reads are accurate where the nearest tenth of overlaps diverge by less; most may be of other copies."""

TYPICAL_THRESHOLD, THRESHOLD_EVEN, THRESHOLD_SLOPE = 57, 56, 60
LOWEST_THRESHOLD, HIGHEST_THRESHOLD = 45, 66
LOWEST_RUN_THRESHOLD, FEWEST_RUNS = 20, 100
SAMPLE_TARGETS, FEWEST_INDELS = 12, 200
SAMPLE_BASES = 100_000
"""Of corrected reads so many are looked at, as few columns are divided."""

DIVIDED = 35, 55
"""A base is doubtful between these percentages of the weight; see `fit_doubt`."""
RAW_DOUBT, TYPICALLY_DIVIDED, LEAST_DOUBT, MOST_DOUBT = 16, 0.0002, 0.5, 3.0
"""What a doubt counts, where reads err independently, and in 16ths of it; bases that are divided in simulated
CLR reads at 28x; least and most doubt, relative to theirs."""
DIVERGENCES, WORTHS = (0.003, 0.02, 0.065, 0.10, 0.12), (2.0, 1.6, 1.0, 0.95, 0.8)
"""What the vote of a read tells, by about how much reads diverge from the truth; fitted on simulations."""


@dataclasses.dataclass(frozen=True, eq=False)
class Rows(Table):
    """Reads on targets. Intervals are 0-based half-open, on forward strands.

    Attributes
    ----------
    target, read : ndarray of int32, shape (n,)
    reverse : ndarray of bool, shape (n,)
        True where the read's reverse complement matches the target.
    t_start, t_end, r_start, r_end : ndarray of int64, shape (n,)
    score : ndarray of int32, shape (n,)
        Of a target's rows those with the highest are taken first.
    divergence : ndarray of float32, shape (n,)
        Differences a base; NaN where unknown.
    """

    SORT_KEYS: ClassVar = ("target", "worst", "read", "t_start", "r_start", "reverse")

    target: np.ndarray = column("i4")
    read: np.ndarray = column("i4")
    reverse: np.ndarray = column("?")
    t_start: np.ndarray = column("i8")
    t_end: np.ndarray = column("i8")
    r_start: np.ndarray = column("i8")
    r_end: np.ndarray = column("i8")
    score: np.ndarray = column("i4")
    divergence: np.ndarray = column("f4")

    @property
    def worst(self) -> np.ndarray:
        """Scores, negated."""
        return -self.score


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
        from overlapper.kernels.cpu.piece_rows import pack_codes
        from overlapper.tables.base import gather_ragged
        from overlapper.tables.reads import UNKNOWN, unknown_runs, words_for

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
    targets: Reads,
    reads: Reads,
    rows: Rows,
    params: CorrectParams | None = None,
    *,
    targets_vote: bool,
    doubt: int | None = None,
    threads: int = 1,
    gpus: Gpus | None = None,
    report: Report = lambda step, done, total: None,
) -> Consensus:
    """Find the consensus of targets.

    Parameters
    ----------
    targets, reads : Reads
        Weighted by their qualities, where they have them.
    rows : Rows
    params : CorrectParams, optional
    targets_vote : bool
        Whether a target is a read that votes like the others, or only where they are put.
    doubt : int, optional
        Of corrected reads, which do not err independently of each other, what `fit_doubt` returns.
    threads : int
        Changes nothing but the time.
    gpus : Gpus, optional
        That hold the reads and their qualities: they vote instead of the CPU, with the same result.
    report : callable
        Told how far it is.
    """
    from overlapper.kernels.cpu import correct as kernel

    params = fit_threshold(
        targets, reads, rows, params or CorrectParams(), targets_vote=targets_vote, threads=threads, gpus=gpus
    )
    rows = _widened(rows, targets.lengths, reads.lengths).sort_canonical()
    first = np.searchsorted(rows.target, np.arange(len(targets) + 1))
    bounds = pieces_of(targets.lengths)
    nearest, typical = _divergences(rows)
    settings = kernel.Settings(
        params.kmer_length or (ACCURATE_ANCHOR if typical < LONG_ANCHORS_BELOW else ANCHOR), params.max_gap,
        _by_draft(params),
        WEIGHT, MOST_WEIGHT, targets_vote, params.guard,
        _worth(typical / 2 if targets_vote else typical) if doubt is None else 0, doubt or RAW_DOUBT,
    )  # fmt: skip
    sequences = kernel.Sequences.of(targets), kernel.Sequences.of(reads)
    blocks = cut_evenly(bounds.end - bounds.start, share_of_block(targets.total_bases, BLOCK_BASES, threads))

    def choose(block: int) -> Chosen:
        pieces = np.arange(blocks[block], blocks[block + 1])
        with_margins = kernel.Pieces(
            bounds.target[pieces], bounds.start_with_margin[pieces], bounds.end_with_margin[pieces], first
        )
        chosen = rows_of_pieces(
            rows, with_margins, *sequences, settings, params.max_depth, nearest < ACCURATE_BELOW
        )
        return pieces, *chosen

    def vote(chosen: Chosen) -> tuple[np.ndarray, ...]:
        number, pieces, on_pieces, paths, elsewhere = chosen
        if gpus:
            made = gpu_consensus.correct_pieces(gpus, targets, reads, pieces, on_pieces, settings)
        else:
            made = kernel.correct_pieces(*sequences, pieces, on_pieces, paths, settings)
        made[-1][:, kernel.LEFT_OUT] += elsewhere
        lengths = targets.lengths[pieces.target]
        if (pieces.end - pieces.start == lengths).all():
            return np.diff(made[0]), *made[1:]
        # What is inserted behind the last base of a target belongs to its last piece.
        stop = bounds.end[number] + (bounds.end[number] == lengths)
        return without_margins(made, pieces.start, bounds.start[number], stop)

    numbers = range(len(blocks) - 1)
    if gpus:
        from graph import gpu_consensus

        share = min(GPU_BLOCK_BASES, targets.total_bases // gpus.slots)
        batches = gpu_consensus.gathered(map_in_order(choose, numbers, threads), share)
        voted = map_in_order(vote, batches, gpus.slots)
    else:
        voted = map_in_order(lambda block: vote(choose(block)), numbers, threads)
    parts, done = [], 0
    for part in voted:
        parts.append(part)
        done += len(part[0])
        report("consensus", done, len(bounds.target))
    return _joined(parts, bounds.target, len(targets), kernel.COUNTS)


def fit_threshold(
    targets: Reads,
    reads: Reads,
    rows: Rows,
    params: CorrectParams,
    *,
    targets_vote: bool,
    threads: int = 1,
    gpus: Gpus | None = None,
) -> CorrectParams:
    """Derive the thresholds of the consensus that are not given from a sample of the targets.

    Where reads insert more than they delete, a wrong column attracts more chance matches, and the consensus
    has to ask for more; where they delete more, it asks for less. In homopolymer runs reads have rates of
    their own, and so these have a threshold of their own.

    Parameters
    ----------
    targets, reads, rows, params, targets_vote, threads, gpus
        As for `consensus`.
    """
    from overlapper.kernels.cpu.correct import DELETED, INSERTED, LONGER, RUNS, SHORTER

    *first, last = params.thresholds
    if last and params.run_threshold:
        return params
    sample, some = _sample(targets, rows, SAMPLE_TARGETS)

    def measured(last: int, run: int) -> list[int]:
        tried = dataclasses.replace(params, thresholds=(*first, last), run_threshold=run)
        made = consensus(sample, reads, some, tried, targets_vote=targets_vote, threads=threads, gpus=gpus)
        return [int(made.counts[:, column].sum()) for column in (INSERTED, DELETED, RUNS, SHORTER, LONGER)]

    typical = last or TYPICAL_THRESHOLD
    inserted, deleted, *runs = measured(typical, params.run_threshold or typical)
    if not last and inserted + deleted >= FEWEST_INDELS:
        threshold = THRESHOLD_EVEN + round(THRESHOLD_SLOPE * (inserted / (inserted + deleted) - 0.5))
        last = min(max(threshold, LOWEST_THRESHOLD), HIGHEST_THRESHOLD)
    last = last or TYPICAL_THRESHOLD
    run = params.run_threshold or last
    # Where reads insert more than they delete, any base confirms columns that are not true, in runs too.
    if deleted > inserted and runs[0] >= FEWEST_RUNS and not params.run_threshold:
        # The first consensus has runs that are too short, which hides how many bases reads lose there.
        *_, runs_again, shorter, longer = measured(last, run_threshold(*runs))
        run = run_threshold(runs_again, shorter, longer)
    return dataclasses.replace(params, thresholds=(*first, last), run_threshold=run)


def fit_doubt(
    reads: Reads, rows: Rows, params: CorrectParams, *, threads: int = 1, gpus: Gpus | None = None
) -> int:
    """Return what a doubt counts where corrected reads vote, in 16ths, from a sample of them.

    What they are wrong in together no vote shows; but the more of it there is, the more columns there are at
    which they are divided. These are the bases that a higher threshold takes away.

    Parameters
    ----------
    reads, rows, params, threads, gpus
        As for `consensus`.
    """
    wanted = -(-len(reads) * SAMPLE_BASES // max(reads.total_bases, 1))
    sample, some = _sample(reads, rows, max(SAMPLE_TARGETS, wanted))
    *first, _ = params.thresholds

    def bases(threshold: int) -> int:
        tried = dataclasses.replace(params, thresholds=(*first, threshold), run_threshold=threshold)
        made = consensus(
            sample, reads, some, tried, targets_vote=True, doubt=RAW_DOUBT, threads=threads, gpus=gpus
        )
        return len(made.codes)

    low, high = map(bases, DIVIDED)
    divided = (low - high + 1) / (high + 1)
    return round(RAW_DOUBT * min(max((divided / TYPICALLY_DIVIDED) ** 0.25, LEAST_DOUBT), MOST_DOUBT))


def _sample(targets: Reads, rows: Rows, wanted: int) -> tuple[Reads, Rows]:
    """Return so many of the targets, evenly spread, and the rows on these."""
    sample = np.unique(np.linspace(0, len(targets) - 1, min(len(targets), wanted)).astype(int))
    number = np.full(len(targets), -1, np.int32)
    number[sample] = np.arange(len(sample))
    some = rows.take(number[rows.target] >= 0)
    return targets.take(sample), dataclasses.replace(some, target=number[some.target])


def run_threshold(runs: int, shorter: int, longer: int) -> int:
    """Return the percentage of votes above which a base of a homopolymer run is likelier there than not.

    Votes are taken as independent: a base that is there is missing with the rate of shorter runs, one that is
    not is seen with the rate of longer ones.

    Parameters
    ----------
    runs, shorter, longer : int
        Runs of reads, and those that are shorter and longer than they should be.
    """
    missing, seen = (shorter + 1) / (runs + 2), (longer + 1) / (runs + 2)
    absent = np.log((1 - seen) / missing)
    share = absent / (absent + np.log((1 - missing) / seen))
    return int(min(max(round(100 * share), LOWEST_RUN_THRESHOLD), HIGHEST_THRESHOLD))


def _by_draft(params: CorrectParams) -> np.ndarray:
    """Return the thresholds of every draft, of other bases and of those of homopolymer runs."""
    both = np.array([params.thresholds, params.thresholds]).T
    both[-1, 1] = params.run_threshold
    return np.ascontiguousarray(both)


def _divergences(rows: Rows) -> tuple[float, float]:
    """Return the divergence that the nearest rows stay below, and the median one; 1 where none is known."""
    known = rows.divergence[~np.isnan(rows.divergence)]
    if not len(known):
        return 1.0, 1.0
    nearest, typical = np.quantile(known, [NEAREST_SHARE, 0.5])
    return float(nearest), float(typical)


def _worth(divergence: float) -> int:
    """Return what the vote of a read tells, in 64ths, as in `overlapper.kernels.cpu.correct.Settings`."""
    return round(64 * float(np.interp(divergence, DIVERGENCES, WORTHS)))


_NO_RUNS = (np.zeros(0, np.int32), np.zeros(0, np.int32))


def _widened(rows: Rows, t_lengths: np.ndarray, r_lengths: np.ndarray) -> Rows:
    """Let rows go on at either end, by the same number of bases on both reads, as far as these go."""
    before, behind = rows.r_start, r_lengths[rows.read] - rows.r_end
    left = np.minimum(rows.t_start, np.where(rows.reverse, behind, before)).clip(0, WIDEN)
    right = np.minimum(
        t_lengths[rows.target] - rows.t_end, np.where(rows.reverse, before, behind)
    ).clip(0, WIDEN)  # fmt: skip
    return dataclasses.replace(
        rows,
        t_start=rows.t_start - left,
        t_end=rows.t_end + right,
        r_start=rows.r_start - np.where(rows.reverse, right, left),
        r_end=rows.r_end + np.where(rows.reverse, left, right),
    )


def _joined(parts: list[tuple[np.ndarray, ...]], target: np.ndarray, n: int, n_counts: int) -> Consensus:
    if not parts:
        none = np.zeros(0, np.uint8)
        return Consensus(
            np.zeros(1, np.int64), none, none, none, none.astype(np.int32), np.zeros((0, n_counts), np.int64)
        )
    lengths, codes, quality, depth, origin, counts = (np.concatenate(c) for c in zip(*parts, strict=True))
    by_target = np.zeros((n, n_counts), np.int64)
    np.add.at(by_target, target, counts)
    sizes = np.bincount(target, lengths, n).astype(np.int64)
    return Consensus(offsets_of(sizes), codes, quality, depth, origin, by_target)
