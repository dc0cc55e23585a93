"""Judge overlaps by where the reads come from.

Definitions, with m the minimum overlap in bases:

- A read is *placed* if the truth table holds exactly one row for it, of kind ``normal``. Pairs with other
  reads count neither for nor against. Overlaps of a read with itself are ignored.
- *True pair*: two placed reads whose places on the same reference share m bases or more.
- *Reported pair*: two reads with an overlap between them. Its longest overlap stands for it, the first of
  equals; the *span* of an overlap is the longer of its two intervals.
- *Recall*: the share of the true pairs that are reported, with whatever span.
- *Claimed pair*: a reported pair of placed reads with a span of m or more. It is *right* if the places share
  at least half the span and the strand is the one that they imply. *Precision*: the share of the right ones
  among the claimed. If only the strand is not as implied, it is a *strand error*.
- *End error*: the distance of either end of the query interval from where the places put it, by linear
  interpolation between the ends of the query's place; over the right pairs.
- On a *circular* reference, places also meet across the origin; of several ways to meet the longest counts.

Scores are also given by overlap length, where true pairs are binned by the bases that they share and claimed
pairs by their span, and by pair identity: the product of the reads' identities, about that of one to the
other.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from overlapper.errors import ParameterError
from overlapper.io.reported import ReportedOverlaps, read_reported
from overlapper.io.truth import UNPLACED, Truth, read_truth

LENGTH_EDGES = (500, 1_000, 2_000, 3_000, 5_000, 10_000, 20_000, 50_000, 100_000)
IDENTITY_EDGES = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.995)


@dataclasses.dataclass(frozen=True)
class Scores:
    """Counts of pairs, and what follows from them."""

    true_pairs: int
    found: int
    """`true_pairs`, `found`: true pairs, and those of them that are reported."""
    claimed: int
    correct: int
    strand_errors: int
    """`claimed`, `correct`, `strand_errors`: claimed pairs, the right ones, and those with only the strand
    wrong."""
    end_error: float | None
    end_error_p95: float | None
    """`end_error`, `end_error_p95`: median and 95th percentile, in bases; None without right pairs."""

    @property
    def recall(self) -> float:
        """Found over true pairs; 0 if there are none."""
        return self.found / self.true_pairs if self.true_pairs else 0.0

    @property
    def precision(self) -> float:
        """Right over claimed pairs; 0 if there are none."""
        return self.correct / self.claimed if self.claimed else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision; 0 if both are."""
        total = self.recall + self.precision
        return 2 * self.recall * self.precision / total if total else 0.0


class Bin(NamedTuple):
    """Scores of the pairs from ``low`` to below ``high``."""

    low: float
    high: float
    """`low`, `high`: in bases, or an identity; the last bin goes up to infinity."""
    scores: Scores


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """How good a set of overlaps is.

    Attributes
    ----------
    min_overlap : int
        The minimum overlap that it was judged with.
    overlaps, reported_pairs, unjudged_pairs : int
        Overlaps, reported pairs, and those of them that are long enough but hold a read that is not placed.
    total : Scores
    by_length, by_identity : tuple of Bin
        Only bins with pairs in them; by_identity is empty if the truth table has no identities.
    """

    min_overlap: int
    overlaps: int
    reported_pairs: int
    unjudged_pairs: int
    total: Scores
    by_length: tuple[Bin, ...]
    by_identity: tuple[Bin, ...]


@dataclasses.dataclass(frozen=True)
class _Places:
    """Places by read number; reads are numbered as they appear, in the truth table and then in the overlaps.

    ``reference`` is -1 for a read that is not placed, ``circle`` the length of a circular reference or 0.
    """

    reference: np.ndarray
    start: np.ndarray
    end: np.ndarray
    reverse: np.ndarray
    identity: np.ndarray
    circle: np.ndarray


@dataclasses.dataclass(frozen=True)
class _Claims:
    """Claimed pairs."""

    span: np.ndarray
    identity: np.ndarray
    correct: np.ndarray
    strand_error: np.ndarray
    end_errors: np.ndarray
    """Shape (n, 2); only those of right pairs mean something."""


