"""The choice of k and w: by the overlaps that they are predicted to find, and by what they cost.

**What two reads share.** A share s of the k-mers of two overlapping reads is in both. It differs from pair to
pair, as reads differ in accuracy: `SharedKmers` has the distribution, measured over stretches so long that
what is local evens out (`overlapper.sketch.aligned_pairs`).

**Prediction.** Shared k-mers come in clumps, stretches without an error: another one follows with
probability r, by which the mean share falls from k to k + 1. With n = w - 1, both reads choose a shared k-mer
as a minimizer with probability

    2 / (w + 1)                                                            where they are equal around it
    1 / (2n + 1) + 2n / ((2n + 1) (2n + 2)) + 2n**2 / ((2n + 1) (2n + 2) (2n + 3))        where they differ

rho is a mean of the two, weighted by the length of a clump and by w. A clump has a seed with probability
p = rho / (1 - r (1 - rho)), and after its first one another that covers ``SUPPORT`` bases together with it
with probability q = p r**(SUPPORT - k). Where no clump is, one begins with probability s (1 - r) / (1 - s)
a base. Found is an overlap with two seeds of two clumps, or two such ones of one: of L bases, with
m = p (L - k) s (1 - r) / (1 - s), all but exp(-m) (1 + m (1 - q)). Where chains of more than two seeds may be
chance (`overlapper.sketch.chance`), more are needed, each further one of a clump there with probability q,
too: Polya-Aeppli distributed. The predicted recall R is the mean over all pairs, and over overlaps of the
length wanted and more, as frequent as the lengths of the reads make them.
It is within .010 (root mean square) of what is found from 500 bases on, .007 from 2 kb on, for 18 choices of
k and w in eight sets of noisy reads, without a number that was fitted.

**Cost**, in nanoseconds on one core: 12 a base, 69 a minimizer, 80 a hit in an overlap, 100 one by chance, 1
a pair of bases that overlap, and .9 s. Reads of N bases at a depth C, copies of repeats counted, have
N C / 2 pairs of bases, of which s rho are hits. By chance there are, with c the probability that two bases
are equal by chance,

    N**2 c**k (2 w / (w + 1))**2 / (2 w - 1)

as minimizers are small hashes, which meet more often than others.

**Choice.** Of all k from 13 to 19 and all w up to a widest one, those with the least

    log(cost + 300 ns a hit by chance + 2 s) - 10.5 R**3 + 0.005 S (19 - k)

are taken; of equals the smallest k, then the smallest w. Where nearly all is found a percent of recall is
worth 32 percent of time, less where little can be found, and below 3 s time hardly counts. Hits by chance
weigh four times what they take: short k-mers are those that diverged copies of repeats share, too. S is the
mean share: k-mers of accurate reads tell such copies apart, longer ones more of them. All of it is smooth in
bases, depth and shares, and so is what is chosen. The weights were set on real CLR reads (15x), E. coli in
CLR (44x) and in ONT (pbsim3, 40x), and yeast in CLR.
"""

from __future__ import annotations

import functools
import math
from statistics import NormalDist
from typing import NamedTuple, Self

import numpy as np

from overlapper.params.stages import DsoftParams, SketchParams
from overlapper.sketch.chance import EQUALLY_COMMON, seeds_a_cell, sure_score

SHORTEST, LONGEST = 13, 19
"""Range of k: in more than ten million bases, shorter k-mers meet by chance all the time."""
MEASURED = (13, 15, 17, 19)
"""k for which shares are measured; those of other k are geometric means of these."""
PARTS = 20
"""Number of parts of the distribution of shares over pairs; each part has its mean."""
SHORTEST_OVERLAP = 500
"""Least bases of the overlaps that seeds are chosen for, even if shorter ones are reported."""
DEPTH = 20.0
"""Depth of reads, where it cannot be estimated."""
SUPPORT = DsoftParams.min_bases
"""Least bases that the seeds of a candidate cover."""
_NS_A_BASE, _NS_A_MINIMIZER, _NS_A_HIT, _NS_A_CHANCE_HIT, _NS_A_PAIR = 12, 69, 80, 100, 1
_START = 0.9
_NS_FALSE_HITS = 300
_LITTLE_TIME, _WORTH, _POWER, _REPEATS = 2.0, 10.5, 3, 0.005
_NARROWEST, _FEWEST_ERRORS = 7, 0.003
_DECAY, _SHAPE = 1.77, 10.0
_LENGTHS = 12
_LEAST_SHARE, _MOST_SHARED, _MOST_NEEDED = 1e-12, 0.99, 40


