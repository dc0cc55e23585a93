"""Which k-mers seed: by the overlaps that they are predicted to find, and by what they cost.

**Prediction.** What share s of their k-mers two overlapping reads have in common differs from pair to pair,
as reads differ in accuracy: `SharedKmers` has the distribution. Windows of w k-mers leave 2 / (w + 1) of
them. As shared k-mers come in clumps, every other counts, so that an overlap of L bases has

    m = s (L - k) / (w + 1)

seeds apart from each other, and it is found with two: the predicted recall R is the mean of
1 - exp(-m) (1 + m) over all pairs. On real CLR reads of E. coli (P5-C3, 15x), for 15 choices of k from
13 to 19 and w from 2 to 8, it is within .03 (root mean square) of the recall of overlaps from 500 to 700
bases, .49 to .90; "every other" was fitted on these. pbsim3's RSII model, which was not: .69 predicted for
k 15, w 5, .80 found.

**Cost**, in nanoseconds on one core: 6 a base, 37 a minimizer, 50 a hit by chance. Of N bases, with p the
probability that two bases are equal by chance, there are

    N**2 p**k (2 w / (w + 1))**2 / (2 w - 1)

of these: minimizers are small hashes, which meet more often than others.

**Choice.** Of all k from 13 to 19 and all w up to a widest one, those with the least

    log(cost + 0.3 s) - 2.5 log(R) + 0.005 S (19 - k)

are taken; of equals the smallest k, then the smallest w: a percent of recall is worth 2.5 percent of time,
and below .3 s time hardly counts. S is the mean share: k-mers of accurate reads tell copies of repeats apart,
longer ones more of them. All of it is smooth in bases and shares, and so is what is chosen. The weights were
set on real CLR reads (15x), the piece of E. coli in HiFi, Listeria (R10) and simulated human X (R10).
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple, Self

import numpy as np

from overlapper.params.stages import SketchParams

SHORTEST, LONGEST = 13, 19
"""k-mers that are chosen from: among more than ten million bases shorter ones meet by chance all the time."""
MEASURED = (13, 15, 17, 19)
"""k that shares are known for; between two of these they are the geometric mean."""
PARTS = 20
"""Of pairs, by their share; each is known by its mean."""
SHORTEST_OVERLAP = 500
"""Seeds are chosen for overlaps of so many bases even if shorter ones are asked for."""
CHANCE = 1 / 4
"""Probability that two bases are equal where all four are as common."""

_NS_A_BASE, _NS_A_MINIMIZER, _NS_A_HIT = 6, 37, 50
_LITTLE_TIME, _WORTH, _REPEATS = 0.3, 2.5, 0.005
_LEAST_RECALL = 1e-9
_NARROWEST, _WIDEST, _WIDTH_BY_ERRORS = 7, 50, 0.15
_DECAY, _SHAPE = 1.77, 10.0


class SharedKmers(NamedTuple):
    """Shares of their k-mers that pairs of overlapping reads have in common.

    Attributes
    ----------
    shares : tuple of tuple of float
        For each k of `MEASURED`, the mean share of each of `PARTS` equal parts of the pairs, ascending.
    chance : float
        Probability that two bases are equal by chance; its k-th power is that of k-mers.
    """

    shares: tuple[tuple[float, ...], ...]
    chance: float = CHANCE

    @classmethod
    def assumed(cls, error_rate: float) -> Self:
        """Return what reads of an error rate share as a rule.

        ``exp(-r k)`` with r of mean ``1.77 error_rate``, gamma distributed with shape 10: fitted on the real
        CLR reads, where errors cluster.
        """
        middles = [NormalDist().inv_cdf((part + 0.5) / PARTS) for part in reversed(range(PARTS))]
        # Wilson and Hilferty 1931.
        spread = [(1 - 1 / (9 * _SHAPE) + z / (3 * math.sqrt(_SHAPE))) ** 3 for z in middles]
        return cls(tuple(tuple(math.exp(-_DECAY * error_rate * k * s) for s in spread) for k in MEASURED))

    @classmethod
    def measured(cls, shares: list[np.ndarray], weights: np.ndarray, chance: float) -> Self:
        """Return the distribution of measured shares.

        Parameters
        ----------
        shares : list of ndarray of float64, shape (pairs,)
            For each k of `MEASURED`.
        weights : ndarray of float64, shape (pairs,)
        chance : float
        """
        return cls(tuple(_means_of_parts(of_k, weights) for of_k in shares), chance)

    def at(self, k: int) -> np.ndarray:
        """Return the mean share of each part of the pairs for a k from 13 to 19."""
        below, odd = divmod(k - SHORTEST, 2)
        shares = np.array(self.shares[below])
        return np.sqrt(shares * self.shares[below + 1]) if odd else shares

    def recall(self, sketch: SketchParams, overlap: int) -> float:
        """Return the predicted recall of overlaps of so many bases."""
        m = self.at(sketch.kmer_length) * max(0, overlap - sketch.kmer_length) / (sketch.window + 1)
        return float(np.mean(1 - np.exp(-m) * (1 + m)))


def choose(shared: SharedKmers, error_rate: float, bases: int, overlap: int) -> SketchParams:
    """Choose k-mers and windows.

    Parameters
    ----------
    shared : SharedKmers
    error_rate : float
        Of the reads.
    bases : int
        Of all reads.
    overlap : int
        Shortest overlap wanted, in bases; see `SHORTEST_OVERLAP`.
    """
    overlap = max(overlap, SHORTEST_OVERLAP)
    choices = [
        SketchParams(kmer_length=k, window=w)
        for k in range(SHORTEST, LONGEST + 1)
        for w in range(1, widest_window(error_rate) + 1)
    ]
    return min(choices, key=lambda sketch: _burden(sketch, shared, bases, overlap))


def widest_window(error_rate: float) -> int:
    """Return the widest window that reads of an error rate seed with: .15 / error rate, from 7 to 50.

    Copies of a repeat are told from true overlaps by how many seeds agree, of which there have to be the
    more, the more reads differ. Fitted on simulated reads of yeast (HiFi) and human X (R10).
    """
    return round(min(max(_WIDTH_BY_ERRORS / max(error_rate, 1e-6), _NARROWEST), _WIDEST))


def seconds(sketch: SketchParams, bases: int, chance: float) -> float:
    """Return the time that seeding takes on one core, in seconds, apart from what true overlaps do."""
    k, w = sketch.kmer_length, sketch.window
    hits = (bases * 2 * w / (w + 1)) ** 2 / (2 * w - 1) * chance**k
    return 1e-9 * (bases * (_NS_A_BASE + _NS_A_MINIMIZER * 2 / (w + 1)) + _NS_A_HIT * hits)


def _burden(sketch: SketchParams, shared: SharedKmers, bases: int, overlap: int) -> float:
    """Return the cost that the best choice of k and w has least of: lost recall and time."""
    time = math.log(seconds(sketch, bases, shared.chance) + _LITTLE_TIME)
    found = math.log(max(shared.recall(sketch, overlap), _LEAST_RECALL))
    k = sketch.kmer_length
    return time - _WORTH * found + _REPEATS * float(np.mean(shared.at(k))) * (LONGEST - k)


def _means_of_parts(values: np.ndarray, weights: np.ndarray) -> tuple[float, ...]:
    """Return the weighted means of `PARTS` parts of equal weight, ascending."""
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    ends = np.concatenate([[0.0], np.cumsum(weights)])
    sums = np.concatenate([[0.0], np.cumsum(values * weights)])
    at = np.linspace(0, ends[-1], PARTS + 1)
    return tuple(round(float(x), 6) for x in np.diff(np.interp(at, ends, sums)) * PARTS / ends[-1])