def evaluate_overlaps(
    truth: Truth | str | os.PathLike[str],
    overlaps: ReportedOverlaps | str | os.PathLike[str],
    *,
    min_overlap: int = 2000,
    circular: int | Mapping[str, int] = 0,
) -> Evaluation:
    """Judge overlaps by known placements.

    Parameters
    ----------
    truth : Truth or path
        As `simulate_reads` returns it and `read_truth` reads it; or the file.
    overlaps : ReportedOverlaps or path
        ``ReportedOverlaps.from_table(overlaps, reads)``; or a PAF file, of whatever program.
    min_overlap : int
        Shortest overlap that is asked for, in bases, 1 or more.
    circular : int or mapping of str to int
        Length of the circular reference, or of those that are circular by name; 0 if none is.

    Raises
    ------
    ParameterError
        When a value is out of range, or a circular reference has no reads.
    """
    if min_overlap < 1:
        raise ParameterError(f"min_overlap is {min_overlap}, expected 1 or more")
    if not isinstance(truth, Truth):
        truth = read_truth(os.fspath(truth))
    if not isinstance(overlaps, ReportedOverlaps):
        overlaps = read_reported(os.fspath(overlaps))
    numbers: dict[str, int] = {}
    row_reads = _number(truth.read.tolist(), numbers)
    reported_reads = _number(overlaps.names, numbers)
    places = _places(truth, row_reads, len(numbers), circular)
    true_keys, shared = _true_pairs(places, min_overlap)

    query, target = reported_reads[overlaps.query], reported_reads[overlaps.target]
    span = np.maximum(overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start)
    low, high = np.minimum(query, target), np.maximum(query, target)
    keys = low * len(numbers) + high
    order = np.lexsort((-span, keys))
    order = order[query[order] != target[order]]
    longest = order[np.diff(keys[order], prepend=-1) != 0]

    found = np.isin(true_keys, keys[longest])
    long_enough = longest[span[longest] >= min_overlap]
    judged = long_enough[
        (places.reference[query] >= 0)[long_enough] & (places.reference[target] >= 0)[long_enough]
    ]
    claims = _judge(places, overlaps, judged, query[judged], target[judged], span[judged])
    first, second = np.divmod(true_keys, max(1, len(numbers)))
    true_identity = places.identity[first] * places.identity[second]
    return Evaluation(
        min_overlap=min_overlap,
        overlaps=len(overlaps),
        reported_pairs=len(longest),
        unjudged_pairs=len(long_enough) - len(judged),
        total=_scores(found, claims, np.ones(len(found), bool), np.ones(len(judged), bool)),
        by_length=_binned(LENGTH_EDGES, shared, found, claims.span, claims),
        by_identity=_binned(IDENTITY_EDGES, true_identity, found, claims.identity, claims),
    )


def _number(names: list[str], numbers: dict[str, int]) -> np.ndarray:
    """Return the number of each name; new names get the next ones."""
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def _places(truth: Truth, row_reads: np.ndarray, reads: int, circular: int | Mapping[str, int]) -> _Places:
    references = {name: number for number, name in enumerate(dict.fromkeys(truth.ref.tolist()))}
    by_name = dict.fromkeys(references, circular) if isinstance(circular, int) else circular
    for name, length in by_name.items():
        if name not in references:
            raise ParameterError(f"circular reference {name!r} has no reads in the truth table")
        if length < 0:
            raise ParameterError(f"length of the circular reference {name!r} is {length}, expected 1 or more")
        last = int(truth.start[truth.ref == name].max())
        if 0 < length <= last:
            raise ParameterError(
                f"the circular reference {name!r} is said to have {length} bases, but a read starts at {last}"
            )
    circles = np.array([by_name.get(name, 0) for name in references], np.int64)

    on_reference = ~np.isin(truth.ref, UNPLACED)
    rows_of_read = np.bincount(row_reads[on_reference], minlength=reads)
    rows = np.flatnonzero(on_reference & (truth.kind == "normal") & (rows_of_read[row_reads] == 1))
    read = row_reads[rows]
    row_reference = np.array([references[name] for name in truth.ref[rows].tolist()], np.int64)
    places = _Places(
        reference=np.full(reads, -1),
        start=np.zeros(reads, np.int64),
        end=np.zeros(reads, np.int64),
        reverse=np.zeros(reads, bool),
        identity=np.full(reads, np.nan),
        circle=np.zeros(reads, np.int64),
    )
    places.reference[read] = row_reference
    places.start[read], places.end[read] = truth.start[rows], truth.end[rows]
    places.reverse[read] = truth.strand[rows] == "-"
    places.identity[read] = truth.identity[rows]
    places.circle[read] = circles[row_reference]
    return places