class SharedKmers(NamedTuple):
    """The distribution of the share of k-mers that two overlapping reads have in common."""

    shares: tuple[tuple[float, ...], ...]
    """For each k of `MEASURED`, the mean share of each of `PARTS` equal parts of the
    pairs, ascending."""
    chance: float = EQUALLY_COMMON
    """Probability that two bases are equal by chance; its k-th power is that of k-mers."""
    depth: float = DEPTH
    """Reads over a base of the genome, those over copies of it included."""

    @classmethod
    def assumed(cls, error_rate: float, chance: float = EQUALLY_COMMON) -> Self:
        """Return the distribution that is typical of an error rate.

        ``exp(-r k)`` with r of mean ``1.77 error_rate``, gamma distributed with shape 10: fitted on the real
        CLR reads, where errors cluster.
        """
        middles = [NormalDist().inv_cdf((part + 0.5) / PARTS) for part in reversed(range(PARTS))]
        # Wilson and Hilferty 1931.
        spread = [(1 - 1 / (9 * _SHAPE) + z / (3 * math.sqrt(_SHAPE))) ** 3 for z in middles]
        shares = tuple(tuple(math.exp(-_DECAY * error_rate * k * s) for s in spread) for k in MEASURED)
        return cls(shares, chance)

    @classmethod
    def measured(cls, shares: list[np.ndarray], weights: np.ndarray, chance: float) -> Self:
        """Return the distribution of measured shares.

        Parameters
        ----------
        shares : list of ndarray of float64, shape (pairs,)
            For each k of `MEASURED`.
        weights : ndarray of float64, shape (pairs,)
        """
        order = np.argsort(sum(shares), kind="stable")
        return cls(tuple(_means_of_parts(of_k[order], weights[order]) for of_k in shares), chance)

    def at(self, k: int) -> np.ndarray:
        """Return the mean share in each part of the pairs, for a k from 13 to 19."""
        below, odd = divmod(k - SHORTEST, 2)
        shares = np.array(self.shares[below])
        return np.sqrt(shares * self.shares[below + 1]) if odd else shares

    def mean(self, k: int) -> float:
        """Return the mean share for any k."""
        below = min(max((k - SHORTEST) // 2, 0), len(MEASURED) - 2)
        one, other = (max(float(np.mean(self.shares[i])), _LEAST_SHARE) for i in (below, below + 1))
        return one * (other / one) ** ((k - MEASURED[below]) / 2)

    def recall(self, kmer_length: int, windows: np.ndarray, overlap: int, needed: np.ndarray) -> np.ndarray:
        """Return the predicted recall of overlaps, for each of several windows.

        Parameters
        ----------
        windows : ndarray of int
        overlap : int
            Bases of the overlaps.
        needed : ndarray of float
            Seeds that they need, for each window, 2 or more; between whole numbers it is interpolated.
        """
        k, r = kmer_length, _next_too(self)
        rho = _chosen_in_both(windows, r)
        p = rho / (1 - r * (1 - rho))
        again = p * r ** max(0, SUPPORT - k)
        shares = np.minimum(self.at(k), _MOST_SHARED)
        m = np.outer(p, shares / (1 - shares) * (max(0, overlap - k) * (1 - r)))
        q = again[:, None]
        before, now = np.zeros_like(m), np.exp(-m)
        lost = now.copy()
        for n in range(1, math.ceil(needed.max())):
            before, now = now, ((m * (1 - q) + 2 * q * (n - 1)) * now - q**2 * (n - 2) * before) / n
            lost += np.clip(needed - n, 0, 1)[:, None] * now
        return np.mean(1 - lost, axis=1)

    def hits(self, kmer_length: int, windows: np.ndarray, bases: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of hits of reads of ``bases`` bases, within overlaps and by chance."""
        chosen = _chosen_in_both(windows, _next_too(self))
        true = self.depth * bases / 2 * self.mean(kmer_length) * chosen
        return true, float(bases) ** 2 * seeds_a_cell(self.chance, kmer_length, windows)


def choose(
    shared: SharedKmers, widest: int, lengths: np.ndarray, overlap: int, bases: int = 0
) -> SketchParams:
    """Choose k and w.

    Parameters
    ----------
    widest : int
        Largest w (`widest_window`).
    lengths : ndarray of int, shape (reads,)
    overlap : int
        Shortest overlap wanted, in bases; see `SHORTEST_OVERLAP`.
    bases : int
        Bases of the set to choose for, instead of those of the reads; 0 for these.
    """
    bases, read_length = bases or int(np.sum(lengths)), float(np.sum(lengths)) / max(1, len(lengths))
    overlaps, weights = overlap_lengths(lengths, max(overlap, SHORTEST_OVERLAP))
    windows = np.arange(1, widest + 1)
    burdens = []
    for k in range(SHORTEST, LONGEST + 1):
        needed = sure_score(shared.chance, k, windows, bases, read_length) / k
        needed = np.clip(needed, 2, _MOST_NEEDED)
        found = sum(w * shared.recall(k, windows, x, needed) for x, w in zip(overlaps, weights, strict=True))
        _, by_chance = shared.hits(k, windows, bases)
        weight = seconds(shared, k, windows, bases) + 1e-9 * _NS_FALSE_HITS * by_chance
        burdens.append(
            np.log(weight + _LITTLE_TIME) - _WORTH * found**_POWER + _REPEATS * shared.mean(k) * (LONGEST - k)
        )
    longer, wider = np.unravel_index(np.argmin(burdens), np.shape(burdens))
    return SketchParams(kmer_length=SHORTEST + int(longer), window=1 + int(wider))


def overlap_lengths(lengths: np.ndarray, shortest: int) -> tuple[list[int], list[float]]:
    """Return lengths of overlaps, geometric from ``shortest`` on, and the share of all overlaps of each.

    Reads of a and b bases overlap by L or more at a + b - 2 L places, if neither is shorter.
    """
    longest = max(2 * shortest, int(np.max(lengths, initial=0)))
    bounds = np.geomspace(shortest, longest, _LENGTHS + 1)
    beyond = (np.maximum(lengths - bound, 0) for bound in bounds)
    overlaps = np.array([np.sum(bases) * np.count_nonzero(bases) for bases in beyond])
    shares = -np.diff(np.append(overlaps[:-1], 0.0))
    if not shares.any():
        return [shortest], [1.0]
    middles = np.sqrt(bounds[:-1] * bounds[1:])
    return [int(x) for x in middles], (shares / shares.sum()).tolist()


def widest_window(error_rate: float, errors: int = SketchParams.window_errors) -> int:
    """Return the widest window within which no more errors are expected, at least 7.

    Parameters
    ----------
    error_rate : float
        Of the reads; taken as .003 at least.
    errors : int
        In hundredths. The default was fitted on simulated reads of yeast (HiFi) and human X (R10).
    """
    return max(_NARROWEST, round(errors / 100 / max(error_rate, _FEWEST_ERRORS)))


def seconds(shared: SharedKmers, kmer_length: int, windows: np.ndarray, bases: int) -> np.ndarray:
    """Predict the seconds that finding overlaps takes on one core, for reads of ``bases`` bases."""
    true, by_chance = shared.hits(kmer_length, windows, bases)
    minimizers = bases * 2 / (windows + 1)
    pairs = shared.depth * bases / 2
    of_seeds = _NS_A_MINIMIZER * minimizers + _NS_A_HIT * true + _NS_A_CHANCE_HIT * by_chance
    return _START + 1e-9 * (_NS_A_BASE * bases + _NS_A_PAIR * pairs + of_seeds)


@functools.lru_cache(maxsize=1)  # asked for each k and each length of overlaps
def _next_too(shared: SharedKmers) -> float:
    """Return the probability that the k-mer after a shared k-mer is shared, too."""
    return min((shared.mean(LONGEST) / shared.mean(SHORTEST)) ** (1 / (LONGEST - SHORTEST)), 1 - 1e-6)


def _chosen_in_both(windows: np.ndarray, next_too: float) -> np.ndarray:
    """Return the probability that a shared k-mer is a minimizer in both reads."""
    n, clump = windows - 1, 1 / (1 - next_too)
    equal = 2 / (windows + 1)
    odd, even = 2 * n + 1, 2 * n + 2
    different = 1 / odd + 2 * n / (odd * even) + 2 * n**2 / (odd * even * (odd + 2))
    return (clump * equal + windows * different) / (clump + windows)


def _means_of_parts(values: np.ndarray, weights: np.ndarray) -> tuple[float, ...]:
    """Return the weighted means of `PARTS` successive parts of equal weight."""
    ends = np.concatenate([[0.0], np.cumsum(weights)])
    sums = np.concatenate([[0.0], np.cumsum(values * weights)])
    at = np.linspace(0, ends[-1], PARTS + 1)
    return tuple(round(float(x), 6) for x in np.diff(np.interp(at, ends, sums)) * PARTS / ends[-1])
