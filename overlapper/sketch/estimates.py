"""Coverage, error rate and genome size, estimated from the reads alone.

About half a million 32-mers are sampled by content (`kernels.cpu.kmer_sample`): what is sampled of the genome
is sampled in every read, so the spectrum of the sample is that of all k-mers, and one sort gives it for every
k from 16 to 32.

**Coverage.** At the smallest k whose chance matches are rare, the spectrum is fitted (`sketch.spectrum`): it
gives the mean multiplicity of a correct k-mer and, with the occurrences of correct k-mers among all, the
share q of k-mers without error. The coverage is mean / q, the genome size bases / coverage. Bases from
elsewhere (contamination, failed reads) count among the bases, not as coverage.

**k-mer survival.** q of a longer k follows from the pairs of samples that share k bases: they fall as q
squared. As errors cluster, q lies far above (1 - error rate)**k on real reads, and k-mer counts cannot say
what the error rate is. Therefore

**the error rate** is measured: samples of different reads that share k bases are extended by 320 bases, from
64 bases behind the shared ones on (so that the match does not choose its own neighbourhood), by edit
distance. Two reads with error rates a and b differ by D(a + b); coinciding errors and the freedom of the best
alignment make D(s) = s - 0.6 s**2, which holds to 4 % for mixtures of substitutions, insertions and deletions
between 40:20:40 and 15:55:30, up to s = 0.5. Unrelated sequences differ by 0.51 +- 0.01; pairs above 0.43 are
dropped as such. Partners found by an exact match are better than the average read. So two sets of pairs are
taken: for the first, a pair is drawn from all pairs, and both reads are such partners; for the second, a read
is drawn, so that only the other is. The error rate is the mean sum of the second less half of that of the
first; the outermost 5 % of the sums on either side, often pairs of different copies of a repeat, are left
out.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from overlapper.errors import ParameterError
from overlapper.sketch.spectrum import fit_spectrum
from overlapper.tables import Reads
from overlapper.tables.reads import BASES_PER_WORD
from overlapper.threads import cut_evenly, map_in_order

_SHORTEST_K = 16
_LONGEST_K = 32
_SAMPLES = 500_000
_BASES_PER_SAMPLE = 512
_BLOCK_BASES = 1 << 20
_MOST = 1000
_CHANCE = 256.0
"""k is large enough when there are this many times more k-mers than bases."""

_ALIGNED_SAMPLES = 100_000
_SCATTER = np.uint64(0x9E3779B97F4A7C15)
_PAIRS = 2048
_PAIRS_PER_TASK = 256
_FEWEST_PAIRS = 10
_TRIMMED = 0.05
_SKIP = BASES_PER_WORD + 64
_LENGTH = 320
_SLACK = 32
_UNRELATED = 0.43
_QUADRATIC = 0.6


@dataclasses.dataclass(frozen=True)
class Estimates:
    """What the reads say about themselves; NaN stands for unknown.

    Attributes
    ----------
    coverage : float
        Mean coverage of the genome by error-free and erroneous bases alike.
    error_rate : float
        Substituted, inserted and deleted bases per read base.
    genome_size : float
        Bases.
    kmer_length : int
        k that the coverage was derived at.
    kmer_mean : float
        Mean multiplicity of a correct k-mer of that length that the genome holds once.
    survival : tuple of float
        Share of k-mers without error, for k from ``kmer_length`` to 32.
    spectrum : tuple of int
        Distinct k-mers of that length among the samples by multiplicity; the last entry holds all from 1000
        on.
    samples : int
        32-mers sampled.
    pairs : int
        Pairs of reads that the error rate was measured on.
    unknown : str
        Why a value is unknown; empty when none is.
    """

    coverage: float
    error_rate: float
    genome_size: float
    kmer_length: int
    kmer_mean: float
    survival: tuple[float, ...]
    spectrum: tuple[int, ...]
    samples: int
    pairs: int
    unknown: str

    def kmer_survival(self, k: int) -> float:
        """Return the share of k-mers without error; NaN when unknown.

        Below ``kmer_length`` its logarithm is interpolated down to k = 0, above 32 extrapolated, linearly.
        """
        if k < 1:
            raise ParameterError(f"k is {k}, expected 1 or more")
        if not self.survival:
            return math.nan
        if k <= self.kmer_length:
            return self.survival[0] ** (k / self.kmer_length)
        if k <= _LONGEST_K:
            return self.survival[k - self.kmer_length]
        return self.survival[-1] * (self.survival[-1] / self.survival[0]) ** (
            (k - _LONGEST_K) / (_LONGEST_K - self.kmer_length)
        )

    def kmer_error_rate(self, k: int) -> float:
        """Return the rate of independent errors that would leave as many k-mers intact; NaN when unknown."""
        return 1.0 - self.kmer_survival(k) ** (1.0 / k)


def estimate(reads: Reads, threads: int = 1) -> Estimates:
    """Estimate coverage, error rate and genome size of a read set.

    Parameters
    ----------
    reads : Reads
    threads : int
        How many to use; the result does not depend on it.

    Returns
    -------
    Estimates
        A value that the reads do not tell is NaN, and ``unknown`` says why.
    """
    from overlapper.kernels.cpu import kmer_sample

    samples, places = _draw(reads, threads)
    ordered = np.sort(samples)
    k = _least_k(reads.total_bases)
    spectrum = kmer_sample.prefix_spectrum(ordered, k, _MOST)
    counted = tuple(spectrum.tolist())
    fit = fit_spectrum(spectrum)
    if fit is None:
        reason = f"too few of {len(samples)} sampled k-mers occur twice: too few reads, or none overlap"
        return Estimates(math.nan, math.nan, math.nan, k, math.nan, (), counted, len(samples), 0, reason)
    pairs = kmer_sample.prefix_pairs(ordered, k, fit.upper)
    correct = min(1.0, fit.occurrences / len(samples))
    survival = tuple(float(s) for s in correct * np.sqrt(pairs / max(1, pairs[0])))
    error_rate, measured = _measure_errors(reads, samples, places, k, fit.upper, threads)
    coverage = fit.mean / correct
    reason = ""
    if math.isnan(error_rate):
        needed = _SKIP + _LENGTH + _SLACK
        reason = f"error rate: only {measured} pairs of reads share a k-mer {needed} bases from their ends"
    return Estimates(
        coverage=coverage,
        error_rate=error_rate,
        genome_size=reads.total_bases / coverage,
        kmer_length=k,
        kmer_mean=fit.mean,
        survival=survival,
        spectrum=counted,
        samples=len(samples),
        pairs=measured,
        unknown=reason,
    )


def _least_k(bases: int) -> int:
    """Return the smallest k, 16 to 28, at which few k-mers match by chance."""
    wanted = math.ceil(math.log(max(1, bases) * _CHANCE, 4))
    return min(max(wanted, _SHORTEST_K), 28)


def _draw(reads: Reads, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 32-mers of all reads and where they start, as `kernels.cpu.kmer_sample.sample` gives them."""
    from overlapper.kernels.cpu import kmer_sample

    wanted = max(_SAMPLES, reads.total_bases // _BASES_PER_SAMPLE)
    share = min(1.0, wanted / max(1, reads.total_bases))
    threshold = np.uint32(min(2**32 - 1, int(share * 2**32)))
    bounds = cut_evenly(reads.lengths, _BLOCK_BASES)

    def draw_block(block: int) -> tuple[np.ndarray, np.ndarray]:
        return kmer_sample.sample(
            reads.words, reads.word_offsets, reads.lengths,
            reads.unknown_start, reads.unknown_end, reads.unknown_offsets,
            int(bounds[block]), int(bounds[block + 1]), threshold,
        )  # fmt: skip

    blocks = list(map_in_order(draw_block, range(len(bounds) - 1), threads))
    if not blocks:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    return np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])


