"""Models of the reads of a technology: lengths, identities, errors."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable

import numpy as np

from overlapper.errors import MOST, ParameterError
from overlapper.params.limits import Limited, within
from overlapper.simulate.bits import Distribution

LENGTH_MODELS = ("gamma", "lognormal")
IDENTITY_MODELS = ("beta", "lognormal")
MOST_STRETCHES = 10_000
"""Most bad stretches in 10,000 bases."""
TAIL = 20
"""Standard deviations above the mean where the tail of the lengths is cut."""


@dataclasses.dataclass(frozen=True)
class ReadModel(Limited):
    """The model of a technology.

    Attributes
    ----------
    length_model : str
        ``gamma`` or ``lognormal``.
    mean_length, length_sd : float
        Of the template lengths, in bases; a deviation below 1 gives every read the mean.
    min_length : int
        Shortest template, in bases.
    identity, identity_sd, max_identity : float
        Of the reads, outside of bad stretches; a deviation below 1e-6 gives every read the mean.
    identity_model : str
        ``beta``: identities follow a beta distribution between 0 and max_identity. ``lognormal``: what they
        fall short of max_identity is lognormal, so that some reads are much worse than most.
    substitutions, insertions, deletions : float
        Their shares of the errors; they add up to 1.
    extension : float
        Probability that an error goes on for another base: of a deletion or substitution the next base of the
        template, of an insertion another inserted one. The mean error rate stays.
    copied : float
        Probability of an inserted base to copy the template base that it stands before; others are random. In
        homopolymers, where their weight is above 1, all insertions are copies.
    homopolymer : float
        How much likelier indels are in homopolymers: by 1 + homopolymer * (min(run, 8) - 2) / 2 in runs of 3
        or more. The mean error rate stays.
    homopolymer_deletions : float
        The same for deletions alone, added to it.
    burst : float
        Standard deviation of the logarithm of the error rate between windows.
    burst_length : int
        Bases of such a window.
    bad_stretches : float
        Bad stretches a 10,000 template bases; they begin anywhere with equal chance.
    bad_length, bad_length_sd : float
        Of their lengths in template bases, which are lognormal.
    bad_errors : float
        Mean errors a base that a bad stretch adds, which differ between stretches exponentially.
    bad_insertions : float
        Share of insertions in what bad stretches add; substitutions and deletions divide the rest as
        elsewhere.
    stall : float
        Insertions of bad stretches are of n bases or more with probability n ** -stall (above 1, at most
        `LONGEST_STALL`); 0: of lengths as elsewhere.
    bad_above : float
        Errors a base; what worse reads have beyond it is as in a bad stretch from end to end.
    bad_heads, bad_tails : float
        Shares of the reads that start and that end with bases from nowhere.
    bad_end_length, bad_end_length_sd : float
        Of the lengths of those, which are lognormal.
    chimeras, missed_adapters, junk, adapters : float
        Shares of the reads: of two places, turning back on the other strand, random, with adapters at the
        ends.
    head_adapter, tail_adapter : str
        Bases of the adapters.
    """

    length_model: str
    mean_length: float
    length_sd: float
    identity: float
    identity_sd: float
    max_identity: float
    substitutions: float = within(0, 1)
    insertions: float = within(0, 1)
    deletions: float = within(0, 1)
    homopolymer: float = within(0, default=0.0)
    burst: float = within(0, default=0.0)
    chimeras: float = within(0, 1, default=0.0)
    junk: float = within(0, 1, default=0.0)
    adapters: float = within(0, 1, default=0.0)
    min_length: int = within(1, default=500)
    identity_model: str = "beta"
    extension: float = within(0, 1, default=0.0)
    copied: float = within(0, 1, default=0.0)
    homopolymer_deletions: float = within(0, default=0.0)
    burst_length: int = within(1, default=64)
    bad_stretches: float = within(0, default=0.0)
    bad_length: float = within(1, default=300.0)
    bad_length_sd: float = within(0, default=300.0)
    bad_errors: float = within(0, default=0.2)
    bad_insertions: float = within(0, 1, default=1 / 3)
    stall: float = 0.0
    bad_above: float = within(0, default=math.inf)
    bad_heads: float = within(0, 1, default=0.0)
    bad_tails: float = within(0, 1, default=0.0)
    bad_end_length: float = within(1, default=1000.0)
    bad_end_length_sd: float = within(0, default=1000.0)
    missed_adapters: float = within(0, 1, default=0.0)
    head_adapter: str = "AATGTACTTCGTTCAGTTACGTATTGCT"
    tail_adapter: str = ""

    def __post_init__(self) -> None:
        self._require(self.length_model in LENGTH_MODELS, "length_model", " or ".join(LENGTH_MODELS))
        self._require(self.identity_model in IDENTITY_MODELS, "identity_model", " or ".join(IDENTITY_MODELS))
        for name in ("mean_length", "length_sd"):
            self._require(not getattr(self, name) > MOST, name, f"at most {MOST}")
        self._require(
            self.mean_length >= self.min_length, "mean_length", f"at least min_length, {self.min_length}"
        )
        self._require(0 < self.max_identity <= 1, "max_identity", "above 0, to 1")
        self._require(0.5 <= self.identity <= self.max_identity, "identity", f"0.5 to {self.max_identity}")
        for name in ("length_sd", "identity_sd"):
            self._require(getattr(self, name) >= 0, name, "0 or more")
        super().__post_init__()
        self._require(
            self.bad_stretches <= MOST_STRETCHES, "bad_stretches", f"at most {MOST_STRETCHES}, one a base"
        )
        for name in ("extension", "junk"):
            self._require(getattr(self, name) < 1, name, "below 1")
        self._require(self.stall == 0 or self.stall > 1, "stall", "0 or above 1")
        self._require(self.chimeras + self.junk <= 1, "chimeras", "at most 1 together with junk")
        self._require(
            self.chimeras + self.junk + self.missed_adapters <= 1,
            "missed_adapters",
            "at most 1 together with chimeras and junk",
        )
        for name in ("head_adapter", "tail_adapter"):
            self._require(set(getattr(self, name)) <= set("ACGT"), name, "bases A, C, G, T")
        shares = self.substitutions + self.insertions + self.deletions
        if not math.isclose(shares, 1):
            raise ParameterError(f"substitutions, insertions and deletions add up to {shares}, expected 1")
        spread = self.identity * (self.max_identity - self.identity)
        self._require(
            self.identity_sd < 1e-6 or self.identity_sd**2 < spread,
            "identity_sd",
            f"below {math.sqrt(spread):.4f} for identities of {self.identity} on average, "
            f"{self.max_identity} at most",
        )

    def lengths(self) -> Distribution:
        """Return the distribution of the template lengths."""
        mean, sd = self.mean_length, self.length_sd
        if sd < 1:
            return _constant(mean)
        if self.length_model == "gamma":
            shape = (mean / sd) ** 2
            return Distribution.from_log_density(
                lambda x: (shape - 1) * np.log(x) - x * (shape / mean), self.min_length, mean + TAIL * sd
            )
        return lognormal(mean, sd, self.min_length)

    def identities(self) -> Distribution:
        """Return the distribution of the identities; values below 0.5 are cut off."""
        if self.identity_sd < 1e-6:
            return _constant(self.identity)
        top = self.max_identity
        if self.identity_model == "lognormal":
            density = _log_density(top - self.identity, self.identity_sd)
            return Distribution.from_log_density(lambda x: density(top - x), 0.5, top)
        mean, variance = self.identity / top, (self.identity_sd / top) ** 2
        concentration = mean * (1 - mean) / variance - 1
        a, b = mean * concentration, (1 - mean) * concentration
        return Distribution.from_log_density(
            lambda x: (a - 1) * np.log(x / top) + (b - 1) * np.log1p(-x / top), 0.5, top
        )


@functools.cache
def lognormal(mean: float, sd: float, low: float) -> Distribution:
    """Return a lognormal distribution, known by mean and standard deviation, cut below and far above.

    Parameters
    ----------
    mean, sd : float
        A deviation below 1 gives the mean alone.
    low : float
        Where it is cut.
    """
    if sd < 1:
        return _constant(mean)
    return Distribution.from_log_density(_log_density(mean, sd), low, mean + TAIL * sd)


def _log_density(mean: float, sd: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return the logarithm of a lognormal density, up to a constant."""
    variance = math.log1p((sd / mean) ** 2)
    centre = math.log(mean) - variance / 2
    return lambda x: -((np.log(x) - centre) ** 2) / (2 * variance) - np.log(x)


def _constant(value: float) -> Distribution:
    return Distribution(np.array([value, value]), np.array([0.0, 1.0]))
