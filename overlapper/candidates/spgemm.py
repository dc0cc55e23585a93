"""Candidates by a sparse product of reads and reliable k-mers (BELLA, Guidi 2021).

A k-mer is *reliable* when its multiplicity fits that of a correct k-mer which the genome holds once: rarer
ones are errors, more frequent ones repeats. A is the matrix of reads x reliable k-mers, its entries
positions; the entries above the diagonal of A·Aᵀ, under a semiring that collects position pairs, are the read
pairs that share reliable k-mers. How the position pairs of a pair are binned, and the best bin chosen, is
written in `kernels.candidates.spgemm`. The product is made a block of rows at a time, so that its memory is
that of a block.

Three things differ from the paper. Its bounds take the depth to be the coverage everywhere, which on accurate
reads would drop more than half of the genome; here they are taken at the depths that nearly all places have
(`bounds_over_genome`). Where k-mers above the upper bound hold more than 2 % of the error-free occurrences,
whole reads lie in repeats, and the bound is raised until they hold no more than that, to at most ten times
its value. And where overlaps of accurate reads share hundreds of k-mers, only those with the smallest hashes
seed, as many as are needed (`_sampled`). Bounds, or coverage and error rate, that the parameters give are
taken as they are.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np

from overlapper.candidates.registry import SeedSource
from overlapper.candidates.sparse_product import SparseProduct, build_rows
from overlapper.errors import ParameterError
from overlapper.io.artifacts import Artifact
from overlapper.params.stages import Params, SpgemmParams
from overlapper.sketch.chosen_seeds import ChosenSeeds, write_seeds
from overlapper.sketch.counting import KmerCounter, count_kmers
from overlapper.sketch.estimates import Estimates, estimate
from overlapper.sketch.seeding_at import seeding_at
from overlapper.sketch.spectrum import sparing_limit
from overlapper.tables import Reads, Seeding
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import BASES_PER_WORD

_POSITION = (1 << 31) - 1
_BASES_AT_A_TIME = 1 << 18
_NO_LIMIT = 1 << 62
_SHORTEST_OVERLAP = 500
"""Bases of an overlap that is to share as many k-mers as wanted, where only some of them seed."""
_MOST_MASKED = 0.02
"""Largest share of the error-free occurrences that k-mers above the upper bound may hold."""
_MOST_RAISED = 10
"""Factor by which the upper bound is raised at most."""
_MOST_WITHOUT_COVERAGE = 100
"""Largest multiplicity kept when the coverage is unknown, which happens when next to nothing overlaps."""


def bounds_at_depth(depth: int, survival: float, probability: float) -> tuple[int, int]:
    """Return the multiplicities between which a correct k-mer is reliable.

    The multiplicity m of a k-mer that d reads cover and that each holds without error with probability p is
    binomial, ``C(d, m) p**m (1 - p)**(d - m)``. Going up from m = 2, the lower bound is one below the m at
    which the sum first reaches 1 - probability, and at least 2; going down from m = d, the upper bound is one
    above.

    Parameters
    ----------
    depth : int
        d, 1 or more.
    survival : float
        p: the probability that a k-mer holds no error, ``(1 - e)**k`` for independent errors of rate e.
    probability : float
        Probability that a correct k-mer is not below the lower bound, and likewise that it is not above the
        upper one; above 0, below 1.

    Returns
    -------
    lower, upper : int
        Both included; ``upper`` is at least ``lower``.

    Raises
    ------
    ParameterError
        When a value is out of range.

    References
    ----------
    Guidi et al. 2021, BELLA: Berkeley Efficient Long-Read to Long-Read Aligner and Overlapper, section 4.
    """
    if depth < 1 or not 0 <= survival <= 1 or not 0 < probability < 1:
        raise ParameterError(
            f"depth is {depth}, survival {survival} and probability {probability}, expected 1 or more, "
            "0 to 1, and between 0 and 1"
        )
    tail = 1 - probability
    rising = _first_reaching(range(2, depth + 1), depth, survival, tail)
    falling = _first_reaching(range(depth, -1, -1), depth, survival, tail)
    lower = max(rising - 1, 2)
    return lower, max(falling + 1, lower)


def bounds_over_genome(coverage: float, survival: float, probability: float) -> tuple[int, int]:
    """Return the multiplicities between which a correct k-mer is reliable, wherever in the genome.

    Depth is Poisson with the coverage as its mean (Lander and Waterman 1988). The lower bound is that of the
    depth which a place falls below with probability 1 - probability, the upper bound that of the depth which
    it exceeds with that probability.

    Parameters
    ----------
    coverage : float
        Above 0.
    survival, probability : float
        As in `bounds_at_depth`.

    Returns
    -------
    lower, upper : int
        Both included.

    Raises
    ------
    ParameterError
        When the coverage is out of range.
    """
    if not 0 < coverage < math.inf:
        raise ParameterError(f"coverage is {coverage}, expected above 0")
    shallow, deep = _poisson_quantile(coverage, 1 - probability), _poisson_quantile(coverage, probability)
    lower, _ = bounds_at_depth(max(1, shallow), survival, probability)
    _, upper = bounds_at_depth(max(1, deep), survival, probability)
    return lower, upper


def _poisson_quantile(mean: float, probability: float) -> int:
    """Return the smallest value that a Poisson variable does not exceed with at least this probability."""
    total = 0.0
    for value in range(100 + round(10 * mean)):
        total += math.exp(value * math.log(mean) - mean - math.lgamma(value + 1))
        if total >= probability:
            break
    return value


def _first_reaching(multiplicities: range, depth: int, survival: float, tail: float) -> int:
    """Return the multiplicity at which the summed probabilities first reach the tail, or the last one."""
    total, multiplicity = 0.0, 2
    for multiplicity in multiplicities:
        total += math.exp(_log_binomial(depth, multiplicity, survival))
        if total >= tail:
            break
    return multiplicity


def _log_binomial(n: int, m: int, p: float) -> float:
    if p in (0.0, 1.0):
        return 0.0 if m == n * p else -math.inf
    choose = math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)
    return choose + m * math.log(p) + (n - m) * math.log1p(-p)


@dataclasses.dataclass(kw_only=True)
class SpgemmFinder(SparseProduct):
    """Finds candidates from the matrix A of a read set, or of two blocks of it."""

    BYTES_PER_SEED: ClassVar[int] = 48
    kmers: ReliableKmers
    """Of the whole read set."""
    counted: dict[str, int]
    """Counts for the funnel, likewise."""

    @classmethod
    def prepare(cls, reads: Reads, params: Params, threads: int) -> Self:
        """Count the k-mers of all reads and build A from the reliable ones."""
        k, lengths = params.sketch.kmer_length, reads.lengths
        kmers = ReliableKmers.choose(reads, k, params.spgemm, threads)
        counted = count_kmers(
            reads, k, lower=kmers.lower, upper=kmers.upper, sampled=kmers.sampled, most=kmers.upper + 1,
            threads=threads,
        )  # fmt: skip
        rows = build_rows(counted.column_offsets, counted.occurrences, lengths, len(reads), threads)
        seeding = seeding_at(counted.of_read, rows.positions, rows.starts, reads.word_offsets)
        counts = kmers.counts(counted.of_read, counted.spectrum, len(counted.occurrences))
        return cls(lengths, counted.occurrences, rows, seeding, k, params.spgemm, kmers=kmers, counted=counts)

    def counts(self) -> dict[str, int]:
        """Return the counts of seeding for the funnel: occurrences of k-mers in the reads."""
        return self.counted

    @staticmethod
    def depends_on(params: Params) -> list[Any]:
        """See `Finder`."""
        return ["spgemm", params.sketch.kmer_length, dataclasses.asdict(params.spgemm)]

    @staticmethod
    def looked_at(store: SeedSource, params: Params, threads: int) -> int:
        """See `Finder`."""
        kmers = ReliableKmers.choose(store.mapped(), params.sketch.kmer_length, params.spgemm, threads)
        return round(int(store.lengths.sum()) * kmers.sampled)

    @staticmethod
    def choose(artifact: Artifact, store: SeedSource, params: Params, memory: int, threads: int) -> int:
        """See `Finder`."""
        k = params.sketch.kmer_length
        kmers = ReliableKmers.choose(store.mapped(), k, params.spgemm, threads)
        counter = KmerCounter(store.block, store.lengths, k, kmers.sampled, threads)
        spectrum, seeds = np.zeros(kmers.upper + 2, np.int64), 0
        artifact.save("bases", np.empty(0, np.int64))
        for counted, _, occurrences in counter.groups(kmers.lower, kmers.upper, kmers.upper + 1, memory // 2):
            spectrum += counted
            seeds += len(occurrences)
            first_bases = counter.word_offsets[occurrences >> 32] * BASES_PER_WORD
            artifact.append("bases", first_bases + ((occurrences >> 1) & _POSITION))

        def bases() -> Iterator[np.ndarray]:
            for first in range(0, seeds, _BASES_AT_A_TIME):
                yield artifact.load("bases", np.int64, first, min(first + _BASES_AT_A_TIME, seeds))

        write_seeds(artifact, counter.word_offsets, counter.of_read, bases, memory)
        artifact.remove("bases")
        counts = kmers.counts(counter.of_read, spectrum, seeds)
        artifact.facts |= {"kmers": dataclasses.asdict(kmers), "counts": counts}
        return seeds

    @classmethod
    def of_tile(
        cls,
        reads: Reads,
        seeding: Seeding,
        chosen: ChosenSeeds,
        params: Params,
        first_target: int,
        threads: int,
    ) -> Self:
        """See `Finder`."""
        k, queries = params.sketch.kmer_length, first_target or len(reads)
        kmers = ReliableKmers(**chosen.facts["kmers"])
        counted = count_kmers(
            reads, k, lower=2, upper=_NO_LIMIT, sampled=kmers.sampled, most=1, threads=threads,
            marks=seeding.marks,
        )  # fmt: skip
        offsets, occurrences = counted.column_offsets, counted.occurrences
        if first_target:
            first, last = occurrences[offsets[:-1]] >> 32, occurrences[offsets[1:] - 1] >> 32
            sizes = np.diff(offsets)
            shared = (first < first_target) & (last >= first_target)
            occurrences, offsets = occurrences[np.repeat(shared, sizes)], offsets_of(sizes[shared])
        rows = build_rows(offsets, occurrences, reads.lengths, queries, threads)
        return cls(
            reads.lengths, occurrences, rows, seeding, k, params.spgemm, first_target, kmers=kmers,
            counted=chosen.counts,
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class ReliableKmers:
    """The rule by which k-mers of a read set seed."""

    lower: int
    upper: int
    """`lower`, `upper`: reliable multiplicities, both included."""
    sampled: float
    """Share of the k-mers that is used, those of the smallest hashes."""

    @classmethod
    def choose(cls, reads: Reads, k: int, params: SpgemmParams, threads: int) -> Self:
        """Choose the multiplicities by coverage and error rate, which are estimated unless given.

        Where the error rate is not given, the share of error-free k-mers is estimated in its place: the
        bounds depend on that.

        Parameters
        ----------
        k : int
            Bases of a k-mer.
        """
        if params.coverage and params.error_rate:
            survival = (1 - params.error_rate) ** k
            lower, upper = bounds_over_genome(params.coverage, survival, params.probability)
        else:
            estimates = estimate(reads, threads)
            coverage = params.coverage or estimates.coverage
            survival = (1 - params.error_rate) ** k if params.error_rate else estimates.kmer_survival(k)
            if math.isnan(coverage) or math.isnan(survival):
                lower, upper, survival = 2, min(len(reads), _MOST_WITHOUT_COVERAGE), 0.0
            else:
                lower, upper = bounds_over_genome(coverage, survival, params.probability)
                upper = min(max(upper, _sparing_limit(estimates)), _MOST_RAISED * upper)
        lower = params.lower or lower
        return cls(lower, max(params.upper or upper, lower), _sampled(k, survival, params.shared_kmers))

    def counts(self, of_read: np.ndarray, spectrum: np.ndarray, seeding: int) -> dict[str, int]:
        """Return counts for the funnel: of the k-mers of each read, by the spectrum of all, and of seeds."""
        looked_at = int(of_read.sum(dtype=np.int64))
        too_rare = int(spectrum[: self.lower] @ np.arange(self.lower))
        return {
            "k-mers": looked_at,
            "k-mers that occur too rarely": too_rare,
            "k-mers that occur too often": looked_at - too_rare - seeding,
            "k-mers that seed": seeding,
        }


def _sparing_limit(estimates: Estimates) -> int:
    """Return the multiplicity above which k-mers hold at most 2 % of the error-free occurrences."""
    if not estimates.survival:
        return 0
    correct = estimates.survival[0] * estimates.samples
    return sparing_limit(np.array(estimates.spectrum), correct, _MOST_MASKED)


def _sampled(k: int, survival: float, wanted: int) -> float:
    """Return the share of k-mers to use so that overlaps of 500 bases share as many as wanted."""
    shared = max(1, _SHORTEST_OVERLAP - k) * survival**2
    return min(1.0, wanted / shared) if wanted and shared else 1.0
