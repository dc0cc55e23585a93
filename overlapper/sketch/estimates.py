"""Coverage, error rate and genome size, estimated from the reads alone.

Half a million 32-mers or more are sampled by content (`kernels.seeds.kmer_sample`): what is sampled of the
genome is sampled in every read, so the spectrum of the sample is that of all k-mers, and one sort gives it
for every k from 16 to 32.

**Chance matches** are rare from a k on that the composition tells, as few k-mers make up much of a genome of
A and T, or of low complexity: two k-mers are equal by chance with probability c**(k / 6), c being that of two
hexamers, the last ones of two samples. k is the smallest for which it is at most one in 256 times the bases.

**Coverage.** At that k the spectrum is fitted (`sketch.spectrum`): it gives the mean multiplicity of a
correct k-mer and, with the occurrences of correct k-mers among all, the share q of k-mers without error. The
coverage is mean / q, the genome size bases / coverage. Bases from elsewhere (contamination, failed reads)
count among the bases, not as coverage.

**k-mer survival.** q of a longer k follows from the pairs of samples that share k bases: they fall as q
squared. As errors cluster, q lies far above (1 - error rate)**k on real reads, and k-mer counts cannot say
what the error rate is. Therefore

**the error rate** is measured by aligning pairs of reads (`sketch.aligned_pairs`), and q as well, to check
the spectrum: where k-mers are covered about once it has no peak, and the k-mers of a few repeats may pass for
the genome. A fit by which q is less than 0.67 of what the pairs show is dropped; less than 0.3 where the fit
starts at a valley, as foreign bases lower q as well. Then the coverage c follows from the pairs of samples
that share k bases, of which there are ``n c q**2 / 2`` among n samples, and those by chance and repeat; the
aligned pairs tell how many are related. k-mers that occur far more often than c q are left out as repeats;
c is unknown where these hold half of the pairs, or c q is above 3.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from overlapper.errors import ParameterError
from overlapper.sketch.aligned_pairs import NEEDED_BASES, AlignedPairs
from overlapper.sketch.chance import Background
from overlapper.sketch.choice import SharedKmers
from overlapper.sketch.samples import Samples
from overlapper.sketch.spectrum import SpectrumFit, fit_spectrum
from overlapper.tables import Reads

_SHORTEST_K = 16
_LONGEST_K = 32
_SAMPLES = 500_000
_BASES_PER_SAMPLE = 512
_MOST = 1000
_CHANCE = 256.0
"""k is large enough when a k-mer is expected to have one chance match in this many read sets."""

_LEAST_AGREEMENT, _LEAST_BEHIND_VALLEY = 0.67, 0.3
_LEAST_SHARE = 1e-6
_MOST_OF_PAIRS, _LARGEST_MEAN_OF_PAIRS = 32, 3.0


@dataclasses.dataclass(frozen=True)
class Estimates:
    """Coverage, error rate and genome size estimated from reads; NaN stands for unknown."""

    coverage: float
    """Mean coverage of the genome by error-free and erroneous bases alike."""
    error_rate: float
    """Substituted, inserted and deleted bases per read base."""
    genome_size: float
    """Bases."""
    kmer_length: int
    """k that the coverage was derived at."""
    kmer_mean: float
    """Mean multiplicity of a correct k-mer of that length that the genome holds once."""
    survival: tuple[float, ...]
    """Share of k-mers without error, for k from ``kmer_length`` to 32."""
    spectrum: tuple[int, ...]
    """Distinct k-mers of that length among the samples by multiplicity; the last entry holds all from 1000
    on."""
    samples: int
    """32-mers sampled."""
    pairs: int
    """Pairs of reads that the error rate was measured on."""
    unknown: str
    """Why a value is unknown; empty when none is."""

    def kmer_survival(self, k: int) -> float:
        """Return the share of k-mers without error; NaN when unknown.

        Below ``kmer_length`` its logarithm is interpolated down to k = 0, above 32 extrapolated, linearly.

        Raises
        ------
        ParameterError
            When k is below 1.
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


