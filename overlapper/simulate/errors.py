"""Sequencing errors: from the bases of a template to those of a read.

With e the errors a base of the read, shares s, i and d of substitutions, insertions and deletions, f the
burst factor of the window, w and v the homopolymer weights of the base for insertions and deletions, an
error begins at a template base with probability ``e * f * (s + i * w + d * v) / mean(s + i * w + d * v)``,
times 1 - extension, and the kinds divide it in proportion. (Where errors go on for several bases they
overlap, and e is raised until the identity is as asked: `dense_rate`.) An inserted base stands before the
template base; in homopolymers it copies that base, elsewhere it does with probability `ReadModel.copied`,
or is random. Of a base that is deleted and substituted the deletion counts.

Bad stretches (`bad_errors`) add errors of their own, x a base: an error more begins with probability
``x * (j / m + (1 - j) * (1 - extension))``, j the share of insertions in it and m their mean length.
"""

from __future__ import annotations

import functools
import math
import statistics
from typing import NamedTuple

import numpy as np

from overlapper.simulate.bits import Bits
from overlapper.simulate.model import ReadModel, lognormal
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import UNKNOWN

BURST_LEVELS = 64
MAX_QUALITY = 50
LONGEST_RUN = 8
"""Longer homopolymers weigh no more."""
LONGEST_EXTENSION = 64
"""Bases of an error at most, but for those of a stall."""
LONGEST_STALL = 2000
"""Bases of an insertion of a bad stretch at most."""
STRETCH_UNIT = 10_000
"""Template bases that the number of bad stretches is given for."""


class SequencedRead(NamedTuple):
    """A template after sequencing."""

    codes: np.ndarray
    """uint8, shape (m,)."""
    qualities: np.ndarray
    """uint8, shape (m,); Phred scores of the error rate of the window that each base comes from, 1 to 50."""
    identity: float
    """Matches over alignment columns."""