def _measure_errors(
    reads: Reads, samples: np.ndarray, places: np.ndarray, k: int, most: int, threads: int
) -> tuple[float, int]:
    """Return the error rate and the number of pairs it was measured on; see the top of the module."""
    from overlapper.kernels.cpu import kmer_sample

    samples, places = _thin_out(samples, places)
    order = np.argsort(samples, kind="stable")
    samples, places = samples[order], places[order]
    base = np.where(places < 0, ~places, places)
    holder = np.searchsorted(reads.word_offsets, base // BASES_PER_WORD, side="right") - 1
    position = base - reads.word_offsets[holder] * BASES_PER_WORD
    room = np.where(places < 0, position + 1, reads.lengths[holder] - position)
    partners = kmer_sample.pick_partners(samples, holder, room, k, most, _SKIP + _LENGTH + _SLACK)

    paired = np.flatnonzero(partners >= 0)
    # By place, not by content, which would draw all reads at a few places of the genome.
    paired = paired[np.argsort(places[paired].astype(np.uint64) * _SCATTER, kind="stable")]
    drawn_pairs = paired[:_PAIRS]
    drawn_reads = paired[_spread(np.unique(holder[paired], return_index=True)[1])]
    rows = np.concatenate([drawn_pairs, drawn_reads])
    sums = _sum_of_errors(reads, places[rows], places[partners[rows]], threads)
    weights = np.concatenate([np.ones(len(drawn_pairs)), reads.lengths[holder[drawn_reads]]])
    related = ~np.isnan(sums)
    of_pairs, of_reads = related.copy(), related.copy()
    of_pairs[len(drawn_pairs) :] = False
    of_reads[: len(drawn_pairs)] = False
    if of_reads.sum() < _FEWEST_PAIRS:
        return math.nan, int(related.sum())
    chosen = _trimmed_mean(sums[of_pairs], weights[of_pairs])
    average = _trimmed_mean(sums[of_reads], weights[of_reads])
    return max(0.0, average - chosen / 2), int(related.sum())


def _thin_out(samples: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Keep about `_ALIGNED_SAMPLES` samples, by their anchors, so that partners stay together."""
    if len(samples) <= _ALIGNED_SAMPLES:
        return samples, places
    threshold = np.uint64(int(_ALIGNED_SAMPLES / len(samples) * 2**64))
    kept = (samples >> np.uint64(32)) * _SCATTER <= threshold
    return samples[kept], places[kept]


def _spread(rows: np.ndarray) -> np.ndarray:
    """Return at most `_PAIRS` rows, evenly spread."""
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), _PAIRS)).astype(np.int64)]


def _trimmed_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted mean without the lowest and the highest `_TRIMMED` of the weight."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) / weights.sum()
    inside = order[(below > _TRIMMED) & (below <= 1 - _TRIMMED)]
    return float(np.average(values[inside], weights=weights[inside]))


def _sum_of_errors(reads: Reads, one: np.ndarray, other: np.ndarray, threads: int) -> np.ndarray:
    """Return the summed error rates of the two reads at each pair of places; NaN for unrelated ones."""
    from overlapper.kernels.cpu import prefix_edits

    edits = np.empty(len(one), np.int32)

    def measure(start: int) -> None:
        part = slice(start, start + _PAIRS_PER_TASK)
        prefix_edits.pair_edits(reads.words, one[part], other[part], _SLACK, _SKIP, _LENGTH, edits[part])

    list(map_in_order(measure, range(0, len(one), _PAIRS_PER_TASK), threads))
    difference = edits / _LENGTH
    largest = 1 / (4 * _QUADRATIC)
    root = np.sqrt(1 - np.minimum(difference, largest) / largest)
    return np.where(difference > _UNRELATED, np.nan, (1 - root) / (2 * _QUADRATIC))
