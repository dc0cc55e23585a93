"""Depth of a haplotype, and whether there are two haplotypes, by the k-mer spectrum of the reads.

In a diploid, k-mers of one haplotype alone occur half as often as those of both: the spectrum has two peaks,
the lower one at the depth of a haplotype. Definition: ``docs/algorithms/haplotypes.md``.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.sketch.spectrum import log_negative_binomial, smoothed, stands_out

LEAST_SINGLE, LEAST_SHARED = 0.005, 0.15
"""Least shares of the k-mers of a diploid that one haplotype alone has (as many as where haplotypes differ in
one base of 8,000), and that both have (in one of twenty). Chosen on the MHC (HiFi), between it and haploid
sets; judged on simulated diploids (``docs/notes/assembly.md``)."""
LEAST_DEPTH = 6
"""Least depth of a haplotype: below, many differences lack the four layers of either haplotype that tell them
(`kernels.consensus.haplotype_filter`), and one haplotype of uneven depth looks like two."""
MORE_COPIES = 0.001
"""Share of k-mers that may have any multiplicity, as those of repeats of more than six copies do."""
_COPIES = np.arange(1, 7)[:, None]
_DEPTHS = np.arange(0.4, 1.2, 0.01)
_SIZES = (10.0, 30.0, 100.0, 1000.0)
_ROUNDS = 40


@dataclasses.dataclass(frozen=True)
class Ploidy:
    """The result of `ploidy`."""

    depth: float
    """How often a k-mer occurs that the genome, all haplotypes together, holds once."""
    single: float
    """Of the distinct k-mers that it holds once or twice, the share of those that it holds once."""

    @property
    def of_one_peak(self) -> float:
        """The depth of a haplotype, if the highest peak is that of k-mers that both haplotypes have."""
        return self.depth / 2 if self.single > 1 - LEAST_SHARED else self.depth

    @property
    def has_both_peaks(self) -> bool:
        """Whether there are enough k-mers of one haplotype and of both for a diploid, each often enough."""
        return self.depth >= LEAST_DEPTH and LEAST_SINGLE <= self.single <= 1 - LEAST_SHARED


def ploidy(spectrum: np.ndarray) -> Ploidy | None:
    """Find the depth of a haplotype.

    Parameters
    ----------
    spectrum : ndarray of int, shape (most + 1,)
        Distinct k-mers of every multiplicity, of accurate reads; the last entry is not used.

    Returns
    -------
    Ploidy or None
        None where the spectrum has no peak: too few reads, or too many errors.
    """
    counts = np.asarray(spectrum, np.float64)[:-1]
    at = np.arange(2, max(3, int(0.8 * len(counts))))
    smooth = smoothed(counts, at)
    peak = int(at[np.argmax(at * smooth)])
    below = at[at <= max(2.0, _DEPTHS[0] * peak)]
    valley = int(below[np.argmin(smooth[: len(below)])])
    if not stands_out(smooth[peak - 2], smooth[valley - 2]):
        return None
    multiplicities = np.arange(valley, min(len(counts), int(4.5 * peak)))
    counts = counts[multiplicities]
    depths = peak * _DEPTHS
    fits = [fit for size in _SIZES for fit in _fitted(counts, multiplicities, depths, size)]
    _, depth, once, twice = max(fits)
    return Ploidy(depth, once / (once + twice))


def _fitted(
    counts: np.ndarray, multiplicities: np.ndarray, depths: np.ndarray, size: float
) -> list[tuple[float, float, float, float]]:
    """Return log likelihood, depth, and the shares of k-mers of one copy and two that fit best (EM)."""
    likelihood = np.exp(log_negative_binomial(multiplicities, depths[:, None, None] * _COPIES, size))
    share = np.full((len(depths), len(_COPIES), 1), 1 / len(_COPIES))
    for _ in range(_ROUNDS):
        joint = share * likelihood
        total = joint.sum(axis=1, keepdims=True) + MORE_COPIES / len(multiplicities)
        share = (joint / total) @ counts[:, None] / counts.sum()
    fits = np.log(total[:, 0]) @ counts
    return list(
        zip(fits.tolist(), depths.tolist(), share[:, 0, 0].tolist(), share[:, 1, 0].tolist(), strict=True)
    )