def _true_pairs(places: _Places, min_overlap: int) -> tuple[np.ndarray, np.ndarray]:
    """Return keys, ascending, and shared bases of the true pairs; a key is low read * reads + high read."""
    # A second copy of each circular place, one lap earlier, meets the reads that run through the origin.
    placed = np.flatnonzero(places.reference >= 0)
    read = np.concatenate([placed, placed[places.circle[placed] > 0]])
    lap = np.where(np.arange(len(read)) < len(placed), 0, places.circle[read])
    start, end = places.start[read] - lap, places.end[read] - lap
    order = np.lexsort((start, places.reference[read]))
    read, start, end = read[order], start[order], end[order]
    borders = np.flatnonzero(np.diff(places.reference[read], prepend=-1, append=-1))

    keys, shared = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for low, high in itertools.pairwise(borders):
        s, e, who = start[low:high], end[low:high], read[low:high]
        after = np.arange(1, len(s) + 1)
        counts = np.maximum(np.searchsorted(s, e - min_overlap, side="right") - after, 0)
        i = np.repeat(after - 1, counts)
        j = np.arange(len(i)) + np.repeat(after - (np.cumsum(counts) - counts), counts)
        common = np.minimum(e[i], e[j]) - s[j]
        true = (common >= min_overlap) & (who[i] != who[j])
        a, b = who[i[true]], who[j[true]]
        keys.append(np.minimum(a, b) * len(places.reference) + np.maximum(a, b))
        shared.append(common[true])
    key, common = np.concatenate(keys), np.concatenate(shared)
    order = np.lexsort((-common, key))
    best = order[np.diff(key[order], prepend=-1) != 0]
    return key[best], common[best]


def _judge(
    places: _Places,
    overlaps: ReportedOverlaps,
    rows: np.ndarray,
    query: np.ndarray,
    target: np.ndarray,
    span: np.ndarray,
) -> _Claims:
    """Judge the given rows of the overlaps, whose reads are all placed."""
    start, end = places.start[query], places.end[query]
    laps = np.array([-1, 0, 1])[:, None] * places.circle[target]
    lows = np.maximum(start, places.start[target] + laps)
    highs = np.minimum(end, places.end[target] + laps)
    longest = np.argmax(highs - lows, axis=0)[None]
    low = np.take_along_axis(lows, longest, axis=0)[0]
    high = np.take_along_axis(highs, longest, axis=0)[0]
    meet = (places.reference[query] == places.reference[target]) & (2 * (high - low) >= span)
    strand_fits = (places.reverse[query] != places.reverse[target]) == overlaps.reverse[rows]

    scale = overlaps.q_length[rows] / np.maximum(1, end - start)
    reverse = places.reverse[query]
    expected_start = np.where(reverse, end - high, low - start) * scale
    expected_end = np.where(reverse, end - low, high - start) * scale
    errors = [np.abs(expected_start - overlaps.q_start[rows]), np.abs(expected_end - overlaps.q_end[rows])]
    return _Claims(
        span=span,
        identity=places.identity[query] * places.identity[target],
        correct=meet & strand_fits,
        strand_error=meet & ~strand_fits,
        end_errors=np.stack(errors, axis=1),
    )


def _scores(found: np.ndarray, claims: _Claims, true_mask: np.ndarray, claim_mask: np.ndarray) -> Scores:
    """Return the scores of the masked pairs."""
    correct = claims.correct & claim_mask
    errors = claims.end_errors[correct]
    return Scores(
        true_pairs=int(true_mask.sum()),
        found=int(found[true_mask].sum()),
        claimed=int(claim_mask.sum()),
        correct=int(correct.sum()),
        strand_errors=int((claims.strand_error & claim_mask).sum()),
        end_error=float(np.median(errors)) if len(errors) else None,
        end_error_p95=float(np.percentile(errors, 95)) if len(errors) else None,
    )


def _binned(
    edges: tuple[float, ...],
    true_values: np.ndarray,
    found: np.ndarray,
    claim_values: np.ndarray,
    claims: _Claims,
) -> tuple[Bin, ...]:
    """Return scores by bins of a value of the pairs; pairs whose value is NaN are in none."""
    bounds = (0.0, *edges, np.inf)
    bins = []
    for low, high in itertools.pairwise(bounds):
        true_mask = (true_values >= low) & (true_values < high)
        claim_mask = (claim_values >= low) & (claim_values < high)
        if true_mask.any() or claim_mask.any():
            bins.append(Bin(low, high, _scores(found, claims, true_mask, claim_mask)))
    return tuple(bins)