def estimate(reads: Reads, threads: int = 1) -> Estimates:
    """Estimate coverage, error rate and genome size of a read set.

    Parameters
    ----------
    threads : int
        How many to use; the result does not depend on it.

    Returns
    -------
    Estimates
        A value that the reads do not tell is NaN, and ``unknown`` says why.
    """
    from overlapper.kernels.seeds import kmer_sample

    samples, k, spectrum = _spectrum(reads, threads)
    counted = tuple(spectrum.tolist())
    fit = fit_spectrum(spectrum)
    if fit is None:
        reason = f"too few of {len(samples)} sampled k-mers occur twice: too few reads, or none overlap"
        return Estimates(math.nan, math.nan, math.nan, k, math.nan, (), counted, len(samples), 0, reason)
    aligned = AlignedPairs.draw(reads, samples, k, fit.upper, threads)
    intact = aligned.intact(k, threads)
    mean, correct = fit.mean, min(1.0, fit.occurrences / len(samples))
    if not _agrees(fit, correct, intact):
        mean, correct = _mean_of_pairs(samples, k, aligned.related(), intact), intact
    coverage, error_rate = mean / correct, aligned.error_rate()
    survival: tuple[float, ...] = ()
    reasons = []
    if math.isnan(coverage):
        reasons.append("coverage: k-mer counts and aligned reads do not agree")
    else:
        pairs = kmer_sample.prefix_pairs(samples.bases, k, fit.upper)
        survival = tuple(float(s) for s in correct * np.sqrt(pairs / max(1, pairs[0])))
    if math.isnan(error_rate):
        reasons.append(
            f"error rate: only {aligned.measured} pairs of reads share a k-mer {NEEDED_BASES} bases from "
            "their ends"
        )
    return Estimates(
        coverage=coverage,
        error_rate=error_rate,
        genome_size=reads.total_bases / coverage,
        kmer_length=k,
        kmer_mean=mean,
        survival=survival,
        spectrum=counted,
        samples=len(samples),
        pairs=aligned.measured,
        unknown="; ".join(reasons),
    )


def kmer_spectrum(reads: Reads, threads: int = 1) -> np.ndarray:
    """Return the spectrum that `estimate` finds, without estimates.

    Returns
    -------
    ndarray of int64, shape (1001,)
        Distinct k-mers among the samples by multiplicity; the last entry holds all from 1000 on.
    """
    return _spectrum(reads, threads)[2]


def _spectrum(reads: Reads, threads: int) -> tuple[Samples, int, np.ndarray]:
    """Return samples, the k for the estimate of coverage, and the spectrum of that k."""
    from overlapper.kernels.seeds import kmer_sample

    samples = Samples.draw(reads, max(_SAMPLES, reads.total_bases // _BASES_PER_SAMPLE), threads)
    k = _least_k(reads)
    return samples, k, kmer_sample.prefix_spectrum(samples.bases, k, _MOST)


def estimate_errors(reads: Reads, threads: int = 1) -> tuple[float, SharedKmers | None]:
    """Return the error rate as `estimate` does, and the shares of common k-mers, in less time.

    Half a million k-mers of all reads are sampled, so that memory does not grow with the reads: a sample of
    reads of a large genome holds few that overlap, and most pairs in it are of copies of a repeat.

    Returns
    -------
    error_rate : float
        NaN when unknown.
    shared : SharedKmers or None
        None when unknown.
    """
    from overlapper.kernels.seeds import kmer_sample

    samples = Samples.draw(reads, _SAMPLES, threads)
    k = _least_k(reads)
    spectrum = kmer_sample.prefix_spectrum(samples.bases, k, _MOST)
    fit = fit_spectrum(spectrum)
    if fit is None:
        return math.nan, None
    aligned = AlignedPairs.draw(reads, samples, k, fit.upper, threads)
    shared = aligned.shared_kmers(Background.of(reads).kmer, threads)
    if shared is not None:
        times = np.arange(len(spectrum))
        partners = float(np.sum(spectrum * times * (times - 1))) / len(samples)
        shared = shared._replace(depth=aligned.related() * partners / max(shared.mean(k), _LEAST_SHARE))
    return aligned.error_rate(), shared


def _agrees(fit: SpectrumFit, correct: float, intact: float) -> bool:
    """Return whether spectrum and aligned pairs agree on the share of error-free k-mers.

    Where no pairs could be aligned, a fit that starts at a valley is believed.
    """
    if fit.lower > 2:
        return not correct < _LEAST_BEHIND_VALLEY * intact
    return correct >= _LEAST_AGREEMENT * intact


def _mean_of_pairs(samples: Samples, k: int, related: float, intact: float) -> float:
    """Return the mean multiplicity of a correct k-mer, by the number of pairs of samples that share k bases.

    What occurs more often than four standard deviations above the mean is left out, as repeats.

    Returns
    -------
    float
        NaN when unknown, too high to tell repeats apart, or where most pairs are repeats'.
    """
    from overlapper.kernels.seeds import kmer_sample

    def mean_of(most: int) -> float:
        pairs = int(kmer_sample.prefix_pairs(samples.bases, k, most)[0])
        return 2 * related * pairs / (len(samples) * intact)

    mean = with_repeats = mean_of(_MOST_OF_PAIRS)
    for _ in range(2):
        if not mean <= _LARGEST_MEAN_OF_PAIRS:
            return math.nan
        mean = mean_of(max(4, math.ceil(mean + 4 * math.sqrt(mean))))
    return mean if mean > with_repeats / 2 else math.nan


def _least_k(reads: Reads) -> int:
    """Return the smallest k, 16 to 28, at which few k-mers match by chance."""
    wanted = math.ceil(math.log(max(1, reads.total_bases) * _CHANCE) / -math.log(Background.of(reads).kmer))
    return min(max(wanted, _SHORTEST_K), 28)
