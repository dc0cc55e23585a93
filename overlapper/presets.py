"""Parameters by technology, fitted to the read set at hand."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from overlapper.errors import ParameterError
from overlapper.params import ChainParams, Params, SketchParams
from overlapper.tables import Reads

ERROR_RATES = {"ont": 0.06, "clr": 0.13, "hifi": 0.002}
"""Typical error rate of each technology, which its preset assumes."""
PRESETS = ("auto", *ERROR_RATES)
CORRECTED = "corrected"
"""Preset of later rounds of correction: as ``auto``, but with the seeds of large sets, however few the reads.
Corrected reads have enough of these in common."""

ACCURATE, NOISY, VERY_NOISY = 0.01, 0.05, 0.15
VERY_NOISY_AGREEMENT, ACCURATE_AGREEMENT = 8, 100
"""Most short k-mers of very noisy reads meet another by chance, so that the share that seeds tells little of
a read's accuracy. Accurate reads have nearly all seeds in common: the 45 percent that count as typical are
left at a difference of 4 percent, so that copies of a repeat that differ more do not count."""
SMALL, MEDIUM, LARGE = 4_000_000, 40_000_000, 128_000_000
"""Bases of a set: the fewer, the more seeds it can afford. In `LARGE` bases a 13-mer meets four others by
chance, as many as is worth it for very noisy reads, which keep few longer k-mers."""
SAMPLE_BASES = 12_000_000
FALLBACK = "ont"
WIDE_WINDOW, WIDE_REACH = 10, 4
REACH_WINDOWS, MOST_REACH = 100, 1000
"""Windows, and bases at most, to carry on the end of a chain over: seeds grow rarer as windows widen."""


class ErrorRate(NamedTuple):
    """Error rate of reads, and where it comes from."""

    value: float
    basis: str


def preset_params(reads: Reads, preset: str | ErrorRate, threads: int) -> tuple[Params, str]:
    """Return the parameters of a preset for a read set.

    Accurate reads seed with long k-mers and wide windows. Noisy reads keep few k-mers of one piece, so they
    seed with k-mers as short as the size of the set allows before chance matches count, and small sets can
    afford to take more of them.

    Parameters
    ----------
    reads : Reads
    preset : str or ErrorRate
        ``ont``, ``clr``, ``hifi``; ``auto``, which estimates the error rate of the reads, and `CORRECTED`; or
        that itself.
    threads : int

    Returns
    -------
    params : Params
    why : str
        One line that says what was chosen and from what.

    Raises
    ------
    ParameterError
        When there is no such preset.
    """
    error_rate, basis = preset_error_rate(reads, preset, threads)
    sketch = _sketch_params(error_rate, LARGE if preset == CORRECTED else reads.total_bases)
    why = (
        f"error rate {100 * error_rate:.2g} % ({basis}), {reads.total_bases} bases: "
        f"k {sketch.kmer_length}, w {sketch.window}"
    )
    chain = _chain_params(error_rate, sketch.window)
    return dataclasses.replace(Params(), sketch=sketch, chain=chain), why


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
    if preset in ERROR_RATES:
        return ErrorRate(ERROR_RATES[preset], f"preset {preset}")
    error_rate = _estimated_error_rate(reads, threads)
    if math.isnan(error_rate):
        return ErrorRate(ERROR_RATES[FALLBACK], f"too few overlaps to estimate, taken as {FALLBACK}")
    return ErrorRate(error_rate, "estimated")


def check_preset(name: str) -> None:
    """Raise a `ParameterError` if there is no such preset."""
    if name not in PRESETS:
        raise ParameterError(f"preset is {name!r}, expected one of {', '.join(PRESETS)}")


def with_error_rate(params: Params, reads: Reads, threads: int) -> Params:
    """Return the parameters with the error rate that the adaptive threshold needs, estimated unless given."""
    if params.threshold.error_rate:
        return params
    error_rate = _estimated_error_rate(reads, threads)
    if math.isnan(error_rate):
        error_rate = ERROR_RATES[FALLBACK]
    return dataclasses.replace(
        params, threshold=dataclasses.replace(params.threshold, error_rate=round(error_rate, 5))
    )


def _sketch_params(error_rate: float, bases: int) -> SketchParams:
    if error_rate < ACCURATE:
        return SketchParams(kmer_length=19, window=50)
    if bases < SMALL:
        return SketchParams(kmer_length=13, window=1)
    if error_rate > VERY_NOISY:
        return SketchParams(kmer_length=13 if bases < LARGE else 14, window=1)
    if bases < MEDIUM:
        return SketchParams(kmer_length=15, window=3)
    return SketchParams(kmer_length=15, window=5 if error_rate > NOISY and bases < LARGE else WIDE_WINDOW)


def _chain_params(error_rate: float, window: int) -> ChainParams:
    """Let ends be carried on farther as seeds grow rarer, and let noisy reads agree less."""
    default = ChainParams()
    min_agreement = default.min_agreement
    if error_rate > VERY_NOISY:
        min_agreement = VERY_NOISY_AGREEMENT
    elif error_rate < ACCURATE:
        min_agreement = ACCURATE_AGREEMENT
    return dataclasses.replace(
        default,
        reach=WIDE_REACH if window >= WIDE_WINDOW else default.reach,
        max_reach=min(MOST_REACH, max(default.max_reach, REACH_WINDOWS * window)),
        min_agreement=min_agreement,
    )


def _estimated_error_rate(reads: Reads, threads: int) -> float:
    """Estimate from evenly spaced reads of about `SAMPLE_BASES`; the order of the reads must be canonical."""
    from overlapper.sketch.estimates import estimate_error_rate

    step = max(1, reads.total_bases // SAMPLE_BASES)
    sample = reads.take(np.arange(0, len(reads), step)) if step > 1 else reads
    return estimate_error_rate(sample, threads)
