"""The models of technologies, by name.

The first seven are kind: errors come evenly, and reads have whole ends. Those named ``real-`` were measured
on real reads; docs/notes/simulator.md says on which, and how.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from overlapper.errors import ParameterError
from overlapper.simulate.model import ReadModel

_R10 = ("lognormal", 10_000, 9_000, 0.975, 0.018, 0.998, 0.40, 0.22, 0.38, 2.0, 0.6, 0.007, 0.005, 0.3)

_EVEN: dict[str, tuple[Any, ...]] = {  # the first attributes of `ReadModel`, in its order
    "hifi": ("gamma", 14_000, 3_500, 0.9975, 0.0018, 0.9999, 0.20, 0.38, 0.42, 4.0, 0.3, 0.0005),
    "clr": ("gamma", 9_000, 6_500, 0.87, 0.025, 0.93, 0.15, 0.55, 0.30, 0.5, 0.4, 0.01, 0.005),
    "ont-r7": ("gamma", 7_000, 3_500, 0.815, 0.03, 0.9, 0.40, 0.20, 0.40, 1.0, 0.5, 0.005, 0.01, 0.2),
    "ont-r9": ("lognormal", 10_000, 9_000, 0.91, 0.03, 0.97, 0.33, 0.22, 0.45, 1.5, 0.5, 0.01, 0.01, 0.3),
    "ont-r10": _R10,
    "ont": _R10,
    "perfect": ("gamma", 10_000, 4_000, 1.0, 0.0, 1.0, 0.4, 0.3, 0.3),
}

PRESETS = {name: ReadModel(*values) for name, values in _EVEN.items()} | {
    "real-clr": ReadModel(
        length_model="gamma",
        mean_length=7900,
        length_sd=4900,
        min_length=200,
        identity_model="lognormal",
        identity=0.864,
        identity_sd=0.054,
        max_identity=0.909,
        substitutions=0.03,
        insertions=0.61,
        deletions=0.36,
        extension=0.1,
        burst=0.3,
        bad_stretches=1.5,
        bad_length=450,
        bad_length_sd=900,
        bad_errors=0.2,
        bad_insertions=0.93,
        stall=1.5,
        bad_above=0.22,
        bad_heads=0.07,
        bad_tails=0.009,
        bad_end_length=550,
        bad_end_length_sd=1250,
        chimeras=0.045,
        missed_adapters=0.03,
        junk=0.009,
        copied=0.38,
    ),
    "real-ont": ReadModel(
        length_model="lognormal",
        mean_length=7300,
        length_sd=8000,
        identity_model="lognormal",
        identity=0.932,
        identity_sd=0.062,
        max_identity=0.976,
        substitutions=0.37,
        insertions=0.29,
        deletions=0.34,
        extension=0.28,
        homopolymer_deletions=2.0,
        burst=1.3,
        burst_length=12,
        bad_stretches=0.45,
        bad_length=250,
        bad_length_sd=400,
        bad_errors=0.2,
        bad_insertions=0.29,
        bad_heads=0.033,
        bad_tails=0.037,
        bad_end_length=1900,
        bad_end_length_sd=3900,
        chimeras=0.001,
        missed_adapters=0.001,
        junk=0.002,
        adapters=0.97,
        head_adapter="ATTGTACTTCGTTCAGTTACGTATTGCTACTTGCCTGTCGCTCTATCTTCGGCGTCTGCTTGGGTGTTTAACCT",
        tail_adapter="AGGTTAAACACCCAAGCAGACGCCGAAGATAGAGCGACAGGCAAGTAGCAATACGTAA",
        copied=0.5,
    ),
    "real-hifi": ReadModel(
        length_model="gamma",
        mean_length=14_650,
        length_sd=1400,
        identity=0.9977,
        identity_sd=0.0028,
        max_identity=0.9999,
        substitutions=0.05,
        insertions=0.64,
        deletions=0.31,
        extension=0.01,
        homopolymer_deletions=6.0,
        chimeras=0.044,
        copied=0.85,
    ),
}
"""Models by technology; ``ont`` is the newest of the ``ont-*``."""


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
