"""What reads of a technology look like: lengths, identities, errors."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from overlapper.errors import MOST, ParameterError
from overlapper.simulate.bits import Distribution

LENGTH_MODELS = ("gamma", "lognormal")
TAIL = 20
"""Standard deviations above the mean where the tail of the lengths is cut."""


@dataclasses.dataclass(frozen=True)
class ReadModel:
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
        Identities follow a beta distribution between 0 and max_identity; a deviation below
        1e-6 gives every read the mean.
    substitutions, insertions, deletions : float
        Their shares of the errors; they add up to 1.
    homopolymer : float
        How much likelier indels are in homopolymers: by 1 + homopolymer * (min(run, 8) - 2) / 2 in runs of 3
        or more. The mean error rate stays.
    burst : float
        Standard deviation of the logarithm of the error rate between windows of 64 bases.
    chimeras, junk, adapters : float
        Shares of the reads.
    """

    length_model: str
    mean_length: float
    length_sd: float
    identity: float
    identity_sd: float
    max_identity: float
    substitutions: float
    insertions: float
    deletions: float
    homopolymer: float = 0.0
    burst: float = 0.0
    chimeras: float = 0.0
    junk: float = 0.0
    adapters: float = 0.0
    min_length: int = 500

    def __post_init__(self) -> None:
        def require(condition: bool, name: str, expected: str) -> None:
            if not condition:
                raise ParameterError(f"{name} is {getattr(self, name)}, expected {expected}")

        require(self.length_model in LENGTH_MODELS, "length_model", " or ".join(LENGTH_MODELS))
        require(self.min_length >= 1, "min_length", "1 or more")
        require(not self.mean_length > MOST, "mean_length", f"at most {MOST}")
        require(not self.length_sd > MOST, "length_sd", f"at most {MOST}")
        require(self.mean_length >= self.min_length, "mean_length", f"at least min_length, {self.min_length}")
        require(0 < self.max_identity <= 1, "max_identity", "above 0, to 1")
        require(0.5 <= self.identity <= self.max_identity, "identity", f"0.5 to {self.max_identity}")
        for name in ("length_sd", "identity_sd", "homopolymer", "burst"):
            require(getattr(self, name) >= 0, name, "0 or more")
        for name in ("substitutions", "insertions", "deletions", "chimeras", "junk", "adapters"):
            require(0 <= getattr(self, name) <= 1, name, "0 to 1")
        require(self.junk < 1, "junk", "below 1")
        require(self.chimeras + self.junk <= 1, "chimeras", "at most 1 together with junk")
        shares = self.substitutions + self.insertions + self.deletions
        if not math.isclose(shares, 1):
            raise ParameterError(f"substitutions, insertions and deletions add up to {shares}, expected 1")
        spread = self.identity * (self.max_identity - self.identity)
        require(
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
        variance = math.log1p((sd / mean) ** 2)
        centre = math.log(mean) - variance / 2
        return Distribution.from_log_density(
            lambda x: -((np.log(x) - centre) ** 2) / (2 * variance) - np.log(x),
            self.min_length,
            mean + TAIL * sd,
        )

    def identities(self) -> Distribution:
        """Return the distribution of the identities; values below 0.5 are cut off."""
        if self.identity_sd < 1e-6:
            return _constant(self.identity)
        top = self.max_identity
        mean, variance = self.identity / top, (self.identity_sd / top) ** 2
        concentration = mean * (1 - mean) / variance - 1
        a, b = mean * concentration, (1 - mean) * concentration
        return Distribution.from_log_density(
            lambda x: (a - 1) * np.log(x / top) + (b - 1) * np.log1p(-x / top), 0.5, top
        )


def adapted_model(
    preset: str | ReadModel,
    *,
    mean_length: float | None = None,
    identity: float | None = None,
    **changes: float,
) -> ReadModel:
    """Return the model of a preset with some of its values changed.

    A new mean length or identity takes its deviation along in proportion (the identity also its maximum),
    unless that is given too.

    Parameters
    ----------
    preset : str or ReadModel
        A name in `PRESETS`, or a model.
    mean_length, identity : float, optional
    **changes : float
        Other attributes of `ReadModel`.

    Raises
    ------
    ParameterError
        When the preset is unknown or a value is out of range.
    """
    if isinstance(preset, str) and preset not in PRESETS:
        raise ParameterError(f"preset is {preset!r}, expected one of {', '.join(PRESETS)}")
    model = PRESETS[preset] if isinstance(preset, str) else preset
    if mean_length is not None:
        changes = {"length_sd": model.length_sd * mean_length / model.mean_length} | changes
        changes["mean_length"] = mean_length
    if identity is not None:
        scale = (1 - identity) / (1 - model.identity) if model.identity < 1 else 0.0
        limit = min(1.0, 1 - (1 - model.max_identity) * scale)
        changes = {"identity_sd": model.identity_sd * scale, "max_identity": limit} | changes
        changes["identity"] = identity
    return dataclasses.replace(model, **changes)  # type: ignore[arg-type]


def _constant(value: float) -> Distribution:
    return Distribution(np.array([value, value]), np.array([0.0, 1.0]))


_ONT_R10 = ReadModel(
    length_model="lognormal",
    mean_length=10_000,
    length_sd=9_000,
    identity=0.975,
    identity_sd=0.018,
    max_identity=0.998,
    substitutions=0.40,
    insertions=0.22,
    deletions=0.38,
    homopolymer=2.0,
    burst=0.6,
    chimeras=0.007,
    junk=0.005,
    adapters=0.3,
)

PRESETS = {
    "hifi": ReadModel(
        length_model="gamma",
        mean_length=14_000,
        length_sd=3_500,
        identity=0.9975,
        identity_sd=0.0018,
        max_identity=0.9999,
        substitutions=0.20,
        insertions=0.38,
        deletions=0.42,
        homopolymer=4.0,
        burst=0.3,
        chimeras=0.0005,
    ),
    "clr": ReadModel(
        length_model="gamma",
        mean_length=9_000,
        length_sd=6_500,
        identity=0.87,
        identity_sd=0.025,
        max_identity=0.93,
        substitutions=0.15,
        insertions=0.55,
        deletions=0.30,
        homopolymer=0.5,
        burst=0.4,
        chimeras=0.01,
        junk=0.005,
    ),
    "ont-r7": ReadModel(
        length_model="gamma",
        mean_length=7_000,
        length_sd=3_500,
        identity=0.815,
        identity_sd=0.03,
        max_identity=0.9,
        substitutions=0.40,
        insertions=0.20,
        deletions=0.40,
        homopolymer=1.0,
        burst=0.5,
        chimeras=0.005,
        junk=0.01,
        adapters=0.2,
    ),
    "ont-r9": ReadModel(
        length_model="lognormal",
        mean_length=10_000,
        length_sd=9_000,
        identity=0.91,
        identity_sd=0.03,
        max_identity=0.97,
        substitutions=0.33,
        insertions=0.22,
        deletions=0.45,
        homopolymer=1.5,
        burst=0.5,
        chimeras=0.01,
        junk=0.01,
        adapters=0.3,
    ),
    "ont-r10": _ONT_R10,
    "ont": _ONT_R10,
    "perfect": ReadModel(
        length_model="gamma",
        mean_length=10_000,
        length_sd=4_000,
        identity=1.0,
        identity_sd=0.0,
        max_identity=1.0,
        substitutions=0.4,
        insertions=0.3,
        deletions=0.3,
    ),
}
"""Models by technology; ``ont`` is the newest of the ``ont-*``."""
