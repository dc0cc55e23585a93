"""The spectrum of k-mers: a fit of its genomic part, for coverage, and the limits of repeats.

A spectrum counts, for every multiplicity m, the distinct k-mers that occur m times in the reads. Reads that
fall uniformly on a genome, and errors that are independent of the place, give the k-mers of the genome a
Poisson multiplicity (Lander and Waterman 1988); its mean is the coverage times the share of k-mers that are
free of errors. Places differ a little, so the Poisson becomes a negative binomial (Vurture 2017,
GenomeScope). k-mers with errors occur once as a rule; those that several reads share form the left flank:

* Where coverage is high, a valley separates the flank from the peak of genomic k-mers, and multiplicities
  from the valley on are taken as genomic.
* Otherwise the flank is the second component of a mixture (as in Hozza 2015, CovEst): Poisson with
  `SHARED_ERROR` of the genomic mean, as one particular error is that much rarer than no error.

Single k-mers tell nothing apart and are left out. k-mers that the genome holds several times lie right of the
peak; multiplicities far above it do not take part.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

SHARED_ERROR = 0.1
"""How often a k-mer with one particular error occurs, relative to the correct k-mer."""

_FEWEST_KMERS = 50
_EXPECTED_DISPERSION = 55.0
_DISPERSION_PENALTY = 1e-3


@dataclasses.dataclass(frozen=True)
class SpectrumFit:
    """The genomic part of a spectrum."""

    mean: float
    """Mean multiplicity of a k-mer that the genome holds once."""
    dispersion: float
    """Size of the negative binomial: variance = mean + mean**2 / dispersion."""
    kmers: float
    """Distinct k-mers of the genome, those included that no read shows."""
    lower: int
    upper: int
    """`lower`, `upper`: multiplicities that the fit used, both included."""
    occurrences: float
    """Error-free k-mers in the reads, repeats included."""

    def expected(self, multiplicities: np.ndarray) -> np.ndarray:
        """Return the expected number of k-mers of the genome with each multiplicity.

        Parameters
        ----------
        multiplicities : ndarray of int, shape (n,)
            1 or more, ascending.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        return self.kmers * np.exp(log_negative_binomial(multiplicities, self.mean, self.dispersion))


def fit_spectrum(spectrum: np.ndarray) -> SpectrumFit | None:
    """Fit the genomic part of a spectrum by maximum likelihood.

    Parameters
    ----------
    spectrum : ndarray of int, shape (most + 1,)
        Distinct k-mers of every multiplicity; the last entry may hold all that lie above, and is not used.

    Returns
    -------
    SpectrumFit or None
        None when fewer than 50 k-mers occur twice or more, or none of them as often as the genome's: there is
        nothing to fit.
    """
    counts = np.asarray(spectrum, np.float64)[:-1]
    if counts[2:].sum() < _FEWEST_KMERS:
        return None
    lower, peak = find_valley(counts)
    upper = min(len(counts) - 1, max(2 * peak, 8))
    for _ in range(4):
        if counts[lower : upper + 1].sum() < _FEWEST_KMERS / 2:
            return None
        mean, dispersion, genomic = _maximise(counts[lower : upper + 1], lower)
        reach = mean + 4 * math.sqrt(mean + mean * mean / dispersion)
        upper = min(len(counts) - 1, max(lower + 3, math.ceil(reach)))
    inside = np.exp(log_negative_binomial(np.arange(lower, upper + 1), mean, dispersion)).sum()
    kmers = float(genomic * counts[lower : upper + 1].sum() / inside)
    repeats = float((np.arange(upper + 1, len(counts)) * counts[upper + 1 :]).sum())
    return SpectrumFit(mean, dispersion, kmers, lower, upper, kmers * mean + repeats)


def find_valley(counts: np.ndarray) -> tuple[int, int]:
    """Return the multiplicity of the valley between errors and genome, and that of the peak.

    Counts are smoothed over 15 % of their multiplicity on either side. The valley is the first minimum from 2
    on; the peak, the maximum behind it, must stand out of the noise, else there is no valley and (2, 3)
    returns.
    """
    at = np.arange(2, max(3, int(len(counts) * 0.8)))
    smooth = smoothed(counts, at)
    rising = np.flatnonzero(np.diff(smooth) > 0)
    if len(rising) == 0:
        return 2, 3
    valley = int(rising[0])
    peak = valley + int(np.argmax(smooth[valley:]))
    if not stands_out(smooth[peak], smooth[valley]):
        return 2, 3
    return int(at[valley]), int(at[peak])