def sequence(template: np.ndarray, identity: float, model: ReadModel, bits: Bits) -> SequencedRead:
    """Put errors into a template.

    Parameters
    ----------
    template : ndarray of uint8, shape (n,)
        Base codes 0 to 3.
    identity : float
        Expected identity.
    """
    n = len(template)
    rate = error_rate(identity, model.insertions) if model.extension == 0 else dense_rate(identity, model)
    even = min(rate, model.bad_above)
    size = model.burst_length
    window_rate = np.float32(even) * burst_factors(model.burst)[bits.below(BURST_LEVELS, -(-n // size))]
    bad = bad_errors(n, rate - even, model, bits)
    drawn = _draw_errors(template, np.repeat(window_rate, size)[:n], bad, model, bits)
    read = put_errors(template, *drawn, bits)
    quality = np.repeat(phred(window_rate), size)[:n]
    if bad is not None:
        worse = np.flatnonzero(bad)
        quality[worse] = phred(window_rate[worse // size] + bad[worse])
    columns = n + read.inserted
    return SequencedRead(
        read.codes, np.repeat(quality, read.copies), read.matches / columns if columns else 0.0
    )


def bad_errors(n: int, excess: float, model: ReadModel, bits: Bits) -> np.ndarray | None:
    """Draw the bad stretches of a template.

    Parameters
    ----------
    n : int
        Bases of the template.
    excess : float
        Errors a base that the read has as in a bad stretch from end to end.

    Returns
    -------
    ndarray of float32, shape (n,), or None
        Errors a base that bad stretches add; None where there are none.
    """
    added = np.full(n, excess, np.float32)
    if model.bad_stretches:
        # Stretches that begin before the template reach into it, so that its head is like the rest.
        lengths = lognormal(model.bad_length, model.bad_length_sd, 1)
        gap = STRETCH_UNIT / model.bad_stretches
        start = -2 * model.bad_length - gap * math.log1p(-bits.unit())
        while start < n:
            end = start + lengths.draw(bits)
            worse = -model.bad_errors * math.log1p(-bits.unit())
            added[max(0, int(start)) : max(0, int(end))] += np.float32(worse)
            start -= gap * math.log1p(-bits.unit())
    return added if added.any() else None


class DrawnErrors(NamedTuple):
    """Errors of a template, in order, at most one begins at a base."""

    at: np.ndarray
    lengths: np.ndarray
    """`at`, `lengths`: int64, shape (m,); where they begin, and their bases."""
    deleted: np.ndarray
    inserted: np.ndarray
    """`deleted`, `inserted`: bool, shape (m,); which are deletions, and insertions; the others are
    substitutions."""
    copied: np.ndarray
    """float32, shape (m,); probability of a base of an insertion to copy the template base; others are
    random."""


def _draw_errors(
    template: np.ndarray, rate: np.ndarray, bad: np.ndarray | None, model: ReadModel, bits: Bits
) -> DrawnErrors:
    """Draw the errors of a template, of so many a base (float32) and those that bad stretches add."""
    weight = homopolymer_weight(template, model.homopolymer)
    deletions = weight * np.float32(model.deletions)
    per_base = np.float32(model.substitutions) + np.float32(model.insertions + model.deletions) * weight
    if model.homopolymer_deletions:
        more = homopolymer_weight(template, model.homopolymer_deletions) - np.float32(1)
        deletions += more * np.float32(model.deletions)
        per_base += more * np.float32(model.deletions)
    if len(template):
        rate = rate * np.float32((1 - model.extension) / per_base.mean(dtype=np.float64))

    draw = bits.units(len(template))
    ordinary = rate * per_base
    each = _bad_chances(model)
    at = np.flatnonzero(draw < (ordinary if bad is None else ordinary + bad * np.float32(sum(each))))
    drawn = draw[at]
    deleted_below = rate[at] * deletions[at]
    inserted_below = deleted_below + rate[at] * weight[at] * np.float32(model.insertions)
    deleted, inserted = drawn < deleted_below, (drawn >= deleted_below) & (drawn < inserted_below)
    of_bad = np.zeros(len(at), bool)
    if bad is not None:
        left, there = drawn - ordinary[at], bad[at]
        deleted |= (left >= 0) & (left < there * np.float32(each[0]))
        of_bad = (left >= 0) & (left >= there * np.float32(each[0] + each[1]))
    lengths = _error_lengths(len(at), of_bad, model, bits)
    copied = np.where(weight[at] == 1, np.float32(model.copied), np.float32(1))
    return DrawnErrors(at, lengths, deleted, inserted | of_bad, copied)


def _bad_chances(model: ReadModel) -> tuple[float, float, float]:
    """Return how likely a deletion, substitution and insertion begin, for an error a base that is added."""
    others = model.deletions + model.substitutions
    rest = (1 - model.bad_insertions) * (1 - model.extension) / others if others else 0.0
    mean = stall_lengths(model.stall).sum() if model.stall else 1 / (1 - model.extension)
    return rest * model.deletions, rest * model.substitutions, model.bad_insertions / mean


def _error_lengths(n: int, of_bad: np.ndarray, model: ReadModel, bits: Bits) -> np.ndarray:
    """Draw the lengths of errors (int64), some of which are insertions that bad stretches add."""
    lengths = np.ones(n, np.int64)
    if model.extension:
        longer = model.extension ** np.arange(1, LONGEST_EXTENSION)
        lengths += np.searchsorted(-longer, -bits.units(n).astype(np.float64))
    if model.stall and of_bad.any():
        longer = stall_lengths(model.stall)[1:]
        drawn = bits.units(int(of_bad.sum())).astype(np.float64)
        lengths[of_bad] = 1 + np.searchsorted(-longer, -drawn)
    return lengths


@functools.cache
def stall_lengths(exponent: float) -> np.ndarray:
    """Return the probability of an insertion of a bad stretch to be of 1, 2, ... bases or more (float64)."""
    return np.arange(1, LONGEST_STALL + 1, dtype=np.float64) ** -exponent


class WithErrors(NamedTuple):
    """A template with errors."""

    codes: np.ndarray
    """uint8, shape (m,)."""
    copies: np.ndarray
    """int64, shape (n,); how many bases of the read stand for each template base, inserted ones included."""
    inserted: int
    matches: int
    """`inserted`, `matches`: bases."""


def put_errors(
    template: np.ndarray,
    at: np.ndarray,
    lengths: np.ndarray,
    deleted: np.ndarray,
    inserted: np.ndarray,
    copied: np.ndarray,
    bits: Bits,
) -> WithErrors:
    """Put drawn errors into a template.

    Parameters
    ----------
    template : ndarray of uint8, shape (n,)
    at, lengths, deleted, inserted, copied : ndarray
        See `DrawnErrors`.
    """
    n = len(template)
    copies = np.ones(n, np.int64)
    copies[_covered(at[deleted], lengths[deleted], n)] = 0
    changed = np.zeros(n, bool)
    substituted = ~deleted & ~inserted
    changed[_covered(at[substituted], lengths[substituted], n)] = True
    changed &= copies > 0
    codes = template.copy()
    where = np.flatnonzero(changed)
    codes[where] = (codes[where] + 1 + bits.below(3, len(where))) & 3
    matches = int(copies.sum()) - len(where)

    copies[at[inserted]] += lengths[inserted]
    read = np.repeat(codes, copies)
    random = inserted & (copied < 1)
    first = np.cumsum(copies)[at[random]] - copies[at[random]]
    place = _covered(first, lengths[random], len(read))
    if copied[random].any():
        place = place[bits.units(len(place)) >= np.repeat(copied[random], lengths[random])]
    read[place] = bits.bases(len(place))
    return WithErrors(read, copies, int(lengths[inserted].sum()), matches)


def _covered(starts: np.ndarray, lengths: np.ndarray, n: int) -> np.ndarray:
    """Return the places below n that intervals hold, interval by interval."""
    if lengths.size == lengths.sum():
        return starts
    offsets = offsets_of(lengths)
    places = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
    return places[places < n]


def error_rate(identity: float, insertions: float) -> float:
    """Return the errors a template base for which matches over columns come to the identity.

    Of e errors a base, e * insertions add a column and the others take a match away, so that identity is
    (1 - e * (1 - insertions)) / (1 + e * insertions).
    """
    return (1 - identity) / (1 - insertions * (1 - identity))


def dense_rate(identity: float, model: ReadModel) -> float:
    """Return the errors a template base that come to the identity where errors of several bases overlap."""
    identities, rates = _dense_rates(model)
    return float(np.interp(identity, identities, rates))


@functools.cache
def _dense_rates(model: ReadModel) -> tuple[np.ndarray, np.ndarray]:
    """Return identities, growing, and the rates of errors that come to them."""
    rates = np.linspace(2, 0, 501)
    goes_on = model.extension
    begins = np.minimum(1, rates[:, None] * burst_factors(model.burst).astype(np.float64) * (1 - goes_on))
    matches = np.ones_like(begins)
    for length in range(LONGEST_EXTENSION):
        matches *= 1 - begins * (1 - model.insertions) * goes_on**length
    inserted = begins * model.insertions / (1 - goes_on)
    return matches.mean(axis=1) / (1 + inserted.mean(axis=1)), rates


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
