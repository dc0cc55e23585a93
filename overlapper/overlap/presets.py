"""Parameters by technology, fitted to the read set at hand."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from overlapper.errors import ParameterError
from overlapper.extend.registry import ALIGNING
from overlapper.params.stages import ChainParams, Params
from overlapper.sketch.choice import SharedKmers, choose
from overlapper.sketch.estimates import estimate_errors
from overlapper.tables import Reads

ERROR_RATES = {"ont": 0.06, "clr": 0.13, "hifi": 0.002}
"""Typical error rate of each technology, which its preset assumes."""
PRESETS = ("auto", *ERROR_RATES)
ALIASES = {
    "map-ont": "ont", "ava-ont": "ont", "map-pb": "clr", "ava-pb": "clr", "map-hifi": "hifi", "lr:hq": "auto",
}  # fmt: skip
"""Presets of minimap2, and which of ours each is taken as; lr:hq is for reads of about 1 % of errors from
any technology, which estimating tells apart."""
CORRECTED = "corrected"
"""Preset of later rounds of correction: as ``auto``, but with the seeds of `CORRECTED_BASES`, however few the
reads. Corrected reads have enough of these in common."""
CORRECTED_BASES = 128_000_000
FALLBACK = "ont"
WIDE_WINDOW, WIDE_REACH = 10, 4
REACH_WINDOWS, MOST_REACH = 40, 1000
"""Windows, and bases at most, to carry on the end of a chain over: seeds grow rarer as windows widen."""

_AGREEMENTS = ((0.005, 100), (0.02, 18), (0.13, 18), (0.2, 10))
"""Error rates, and how many percent of the typical agreement an overlap needs; in between it goes by the
logarithms. Accurate reads have nearly all seeds in common: the 45 percent that count as
typical are left at a difference of 4 percent, so that copies of a repeat that differ more do not count.
Noisy reads have stretches without seeds: set on real CLR reads of E. coli (P5-C3) and on simulated reads of
yeast (CLR, HiFi); the last pair keeps lambda R7."""


class ErrorRate(NamedTuple):
    """Error rate of reads, where it comes from, and what k-mers they share, where that was measured."""

    value: float
    basis: str
    shared: SharedKmers | None = None


def preset_params(
    reads: Reads, preset: str | ErrorRate, threads: int, changes: Mapping[str, Any] | None = None
) -> tuple[Params, str]:
    """Return the parameters of a preset for a read set.

    Seeds are chosen by what k-mers the reads share, by how many and how long they are, and by the shortest
    overlap wanted (`overlapper.sketch.choice`).

    Parameters
    ----------
    reads : Reads
    preset : str or ErrorRate
        ``ont``, ``clr``, ``hifi``; ``auto``, which estimates the error rate of the reads, and `CORRECTED`; or
        that itself.
    threads : int
    changes : mapping, optional
        Parameters that are to differ, nested as in `Params`.

    Returns
    -------
    params : Params
    why : str
        One line that says what was chosen and from what.

    Raises
    ------
    ParameterError
        When there is no such preset, or the changes do not fit.
    """
    rate = preset_error_rate(reads, preset, threads)
    bases = CORRECTED_BASES if preset == CORRECTED else 0
    wanted = Params().changed(changes or {}).classes.min_overlap
    sketch = choose(rate.shared or SharedKmers.assumed(rate.value), rate.value, reads.lengths, wanted, bases)
    why = (
        f"error rate {100 * rate.value:.2g} % ({rate.basis}), {reads.total_bases} bases: "
        f"k {sketch.kmer_length}, w {sketch.window}"
    )
    chain = _chain_params(rate.value, sketch.window)
    params = dataclasses.replace(Params(), sketch=sketch, chain=chain).changed(changes or {})
    if rate is not preset and rate.shared and params.extender in ALIGNING:  # it was estimated just now
        params = _with_threshold_for(params, rate)
    return params, why


def preset_error_rate(reads: Reads, preset: str | ErrorRate, threads: int) -> ErrorRate:
    """Return the error rate that a preset works with.

    Parameters
    ----------
    reads : Reads
        In canonical order, so that the estimate does not depend on their order in the file.
    preset : str or ErrorRate
    threads : int

    Raises
    ------
    ParameterError
        When there is no such preset.
    """
    if isinstance(preset, ErrorRate):
        return preset
    if preset != CORRECTED:
        check_preset(preset)
    given, preset = preset, ALIASES.get(preset, preset)
    taken = f", for {given}" if given in ALIASES else ""
    if preset in ERROR_RATES:
        return ErrorRate(ERROR_RATES[preset], f"preset {preset}{taken}")
    error_rate, shared = estimate_errors(reads, threads)
    if math.isnan(error_rate):
        return ErrorRate(ERROR_RATES[FALLBACK], f"too few overlaps to estimate, taken as {FALLBACK}{taken}")
    return ErrorRate(error_rate, f"estimated{taken}", shared)


def check_preset(name: str) -> None:
    """Raise a `ParameterError` if there is no such preset."""
    if name not in PRESETS and name not in ALIASES:
        raise ParameterError(
            f"preset is {name!r}, expected one of {', '.join(PRESETS)}, or one of minimap2's "
            f"{', '.join(ALIASES)}"
        )


def with_error_rate(params: Params, reads: Reads, threads: int) -> Params:
    """Return the parameters with the error rate that the adaptive threshold needs, estimated unless given."""
    if params.threshold.error_rate:
        return params
    return _with_threshold_for(params, preset_error_rate(reads, "auto", threads))


def _with_threshold_for(params: Params, rate: ErrorRate) -> Params:
    """Return the parameters with an error rate for the adaptive threshold, unless it is given."""
    if params.threshold.error_rate:
        return params
    threshold = dataclasses.replace(params.threshold, error_rate=round(rate.value, 5))
    return dataclasses.replace(params, threshold=threshold)


def _chain_params(error_rate: float, window: int) -> ChainParams:
    """Return chain parameters: longer reach at ends where seeds are rarer, less agreement for noisy reads."""
    default = ChainParams()
    rates, percents = zip(*_AGREEMENTS, strict=True)
    place = math.log(max(error_rate, rates[0]))
    agreement = math.exp(np.interp(place, np.log(rates), np.log(percents)))
    return dataclasses.replace(
        default,
        reach=min(WIDE_REACH, max(default.reach, WIDE_REACH * window // WIDE_WINDOW)),
        max_reach=min(MOST_REACH, max(default.max_reach, REACH_WINDOWS * window)),
        min_agreement=round(agreement),
    )
