"""Sequencing errors: from the bases of a template to those of a read.

With e the error rate of the read, shares s, i and d of substitutions, insertions and deletions, f the burst
factor of the window and w the homopolymer weight of the base, a template base suffers one error with
probability ``e * f * (s + (i + d) * w) / mean(s + (i + d) * w)``, and the kinds divide it in proportion. An
inserted base stands before the template base; in homopolymers it copies that base, elsewhere it is random.
"""

from __future__ import annotations

import functools
import statistics
from typing import NamedTuple

import numpy as np

from overlapper.simulate.bits import Bits
from overlapper.simulate.model import ReadModel
from overlapper.tables.reads import UNKNOWN

WINDOW = 64
"""Bases that share a burst factor."""
BURST_LEVELS = 64
MAX_QUALITY = 50
LONGEST_RUN = 8
"""Longer homopolymers weigh no more."""


class Sequenced(NamedTuple):
    """A template after sequencing.

    Attributes
    ----------
    codes : ndarray of uint8, shape (m,)
    qualities : ndarray of uint8, shape (m,)
        Phred scores of the error rate of the window that each base comes from, 1 to 50.
    identity : float
        Matches over alignment columns.
    """

    codes: np.ndarray
    qualities: np.ndarray
    identity: float


def sequence(template: np.ndarray, identity: float, model: ReadModel, bits: Bits) -> Sequenced:
    """Put errors into a template.

    Parameters
    ----------
    template : ndarray of uint8, shape (n,)
        Base codes 0 to 3.
    identity : float
        Expected identity.
    model : ReadModel
    bits : Bits
    """
    n = len(template)
    indels = model.insertions + model.deletions
    weight = homopolymer_weight(template, model.homopolymer)
    per_base = np.float32(model.substitutions) + np.float32(indels) * weight
    windows = bits.below(BURST_LEVELS, -(-n // WINDOW))
    window_rate = np.float32(error_rate(identity, model.insertions)) * burst_factors(model.burst)[windows]
    scale = np.float32(1 / per_base.mean(dtype=np.float64)) if n else np.float32(1)
    rate = np.repeat(window_rate, WINDOW)[:n] * scale

    draw = bits.units(n)
    hit = np.flatnonzero(draw < rate * per_base)
    deletion_below = rate[hit] * weight[hit] * np.float32(model.deletions)
    insertion_below = deletion_below + rate[hit] * weight[hit] * np.float32(model.insertions)
    deleted = hit[draw[hit] < deletion_below]
    inserted = hit[(draw[hit] >= deletion_below) & (draw[hit] < insertion_below)]
    substituted = hit[draw[hit] >= insertion_below]

    codes = template.copy()
    codes[substituted] = (codes[substituted] + 1 + bits.below(3, len(substituted))) & 3
    copies = np.ones(n, np.int64)
    copies[deleted] = 0
    copies[inserted] = 2
    read = np.repeat(codes, copies)
    random = inserted[weight[inserted] == 1]
    read[np.cumsum(copies)[random] - 2] = bits.bases(len(random))

    quality = np.repeat(phred(window_rate), WINDOW)[:n]
    columns = n + len(inserted)
    matches = n - len(substituted) - len(deleted)
    return Sequenced(read, np.repeat(quality, copies), matches / columns if columns else 0.0)


def error_rate(identity: float, insertions: float) -> float:
    """Return the errors a template base for which matches over columns come to the identity.

    Of e errors a base, e * insertions add a column and the others take a match away, so that identity is
    (1 - e * (1 - insertions)) / (1 + e * insertions).
    """
    return (1 - identity) / (1 - insertions * (1 - identity))


def homopolymer_weight(template: np.ndarray, strength: float) -> np.ndarray:
    """Return the indel weight of every base (float32): 1 outside runs of 3 or more."""
    if strength == 0 or len(template) == 0:
        return np.ones(len(template), np.float32)
    starts = np.flatnonzero(np.diff(template, prepend=np.uint8(UNKNOWN)))
    runs = np.diff(starts, append=len(template))
    table = 1 + strength * np.clip(np.arange(LONGEST_RUN + 1) - 2, 0, None) / 2
    return np.repeat(table.astype(np.float32)[np.minimum(runs, LONGEST_RUN)], runs)


@functools.cache
def burst_factors(sd: float) -> np.ndarray:
    """Return equally likely factors (float32), lognormal with mean 1, in steps of 1/1024."""
    normal = statistics.NormalDist()
    levels = [normal.inv_cdf((level + 0.5) / BURST_LEVELS) for level in range(BURST_LEVELS)]
    factors = np.exp(sd * np.array(levels))
    return (np.round(factors / factors.mean() * 1024) / 1024).astype(np.float32)


def phred(rates: np.ndarray) -> np.ndarray:
    """Return the Phred scores (uint8) of error rates, 1 to `MAX_QUALITY`."""
    scores = -10 * np.log10(np.maximum(rates.astype(np.float64), 1e-9))
    return np.clip(np.round(scores), 1, MAX_QUALITY).astype(np.uint8)
