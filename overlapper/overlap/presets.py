"""Presets: the parameters for a technology and a given read set."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from overlapper.errors import ParameterError
from overlapper.extend.registry import ALIGNING
from overlapper.params.stages import ChainParams, Params, SketchParams
from overlapper.sketch.chance import Background, sure_score, walked_edits
from overlapper.sketch.choice import SharedKmers, choose, widest_window
from overlapper.sketch.estimates import estimate_errors
from overlapper.tables import Reads

ERROR_RATES = {"ont": 0.06, "clr": 0.13, "hifi": 0.002}
"""Error rate that the preset of each technology assumes."""
PRESETS = ("auto", *ERROR_RATES)
ALIASES = {
    "map-ont": "ont", "ava-ont": "ont", "map-pb": "clr", "ava-pb": "clr", "map-hifi": "hifi", "lr:hq": "auto",
}  # fmt: skip
"""Names of minimap2's presets, and ours in their place; lr:hq is for reads of about 1 % errors from any
technology, so that the error rate is estimated."""
CORRECTED = "corrected"
"""Preset of later rounds of correction: as ``auto``, but k and w are those of a set of `CORRECTED_BASES` even
if the set is smaller. Corrected reads share enough of these seeds."""
CORRECTED_BASES = 128_000_000
COPIES_TOLD_LATER = {"contained_in_repeats": True}
"""Parameters of the classes of overlaps for what tells copies apart itself, as votes and exact overlaps do:
at the border of a repeat a read's own copy is known by these overlaps alone. Chosen on LPA (R10;
``docs/notes/overlaps.md``)."""
FALLBACK = "ont"
WIDE_WINDOW, WIDE_REACH = 10, 4
REACH_WINDOWS, MOST_REACH = 40, 1000
"""Farthest read end to which a chain is extended, in windows, and in bases: wider windows leave longer gaps
between seeds."""

_AGREEMENTS = ((0.005, 100), (0.02, 18), (0.13, 18), (0.2, 10))
"""Pairs of error rate and least agreement of an overlap, in percent of the typical one; interpolated between
logarithms. Accurate reads share nearly all seeds: the 45 percent that count as typical are left at a
divergence of 4 percent, so that copies of a repeat that differ more are dropped. Noisy reads have stretches
without seeds: set on real CLR reads of E. coli (P5-C3) and on simulated reads of yeast (CLR, HiFi); the last
pair keeps lambda R7."""


class ErrorRate(NamedTuple):
    """Error rate of reads, how it was found, and the shares of common k-mers if they were measured."""

    value: float
    basis: str
    shared: SharedKmers | None = None


def preset_params(
    reads: Reads, preset: str | ErrorRate, threads: int, changes: Mapping[str, Any] | None = None
) -> tuple[Params, str]:
    """Return the parameters of a preset for a read set.

    k and w are chosen by the number and lengths of the reads, the k-mers that they share, and the shortest
    overlap wanted (`overlapper.sketch.choice`).

    Parameters
    ----------
    preset : str or ErrorRate
        ``ont``, ``clr`` or ``hifi``; ``auto`` or `CORRECTED`, which estimate the error rate; or an error
        rate.
    changes : mapping, optional
        Parameters that replace those of the preset, nested as in `Params`.

    Returns
    -------
    params : Params
    why : str
        A line for the user: error rate, size of the set, k and w.
    """
    rate = preset_error_rate(reads, preset, threads)
    bases = CORRECTED_BASES if preset == CORRECTED else 0
    wanted = Params().changed(changes or {})
    widest = widest_window(rate.value, wanted.sketch.window_errors)
    background = Background.of(reads)
    shared = rate.shared or SharedKmers.assumed(rate.value, background.kmer)
    sketch = choose(shared, widest, reads.lengths, wanted.classes.min_overlap, bases)
    why = (
        f"error rate {100 * rate.value:.2g} % ({rate.basis}), {reads.total_bases} bases: "
        f"k {sketch.kmer_length}, w {sketch.window}"
    )
    params = dataclasses.replace(Params(), sketch=sketch).changed(changes or {})
    chain = _chain_params(rate.value, background, params.sketch, reads)
    params = dataclasses.replace(params, chain=chain).changed(changes or {})
    if rate is not preset and rate.shared and params.extender in ALIGNING:  # estimated above
        params = _with_threshold_for(params, rate)
    return params, why


def preset_error_rate(reads: Reads, preset: str | ErrorRate, threads: int) -> ErrorRate:
    """Return the error rate that a preset assumes, or estimate it.

    Parameters
    ----------
    reads : Reads
        In canonical order, so that the estimate does not depend on their order in the file.
    """
    if isinstance(preset, ErrorRate):
        return preset
    technology, asked = _technology(preset)
    if technology in ERROR_RATES:
        return ErrorRate(ERROR_RATES[technology], f"preset {technology}{asked}")
    return _estimated(reads, FALLBACK, asked, threads)


def polishing_error_rate(reads: Reads, preset: str | ErrorRate, threads: int) -> ErrorRate:
    """Return the error rate that a preset assumes, or estimate it, with the k-mers that the reads share.

    How many k-mers are common to reads by chance goes by their composition, which no preset knows.

    Parameters
    ----------
    reads, preset, threads
        As for `preset_error_rate`.
    """
    rate = preset_error_rate(reads, preset, threads)
    if rate.shared:
        return rate
    measured, shared = estimate_errors(reads, threads)
    return rate if math.isnan(measured) else rate._replace(shared=shared)


def measured_error_rate(reads: Reads, preset: str, threads: int) -> ErrorRate:
    """Return the estimated error rate; what a preset assumes only where reads overlap too little for one.

    Reads of one technology differ more than presets do: of ONT, R9 and R10 reads need different assemblies.

    Parameters
    ----------
    reads : Reads
        In canonical order.
    """
    technology, asked = _technology(preset)
    return _estimated(reads, technology if technology in ERROR_RATES else FALLBACK, asked, threads)


def _technology(preset: str) -> tuple[str, str]:
    """Return what a preset stands for, and a note if it was named as minimap2 names it."""
    if preset != CORRECTED:
        check_preset(preset)
    return ALIASES.get(preset, preset), f", for {preset}" if preset in ALIASES else ""


def _estimated(reads: Reads, otherwise: str, asked: str, threads: int) -> ErrorRate:
    """Estimate the error rate; where there are too few overlaps, return that of another preset."""
    error_rate, shared = estimate_errors(reads, threads)
    if math.isnan(error_rate):
        basis = f"too few overlaps to estimate it, so that of {otherwise} is used{asked}"
        return ErrorRate(ERROR_RATES[otherwise], basis)
    return ErrorRate(error_rate, f"estimated{asked}", shared)


def check_preset(name: str) -> None:
    """Raise a `ParameterError` if there is no such preset."""
    if name not in PRESETS and name not in ALIASES:
        raise ParameterError(
            f"preset is {name!r}, expected one of {', '.join(PRESETS)}, or one of minimap2's "
            f"{', '.join(ALIASES)}"
        )


def with_error_rate(params: Params, reads: Reads, threads: int) -> Params:
    """Estimate the error rate for the adaptive score threshold, unless it is given."""
    if params.threshold.error_rate:
        return params
    return _with_threshold_for(params, preset_error_rate(reads, "auto", threads))


def _with_threshold_for(params: Params, rate: ErrorRate) -> Params:
    """Set the error rate of the adaptive score threshold, unless it is given."""
    if params.threshold.error_rate:
        return params
    threshold = dataclasses.replace(params.threshold, error_rate=round(rate.value, 5))
    return dataclasses.replace(params, threshold=threshold)


def _chain_params(
    error_rate: float, background: Background, sketch: SketchParams, reads: Reads
) -> ChainParams:
    """Return chain parameters.

    The wider the window the longer the reach, the noisier the less agreement, and what chance gives is not
    taken for an overlap.
    """
    default, window = ChainParams(), sketch.window
    rates, percents = zip(*_AGREEMENTS, strict=True)
    place = math.log(max(error_rate, rates[0]))
    agreement = math.exp(np.interp(place, np.log(rates), np.log(percents)))
    bases = reads.total_bases
    (sure,) = sure_score(
        background.kmer, sketch.kmer_length, np.array([window]), bases, bases / max(1, len(reads))
    )
    return dataclasses.replace(
        default,
        reach=min(WIDE_REACH, max(default.reach, WIDE_REACH * window // WIDE_WINDOW)),
        max_reach=min(MOST_REACH, max(default.max_reach, REACH_WINDOWS * window)),
        min_agreement=round(agreement),
        sure_score=round(float(sure)),
        end_edits=walked_edits(background.base),
    )
