"""Trimming of reads to the part that overlaps confirm (Li 2016, section 2.4).

**Core.** The longest interval of a read that at least ``min_depth`` overlaps cover, after ``clip`` bases are
taken off both ends of every overlap; the interval gets them back. Ends that no other read confirms go
(adapters, low quality). So does the shorter side of a chimera: overlaps of true reads end at its junction,
and with the clip none reaches across.

**Growth.** Towards an end of the genome the depth falls to one, and with it the core would stop short. So a
core grows by every overlap that shares ``min_overlap`` bases with it, until none adds to it: twice ``clip``,
as by chance an overlap from either side may run up to ``clip`` past the junction of a chimera.

Both are found twice: first with all overlaps, and no clip for the core; then with the overlaps that fit the
trimmed reads (no internal matches, hangs up to 1.5 ``max_hang``, at least half of ``min_overlap``), and a
depth that rises with the coverage: a tenth of it, less one. The coverage is that of all reads, or that about
the read if it is less: the mean, of the reads on its middle base, of how many are on theirs. Beside a deep
molecule a shallow one stays, while a bad read among many good ones needs as many as these. ``clip`` is half
of ``min_overlap``, which is less for a short read here and in what follows
(`overlapper.params.graph.GraphParams.least_of`).

**Free ends.** An end that is left over is kept after all when no overlap touches it and no overlapping read
would go on past the interval by more than ``max_hang``: the read that reaches furthest at an end of the
genome. At an adapter or a chimera the others go on.

Where ``min_depth`` is 0, all of this is left out: reads that have an overlap are kept whole. Where reads are
told that others confirm (``confirm_depth``), chimeras at ends of molecules are cut all the same
(`overlapper.graph.chimeric_ends`).

**Chimera, missed adapter.** Where a read loses its second longest core, of ``min_overlap`` or more, two
sequences were joined between the two. When some other read matches both sides with the same bases, on
opposite strands, the read turned back at a missed adapter; else it is a chimera.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from overlapper.extend.classify import classify
from overlapper.graph.chimeric_ends import without_chimeric_ends
from overlapper.graph.cores import cores_of
from overlapper.graph.pairs import Pairs, blocks_of, cut
from overlapper.kernels.graph import folds, trimming
from overlapper.params.graph import GraphParams
from overlapper.runtime.threads import map_in_order
from overlapper.tables import OverlapClass, Overlaps

_LOOSE = 1.5


@dataclasses.dataclass(frozen=True)
class Trimmed:
    """The result of trimming: intervals of reads, and counts."""

    start: np.ndarray
    end: np.ndarray
    """`start`, `end`: int32, shape (reads,); kept interval of each read, half open, on its forward strand;
    empty for a removed read."""
    counts: dict[str, int]
    """Reads and bases removed, by reason."""

    def within(self, start: np.ndarray, end: np.ndarray) -> Trimmed:
        """Cut the kept intervals to others, half open; some may become empty."""
        start, end = np.maximum(self.start, start), np.minimum(self.end, end)
        start, end = (np.where(start < end, place, 0).astype(np.int32) for place in (start, end))
        cut = int((end - start < self.end - self.start).sum())
        return Trimmed(start, end, self.counts | {"reads cut beforehand": cut})


def trim(
    pairs: Pairs, overlaps: Overlaps, lengths: np.ndarray, params: GraphParams, *, threads: int = 1
) -> Trimmed:
    """Find the interval of every read that is kept.

    Parameters
    ----------
    pairs : Pairs
        On whole reads.
    overlaps : Overlaps
        The table that the rows of the pairs refer to.
    lengths : ndarray of int, shape (reads,)
        In content order.
    params : GraphParams
    threads : int
        Changes nothing but the time.
    """
    if params.min_depth == 0:
        return _whole(pairs, lengths, params, threads)
    least = params.least_of(lengths)
    crude = kept_intervals(pairs, params.min_depth, np.zeros_like(least), least, threads)
    inner = (crude.end - crude.start).astype(np.int64)
    parts = map_in_order(
        lambda block: _fitting(cut(block, overlaps, crude.start, crude.end), inner, least, params),
        blocks_of(pairs),
        threads,
    )
    fitting = Pairs.concat(list(parts))
    depth = np.maximum(params.min_depth, np.rint(_coverage(fitting, inner) / 10).astype(np.int64) - 1)
    fine = kept_intervals(fitting, depth, least // 2, least, threads)

    kept = fine.end > fine.start
    start = np.where(kept, crude.start + fine.start, 0)
    end = np.where(kept, crude.start + fine.end, 0)
    opposed = trimming.opposed_ends(*pairs.intervals, lengths, start, end, params.max_hang)
    start = np.where(kept & ~opposed[:, 0], 0, start)
    end = np.where(kept & ~opposed[:, 1], lengths, end)
    junction = np.where(fine.junction >= 0, crude.start + fine.junction, crude.junction)
    turned = folds.palindromes(*pairs.intervals, junction)
    counts = {
        "reads without enough overlaps": int((~kept).sum()),
        "reads trimmed": int((kept & (end - start < lengths)).sum()),
        "bases trimmed": int((lengths - (end - start))[kept].sum()),
        "chimeric reads cut": int((kept & (junction >= 0) & (turned == 0)).sum()),
        "missed adapters cut": int((kept & (junction >= 0) & (turned > 0)).sum()),
    }
    return Trimmed(start, end, counts)


def _whole(pairs: Pairs, lengths: np.ndarray, params: GraphParams, threads: int) -> Trimmed:
    alone = np.ones(len(lengths), np.bool_)
    alone[pairs.query] = alone[pairs.target] = False
    start, end = np.zeros(len(lengths), np.int32), lengths.astype(np.int32)
    counts = {"reads without enough overlaps": int(alone.sum())}
    if params.confirm_depth:
        start, end = without_chimeric_ends(pairs, lengths, params, threads)
        counts["chimeric reads cut"] = int((end - start < lengths).sum())
    return Trimmed(start, np.where(alone, 0, end).astype(np.int32), counts)


class KeptIntervals(NamedTuple):
    """Kept intervals of reads (may be empty), and where the second longest core was cut off (-1: nowhere)."""

    start: np.ndarray
    end: np.ndarray
    junction: np.ndarray


def kept_intervals(
    pairs: Pairs, min_depth: int | np.ndarray, clip: np.ndarray, least: np.ndarray, threads: int
) -> KeptIntervals:
    """Return the grown longest core of every read, if it has the bases of the least overlap or more.

    Parameters
    ----------
    pairs : Pairs
    min_depth : int, or ndarray of int64, shape (reads,)
        Least overlaps that cover a base.
    clip, least : ndarray of int64, shape (reads,)
        Bases taken off both ends of each overlap before; those of the least overlap of each read.
    threads : int
    """
    cores, intervals = cores_of(pairs, min_depth, clip, threads)
    long_enough = cores[:, [1, 3]] - cores[:, [0, 2]] >= least[:, None]
    start, end = (np.where(long_enough[:, 0], cores[:, side], 0) for side in (0, 1))
    start, end = trimming.grown(*intervals, start, end, least)

    lost_before, lost_after = cores[:, 3] <= start, cores[:, 2] >= end
    between = np.where(lost_before, cores[:, 3] + start, end + cores[:, 2]) // 2
    parted = long_enough.all(axis=1) & (lost_before | lost_after)
    return KeptIntervals(start, end, np.where(parted, between, -1))


def _fitting(pairs: Pairs, lengths: np.ndarray, least: np.ndarray, params: GraphParams) -> Pairs:
    spans = np.minimum(pairs.q_end - pairs.q_start, pairs.t_end - pairs.t_start)
    pairs = pairs.take(spans >= np.minimum(least[pairs.query], least[pairs.target]) // 2)
    kinds = classify(pairs, lengths, int(params.max_hang * _LOOSE), params.min_ratio)
    return pairs.take(kinds != OverlapClass.INTERNAL)


def _coverage(pairs: Pairs, lengths: np.ndarray) -> np.ndarray:
    """Return the coverage of all reads, or that about each read where it is less (float64)."""
    of_all = 2 * int((pairs.q_end - pairs.q_start).sum(dtype=np.int64)) / max(int(lengths.sum()), 1)
    sides = (
        (pairs.query, pairs.target, pairs.q_start, pairs.q_end),
        (pairs.target, pairs.query, pairs.t_start, pairs.t_end),
    )
    over = []
    for read, other, start, end in sides:
        middle = lengths[read] // 2
        rows = (start <= middle) & (middle < end)
        over.append((read[rows], other[rows]))
    reads, others = map(np.concatenate, zip(*over, strict=True))
    number = np.bincount(reads, minlength=len(lengths))
    summed = np.bincount(reads, number[others], minlength=len(lengths))  # exact: whole numbers
    return np.where(number > 0, np.minimum(of_all, summed / np.maximum(number, 1)), of_all)