def smoothed(counts: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the mean of counts over 15 % of their multiplicity on either side."""
    cumulative = np.concatenate([[0.0], np.cumsum(counts)])
    reach = (0.15 * at).astype(np.int64)
    return (cumulative[at + reach + 1] - cumulative[at - reach]) / (2 * reach + 1)


def stands_out(peak: float, valley: float) -> bool:
    """Return whether a peak of a spectrum stands out of the noise of a valley."""
    return peak >= 1.05 * valley + 3 * math.sqrt(valley + 1)


def repeat_limit(spectrum: np.ndarray, *, copies: int = 8, floor: int = 12, most_masked: float = 0.1) -> int:
    """Return the multiplicity above which k-mers are masked as repeats.

    A k-mer is a repeat when it comes more likely from ``copies`` places of the genome than from one place
    less: two Poisson likelihoods with means ``copies * mean`` and ``(copies - 1) * mean`` cross at ``mean /
    ln(copies / (copies - 1))``. The limit is raised until the k-mers above it hold at most a share
    ``most_masked`` of the error-free occurrences, so that a genome full of repeats keeps seeds; it is never
    below ``floor``, as at a low mean a high multiplicity is chance.

    Parameters
    ----------
    spectrum : ndarray of int, shape (most + 1,)
        Distinct k-mers (or minimizers) of every multiplicity; the last entry may hold all that lie above.
    copies : int
        2 or more.
    floor : int
        Smallest limit.
    most_masked : float
        Share of error-free occurrences that may be masked.

    Returns
    -------
    int
        k-mers that occur more often do not seed. When the spectrum is too small to fit, and when even the
        last entry holds too many occurrences, the limit is the last multiplicity: nothing is masked.
    """
    most = len(spectrum) - 1
    fit = fit_spectrum(spectrum)
    if fit is None:
        return most
    limit = max(floor, round(fit.mean / math.log(copies / (copies - 1))))
    return min(most, max(limit, sparing_limit(spectrum, fit.occurrences, most_masked)))


def sparing_limit(spectrum: np.ndarray, correct: float, most_masked: float) -> int:
    """Return the lowest multiplicity above which k-mers hold at most a share of the error-free occurrences.

    Parameters
    ----------
    spectrum : ndarray of int, shape (most + 1,)
        Distinct k-mers of every multiplicity; the last entry may hold all that lie above.
    correct : float
        Error-free occurrences below the last entry.
    most_masked : float
        The share.

    Returns
    -------
    int
        At most the last multiplicity.
    """
    occurrences = np.arange(len(spectrum)) * np.asarray(spectrum, np.float64)
    above = occurrences[::-1].cumsum()[::-1] - occurrences
    return int(np.flatnonzero(above <= most_masked * (correct + occurrences[-1]))[0])


def _maximise(counts: np.ndarray, lower: int) -> tuple[float, float, float]:
    """Return mean, dispersion and genomic share that make the counts from ``lower`` on most likely.

    A grid that closes in on its best point: the likelihood is smooth and has few parameters. Behind a valley
    (``lower`` above 2) all k-mers are genomic.
    """
    multiplicities = np.arange(lower, lower + len(counts))
    outer = np.array(
        [[math.log(0.05), 0.0, 0.02], [math.log(1.5 * multiplicities[-1]), math.log(3000.0), 0.98]]
    )
    steps = 21, 9, 9
    if lower > 2:
        outer[:, 2] = 1.0
        steps = 21, 9, 1
    low, high = outer
    for _ in range(8):
        axes = [np.linspace(a, b, n) for a, b, n in zip(low, high, steps, strict=True)]
        best = np.unravel_index(np.argmax(_likelihood(counts, multiplicities, *axes)), steps)
        centre = np.array([axis[i] for axis, i in zip(axes, best, strict=True)])
        reach = (high - low) / 4
        low, high = np.maximum(centre - reach, outer[0]), np.minimum(centre + reach, outer[1])
    return math.exp(centre[0]), math.exp(centre[1]), float(centre[2])


def _likelihood(
    counts: np.ndarray,
    multiplicities: np.ndarray,
    log_mean: np.ndarray,
    log_size: np.ndarray,
    share: np.ndarray,
) -> np.ndarray:
    """Return the mean log likelihood of a k-mer for all combinations of parameters.

    Dispersion below or above the usual costs a penalty: at a low mean it cannot be told from shared errors.
    """
    mean = np.exp(log_mean)[:, None, None]
    genomic = _normalised(log_negative_binomial(multiplicities, mean, np.exp(log_size)[None, :, None]))
    flank = _normalised(_poisson(multiplicities, SHARED_ERROR * mean))
    mixture = share[:, None] * genomic[:, :, None, :] + (1 - share[:, None]) * flank[:, :, None, :]
    likelihood = np.log(np.maximum(mixture, 1e-300)) @ counts / counts.sum()
    return likelihood - _DISPERSION_PENALTY * (log_size[:, None] - math.log(_EXPECTED_DISPERSION)) ** 2


def _normalised(log_probability: np.ndarray) -> np.ndarray:
    probability = np.exp(log_probability - log_probability.max(axis=-1, keepdims=True))
    return probability / probability.sum(axis=-1, keepdims=True)


def _poisson(multiplicities: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return multiplicities * np.log(mean) - mean - _log_factorials(multiplicities)


def log_negative_binomial(
    multiplicities: np.ndarray, mean: np.ndarray | float, size: np.ndarray | float
) -> np.ndarray:
    """Return the log of ``C(m + size - 1, m) * (size / (size + mean))**size * (mean / (size + mean))**m``."""
    rising = np.log(size + np.arange(multiplicities[-1])).cumsum(axis=-1)
    choose = np.take(rising, multiplicities - 1, axis=-1) - _log_factorials(multiplicities)
    return choose - size * np.log1p(mean / size) + multiplicities * np.log(mean / (size + mean))


def _log_factorials(multiplicities: np.ndarray) -> np.ndarray:
    return np.log(np.arange(1, multiplicities[-1] + 1)).cumsum()[multiplicities - 1]
