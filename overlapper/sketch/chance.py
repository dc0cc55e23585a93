"""What unrelated reads have in common by chance, by the composition of the reads.

**Bases.** Two bases are equal by chance with probability b, the sum of the squares of the shares of the four
bases on both strands; two bases of k-mers with probability c, the sixth root of that of equal hexamers: a few
k-mers make up much of some genomes. Both are a quarter where all bases, and all hexamers, are equally common.

**Seeds.** A base of one read and one of another begin a seed by chance with probability

    l = c**k (2 w / (w + 1))**2 / (2 w - 1)

as minimizers are small hashes, which meet more often than others.

**Chains.** A chain by chance goes on by the next base with probability c, and scores 1 more; or by a seed
elsewhere, and scores k more, less the costs of gap and distance. Of these costs, a base each, let a be the
product. Then the expected number of ways on, each weighted by exp(m s) for its score s, is

    c exp(m) + 2 (1 - c) l exp(m k) / (a m**2)

As long as that is at most 1, a read of L bases has, in a set of N bases and on both strands, at most

    2 N L l exp(-m (s - k))

chains of score s by chance, as a branching random walk has. The largest m counts, or `SLOWEST` where that is
larger: chains by chance go on as far as reads do, then. The *sure* score of a chain is the one for which this
bound is `MOST_BY_CHANCE`; D-SOFT's candidates have one to three such chains a read, most of which disagree.

**Walks.** Unrelated sequences differ by .7 - .8 b edits a base, as walks (`overlapper.extend.chain_ends`) go:
.502 is found for .25, .436 for .34 and .365 for .43; where words of genomes differ from place to place, more.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np

from overlapper.params.stages import ChainParams
from overlapper.tables import Reads

EQUALLY_COMMON = 1 / 4
MOST_BY_CHANCE = 64
"""Fitted on reads of 70 to 92 % A and T, see ``docs/notes/seeds.md``."""
SLOWEST = 0.02
UNRELATED, BY_EQUAL_BASES = 0.7, 0.8
RELATED = 0.9
"""Edits at which the score of a walk neither rises nor falls, relative to those of unrelated sequences."""
_RATES = np.arange(SLOWEST, 4, 0.001)
_COSTS = ChainParams.gap_cost * ChainParams.distance_cost / 256**2
_HEXAMERS = 4**6
_LEAST_WORDS = 1 << 16
_EQUAL_PAIRS = 25
"""Pairs of equal hexamers that are taken to be there besides those of the reads, all hexamers being equally
common: a few reads do not tell."""


class Background(NamedTuple):
    """Probabilities that two bases of unrelated reads are equal."""

    base: float = EQUALLY_COMMON
    """b, of single bases."""
    kmer: float = EQUALLY_COMMON
    """c, of bases of k-mers."""

    @classmethod
    def of(cls, reads: Reads) -> Self:
        """Return that of reads, by the first six bases of words that are evenly spread over them."""
        words = reads.words[:: 1 + len(reads.words) // _LEAST_WORDS].view(np.int64)
        counts = np.bincount(words[words != 0] & (_HEXAMERS - 1), minlength=_HEXAMERS)
        n = int(counts.sum())
        equal = int(np.sum(counts * (counts - 1))) + _EQUAL_PAIRS
        kmer = (equal / (n * (n - 1) + _EQUAL_PAIRS * _HEXAMERS)) ** (1 / 6)
        bases = counts.reshape(-1, 4).sum(axis=0) + _EQUAL_PAIRS
        shares = (bases + bases[::-1]) / (2 * bases.sum())
        return cls(float(np.sum(shares**2)), kmer)


def seeds_a_cell(chance: float, kmer_length: int, windows: np.ndarray) -> np.ndarray:
    """Return l for each of several windows."""
    found: np.ndarray = chance**kmer_length * (2 * windows / (windows + 1)) ** 2 / (2 * windows - 1)
    return found


def sure_score(
    chance: float, kmer_length: int, windows: np.ndarray, bases: float, read_length: float
) -> np.ndarray:
    """Return the sure score, in bases, for each of several windows.

    Parameters
    ----------
    chance : float
        c.
    windows : ndarray of int
    bases, read_length : float
        N and L.
    """
    seeds = seeds_a_cell(chance, kmer_length, windows)
    elsewhere = 2 * (1 - chance) / _COSTS * np.exp(_RATES * kmer_length) / _RATES**2
    rare = chance * np.exp(_RATES) + np.outer(seeds, elsewhere) <= 1
    rates = np.max(np.where(rare, _RATES, SLOWEST), axis=1)
    begun = np.maximum(1, 2 * bases * read_length * seeds / MOST_BY_CHANCE)
    return kmer_length + np.log(begun) / rates


def walked_edits(chance: float) -> int:
    """Return the percentage of edits at which the score of a walk neither rises nor falls, by b."""
    return math.ceil(100 * RELATED * (UNRELATED - BY_EQUAL_BASES * chance))
