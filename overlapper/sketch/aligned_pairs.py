"""Error rate and share of intact k-mers, estimated from alignments of reads that share k bases.

Samples of different reads that share k bases are extended by 320 bases, from 64 bases behind the shared ones
on (so that the match does not choose its own neighbourhood), by edit distance. Unrelated reads differ by u,
the median of samples that are paired at random: 0.50 where the four bases are equally common, 0.45 where four
of five are A or T. Two reads with error rates a and b differ by D(a + b); coinciding errors and the freedom
of the best alignment make D(s) = s - 0.3 s**2 / u, which holds to 5 % (9 % where four of five bases are A or
T) for mixtures of substitutions, insertions and deletions between 40:20:40 and 15:55:30, up to s = 0.4. Pairs
that differ by more than 0.86 u are dropped as unrelated.

Partners found by an exact match are better than the average read. So two sets of pairs are taken: for the
first, a pair is drawn from all pairs, and both reads are such partners; for the second, a read is drawn, so
that only the other is. The error rate is the mean sum of the second less half of that of the first; the
outermost 5 % of the sums on either side, often pairs of different copies of a repeat, are left out.

Likewise for the share q of k-mers without error: the k-mers in these 320 bases that the other read has, too,
are without error in both; with their share f in the first set and g in the second, q = g / sqrt(f).

How much pairs differ in what they share is taken from the second set, over 1,000 bases in place of 320: of
306 k-mers noisy reads share some 16, in clumps of five, so that chance alone makes the number as different
from pair to pair as it is. Where reads are too short for that it is 320 all the same.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Self

import numpy as np

from overlapper.runtime.threads import for_each
from overlapper.sketch.choice import MEASURED, SharedKmers
from overlapper.sketch.samples import Samples
from overlapper.tables import Reads
from overlapper.tables.reads import BASES_PER_WORD

_FEWEST_ALIGNED, _BASES_PER_ALIGNED = 100_000, 120
_SCATTER = np.uint64(0x9E3779B97F4A7C15)
_PAIRS = 2048
_PAIRS_PER_TASK = 256
_FEWEST_PAIRS = 10
_TRIMMED = 0.05
_SKIP = BASES_PER_WORD + 64
_LENGTH = 320
_SLACK = 32
_PAIRED_AT_RANDOM = 512
_STRETCH, _STRETCH_SLACK = 1000, 128
"""Bases behind the shared ones over which pairs are compared, if `_FEWEST_LONG` pairs of each set are that
long."""
_FEWEST_LONG, _COMPARED = 512, 1024
"""Pairs of each set that comparing over `_STRETCH` bases takes; most pairs of each set that are compared."""
_RELATED = 0.86
"""Most differences of related reads, relative to those of unrelated ones."""
_QUADRATIC = 0.3

NEEDED_BASES = _SKIP + _LENGTH + _SLACK
"""Bases that the read of a sample must have from the start of the sample on."""


@dataclasses.dataclass(frozen=True)
class AlignedPairs:
    """Both sets of pairs, the first one's rows first."""

    reads: Reads
    one: np.ndarray
    other: np.ndarray
    """`one`, `other`: int64, shape (pairs,); places of the samples, as `kernels.seeds.kmer_sample.sample`
    gives them."""
    from_all: int
    """Rows of the first set."""
    weights: np.ndarray
    """float64, shape (pairs,); bases of the read that was drawn, over the chance that a read of its length is
    drawn; 1 in the first set."""
    room: np.ndarray
    """int64, shape (pairs,); bases that both reads have from the place on."""
    errors: np.ndarray
    """float64, shape (pairs,); summed error rates of both reads; NaN for unrelated ones."""

    @classmethod
    def draw(cls, reads: Reads, samples: Samples, k: int, most: int, threads: int) -> Self:
        """Draw pairs of samples that share k bases, and align them.

        Parameters
        ----------
        most : int
            k-mers that occur more often give no pairs.
        threads : int
            The result does not depend on it.
        """
        from overlapper.kernels.seeds import kmer_sample

        samples = _thin_out(samples, reads.total_bases)
        places, holder, room = samples.places, samples.reads, samples.rooms
        partners = kmer_sample.pick_partners(samples.bases, holder, room, k, most, NEEDED_BASES)

        paired = np.flatnonzero(partners >= 0)
        # By place, not by content, which would draw all reads at a few places of the genome.
        keys = _scattered(places[paired])
        of_pairs = paired[_first_of_all(keys, _PAIRS)]
        of_reads = paired[_spread(_first_of_each(holder[paired], keys, len(reads)), _PAIRS)]
        rows = np.concatenate([of_pairs, of_reads])
        one, other = places[rows], places[partners[rows]]
        # Of reads with few samples some have none with a partner: long reads are drawn more often.
        starts = np.maximum(0, reads.lengths - NEEDED_BASES + 1)
        chance = -np.expm1(-starts[holder[of_reads]] * (len(paired) / max(1, int(starts.sum()))))
        weights = np.concatenate([np.ones(len(of_pairs)), reads.lengths[holder[of_reads]] / chance])
        unrelated = _median_difference(reads, places[room >= NEEDED_BASES], threads)
        errors = _sum_of_errors(_differences(reads, one, other, threads), unrelated)
        shorter = np.minimum(room[rows], room[partners[rows]])
        return cls(reads, one, other, len(of_pairs), weights, shorter, errors)

    @property
    def measured(self) -> int:
        """Related pairs of both sets."""
        return int(np.count_nonzero(~np.isnan(self.errors)))

    def related(self) -> float:
        """Return the share of related pairs in the first set; NaN for none."""
        first = self.errors[: self.from_all]
        return float(np.mean(~np.isnan(first))) if len(first) else math.nan

    def error_rate(self) -> float:
        """Return substituted, inserted and deleted bases per read base; NaN for too few pairs."""
        of_pairs, of_reads = self._sets()
        if len(of_reads) < _FEWEST_PAIRS:
            return math.nan
        chosen = _trimmed_mean(self.errors[of_pairs], self.weights[of_pairs])
        average = _trimmed_mean(self.errors[of_reads], self.weights[of_reads])
        return max(0.0, average - chosen / 2)

    def intact(self, k: int, threads: int) -> float:
        """Return the share q of k-mers without error; NaN for too few pairs."""
        of_pairs, of_reads = self._sets()
        if min(len(of_pairs), len(of_reads)) < _FEWEST_PAIRS:
            return math.nan
        in_both = float(np.mean(self._shared_kmers(of_pairs, (k,), threads)[0]))
        (shares,) = self._shared_kmers(of_reads, (k,), threads)
        in_average = float(np.average(shares, weights=self.weights[of_reads]))
        return min(1.0, in_average / math.sqrt(in_both)) if in_both else math.nan

    def shared_kmers(self, chance: float, threads: int) -> SharedKmers | None:
        """Return the shares of common k-mers of pairs of average reads; None for too few pairs.

        Of the second set one read is better than average: its shares are multiplied by g / f.

        Parameters
        ----------
        chance : float
            Probability that two bases are equal by chance.
        """
        sets, stretch = self._sets(), (_LENGTH, _SLACK)
        if min(map(len, sets)) < _FEWEST_PAIRS:
            return None
        of_long = [rows[self.room[rows] >= _SKIP + _STRETCH + _STRETCH_SLACK] for rows in sets]
        if min(map(len, of_long)) >= _FEWEST_LONG:
            sets, stretch = (of_long[0], of_long[1]), (_STRETCH, _STRETCH_SLACK)
        of_pairs, of_reads = (rows[_spread(np.arange(len(rows)), _COMPARED)] for rows in sets)
        weights = self.weights[of_reads]
        shares = []
        in_pairs = self._shared_kmers(of_pairs, MEASURED, threads, *stretch)
        in_reads = self._shared_kmers(of_reads, MEASURED, threads, *stretch)
        for better, found in zip(in_pairs, in_reads, strict=True):
            of_better = float(np.mean(better))
            scale = float(np.average(found, weights=weights)) / of_better if of_better else 0.0
            shares.append(np.minimum(1.0, scale * found))
        return SharedKmers.measured(shares, weights, chance)

    def _sets(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of the related pairs of each set."""
        related = np.flatnonzero(~np.isnan(self.errors))
        return related[related < self.from_all], related[related >= self.from_all]

    def _shared_kmers(
        self, rows: np.ndarray, ks: tuple[int, ...], threads: int, length: int = _LENGTH, slack: int = _SLACK
    ) -> list[np.ndarray]:
        """Return, for each k, the share of the k-mers behind one place that the other place has, too."""
        from overlapper.kernels.seeds import prefix_edits

        shared = np.empty((len(rows), len(ks)), np.int32)

        def count(part: slice) -> None:
            one, other = self.one[rows[part]], self.other[rows[part]]
            prefix_edits.pair_kmers(
                self.reads.words, one, other, slack, _SKIP, length, np.array(ks), shared[part]
            )

        _in_parts(count, len(rows), threads)
        return [shared[:, column] / (length - k + 1) for column, k in enumerate(ks)]


def _thin_out(samples: Samples, bases: int) -> Samples:
    """Keep a sample in 120 bases, at least 100,000 in all, by their anchors: partners stay together."""
    most = max(_FEWEST_ALIGNED, bases // _BASES_PER_ALIGNED)
    if len(samples) <= most:
        return samples
    threshold = np.uint64(int(most / len(samples) * 2**64))
    return samples[(samples.bases >> np.uint64(32)) * _SCATTER <= threshold]


def _spread(rows: np.ndarray, most: int) -> np.ndarray:
    """Return at most ``most`` rows, evenly spread."""
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(np.int64)]


def _scattered(places: np.ndarray) -> np.ndarray:
    """Return distinct numbers that put places in arbitrary order."""
    return places.astype(np.uint64) * _SCATTER


def _first_of_all(keys: np.ndarray, most: int) -> np.ndarray:
    """Return the rows of the ``most`` smallest keys, the smallest first; keys are distinct."""
    if len(keys) <= most:
        return np.argsort(keys)
    first = np.argpartition(keys, most - 1)[:most]
    return first[np.argsort(keys[first])]


def _first_of_each(holder: np.ndarray, keys: np.ndarray, reads: int) -> np.ndarray:
    """Return the row of the smallest key of each read that holds any, by read; keys are distinct."""
    least = np.full(reads, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(least, holder, keys)
    rows = np.flatnonzero(keys == least[holder])
    return rows[np.argsort(holder[rows])]


def _trimmed_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted mean without the lowest and the highest `_TRIMMED` of the weight."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) / weights.sum()
    inside = order[(below > _TRIMMED) & (below <= 1 - _TRIMMED)]
    return float(np.average(values[inside], weights=weights[inside]))


def _median_difference(reads: Reads, places: np.ndarray, threads: int) -> float:
    """Return the median difference of samples paired at random; NaN if it is 0, or they are too few."""
    keys = _scattered(places)
    half = min(len(places) // 2, _PAIRED_AT_RANDOM)
    if not half:
        return math.nan
    drawn = places[_first_of_all(keys, 2 * half)]
    # Most reads may be the same few bases over and over: nothing tells unrelated ones then.
    return float(np.median(_differences(reads, drawn[:half], drawn[half : 2 * half], threads))) or math.nan


def _differences(reads: Reads, one: np.ndarray, other: np.ndarray, threads: int) -> np.ndarray:
    """Return edits per base behind each pair of places."""
    from overlapper.kernels.seeds import prefix_edits

    edits = np.empty(len(one), np.int32)

    def measure(part: slice) -> None:
        prefix_edits.pair_edits(reads.words, one[part], other[part], _SLACK, _SKIP, _LENGTH, edits[part])

    _in_parts(measure, len(one), threads)
    return edits / _LENGTH


def _sum_of_errors(difference: np.ndarray, unrelated: float) -> np.ndarray:
    """Return the summed error rates of pairs of reads that differ so much; NaN for unrelated ones."""
    quadratic = _QUADRATIC / unrelated
    largest = 1 / (4 * quadratic)
    root = np.sqrt(1 - np.minimum(difference, largest) / largest)
    return np.where(difference > _RELATED * unrelated, np.nan, (1 - root) / (2 * quadratic))


def _in_parts(work: Callable[[slice], None], n: int, threads: int) -> None:
    """Do ``work(part)`` for all parts of n pairs."""
    parts = [slice(start, start + _PAIRS_PER_TASK) for start in range(0, n, _PAIRS_PER_TASK)]
    for_each(work, parts, threads)
