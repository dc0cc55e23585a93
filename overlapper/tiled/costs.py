"""The time that a run in tiles is expected to take, from the amount of work and measured costs.

From the coverage ``c`` of a genome by ``n`` reads with ``b`` bases together follow

- read pairs that overlap: ``n c``, as a read overlaps the ``2 c`` that start within its length or the
  other's, and a pair counts once; the bases they share: ``b c / 2``;
- k-mers that are looked at: ``2 / (w + 1)`` a base for minimizers, the sampled share for SpGEMM; those that
  seed: the share ``q`` of k-mers without error, and some that match by chance;
- hits, seeds that a pair shares: the shared bases, times k-mers a base, times ``q`` squared;
- hits by chance: each of ``m`` k-mers meets ``m d / (4**k / 2)`` others, where minimizers lie ``d`` times as
  dense as all k-mers, as they have small hashes.

Repeats are not in it, nor a disk that is slower than the work, nor GPUs. Costs are CPU time of one thread,
measured by ``tests/benchmarks/plan_costs.py``; another machine may well take half or twice as long.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Self

from overlapper.candidates import registry
from overlapper.params.stages import Params
from overlapper.sketch.estimates import Estimates

START = 1.5
"""Seconds to load the program."""
READ_BASE = 3e-9
"""Seconds to read a base, pack it and put it in order; on one thread."""
PASS_BASE = 7e-9
"""To make the k-mers of a base once more, for another range of hashes."""
CHANCE = 1.4
"""Seeds for each that is without error."""
CHANCE_HIT = 250e-9
"""To find one by chance: pairs of reads have one each, which nothing shares the way to memory with."""
PAIR = 5e-6
"""To classify, write and merge an overlap."""
ALIGNED_BASE = {"chain": 0.0, "xdrop": 30e-9, "gact": 50e-9, "exact": 0.0}
"""To extend over a shared base, by extender."""


@dataclasses.dataclass(frozen=True)
class Workload:
    """The amount of work of a run."""

    bases: int
    reads: int
    looked_at: float
    """k-mers."""
    passes: int
    """Over all reads, beyond the first, to make k-mers."""
    blocks: int
    """Of reads."""
    estimates: Estimates
    """Of the reads."""

    def seconds(self, params: Params, threads: int) -> float:
        """Return the expected wall-clock time; NaN where the reads do not tell their coverage.

        Parameters
        ----------
        params : Params
        threads : int
            Of all workers together.
        """
        finder, k = registry.finder(params.finder), params.sketch.kmer_length
        costs, coverage = finder.COSTS, self.estimates.coverage
        intact = self.estimates.kmer_survival(k)
        met = self.looked_at * finder.density(params, self.bases, self.looked_at) * 2 / 4**k
        seeds = self.looked_at * (1 - (1 - min(1.0, CHANCE * intact)) * math.exp(-met))
        shared_bases = self.bases * coverage / 2
        hits = shared_bases * self.looked_at / max(1, self.bases) * intact**2
        parallel = (
            (costs.sketch_base + PASS_BASE * self.passes) * self.bases
            + costs.seed * self.looked_at
            + costs.join * (self.blocks + 2.5) * seeds
            + costs.hit * hits
            + CHANCE_HIT * self.looked_at * met / 2
            + ALIGNED_BASE[params.extender] * shared_bases
            + PAIR * self.reads * coverage
        )
        return START + READ_BASE * self.bases + parallel / threads

    def of_all_pairs(self) -> tuple[int, Self]:
        """Return how many pairs of reads there are, and the work if all of them overlap without an error."""
        each = (self.reads - 1) / 2
        overlapping = dataclasses.replace(self.estimates, coverage=each, kmer_length=32, survival=(1.0,))
        pairs = self.reads * (self.reads - 1) // 2
        return pairs, dataclasses.replace(self, estimates=overlapping)


def spelled(seconds: float) -> str:
    """Return a time in words, in two figures.

    Examples
    --------
    >>> spelled(7.4), spelled(200), spelled(12345)
    ('8 seconds', '3.3 minutes', '3.4 hours')
    """
    fitting = [pair for pair in (("hours", 3600), ("minutes", 60)) if seconds >= pair[1]]
    unit, size = [*fitting, ("seconds", 1)][0]
    number = seconds / size
    return f"{number:.1f} {unit}" if number < 10 and size > 1 else f"{math.ceil(number)} {unit}"
