"""Which part of each read to trust, from the overlaps that pile up on it (Li 2016, section 2.4).

**Core.** The longest interval of a read that at least ``min_depth`` overlaps cover, after ``clip`` bases are
taken off both ends of every overlap; the interval gets them back. Ends that no other read confirms go
(adapters, low quality). So does the shorter side of a chimera: overlaps of true reads end at its junction,
and with the clip none reaches across.

**Growth.** Towards an end of the genome the depth falls to one, and with it the core would stop short. So a
core grows by every overlap that shares ``clip`` bases with it, until none adds to it.

Both are found twice: first with all overlaps, and no clip for the core; then with the overlaps that fit the
trimmed reads (no internal matches, hangs up to 1.5 ``max_hang``, at least half of ``min_overlap``), and a
depth that rises with the coverage. ``clip`` is half of ``min_overlap``.

**Free ends.** An end that is left over is kept after all when no overlap touches it and no overlapping read
would go on past the interval by more than ``max_hang``: the read that reaches furthest at an end of the
genome. At an adapter or a chimera the others go on.

**Chimera, missed adapter.** Where a read loses a second core of ``min_overlap`` or more, two sequences were
joined between the two. When some other read matches both sides with the same bases, on opposite strands, the
read turned back at a missed adapter; else it is a chimera.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from graph.pairs import Pairs, cut
from graph.params import GraphParams
from overlapper.extend.classify import classify
from overlapper.kernels.cpu import pileup
from overlapper.params import ClassParams
from overlapper.tables import OverlapClass, Overlaps

_LOW = np.uint64(0xFFFFFFFF)
_CRUDE = 1.5


@dataclasses.dataclass(frozen=True)
class Trimmed:
    """What trimming keeps.

    Attributes
    ----------
    start, end : ndarray of int32, shape (reads,)
        Kept interval of each read, half open, on its forward strand; empty where the read is gone.
    counts : dict of str to int
        Reads and bases that went, by reason.
    """

    start: np.ndarray
    end: np.ndarray
    counts: dict[str, int]


def trim(pairs: Pairs, overlaps: Overlaps, lengths: np.ndarray, params: GraphParams) -> Trimmed:
    """Find the interval of every read to keep.

    Parameters
    ----------
    pairs : Pairs
        On whole reads.
    overlaps : Overlaps
        Where the rows of the pairs point to.
    lengths : ndarray of int, shape (reads,)
        In content order.
    params : GraphParams
    """
    reach = params.min_overlap // 2
    crude = _cores(pairs, len(lengths), params.min_depth, 0)
    start, end = _long_enough(crude, params.min_overlap)
    start, end = _grown(pairs, start, end, reach)
    fitting = cut(pairs, overlaps, start, end)
    fitting = fitting.take(_spans(fitting) >= params.min_overlap // 2)
    loose = ClassParams(max_hang=int(params.max_hang * _CRUDE), min_ratio=params.min_ratio)
    fitting = fitting.take(classify(fitting, end - start, loose) != OverlapClass.INTERNAL)

    bases = int((end - start).sum(dtype=np.int64))
    covering = int((fitting.q_end - fitting.q_start).sum(dtype=np.int64)) * 2
    depth = max(params.min_depth, round(covering / max(bases, 1) / 10) - 1)
    fine = _cores(fitting, len(lengths), depth, reach)
    fine_start, fine_end = _long_enough(fine, params.min_overlap)
    fine_start, fine_end = _grown(fitting, fine_start, fine_end, reach)

    parted = (fine_end > fine_start) & (fine[:, 3] - fine[:, 2] >= params.min_overlap)
    junction = np.where(fine[:, 0] < fine[:, 2], fine[:, 1] + fine[:, 2], fine[:, 3] + fine[:, 0]) // 2
    folds = pileup.palindromes(
        pairs.query, pairs.target, pairs.reverse, pairs.q_start, pairs.q_end, pairs.t_start, pairs.t_end,
        np.where(parted, start + junction, -1),
    )  # fmt: skip
    kept = fine_end > fine_start
    start, end = np.where(kept, start + fine_start, 0), np.where(kept, start + fine_end, 0)
    opposed = pileup.opposed_ends(
        pairs.query, pairs.target, pairs.reverse, pairs.q_start, pairs.q_end, pairs.t_start, pairs.t_end,
        lengths, start, end, params.max_hang,
    )  # fmt: skip
    start = np.where(opposed[:, 0], start, 0)
    end = np.where(kept & ~opposed[:, 1], lengths, end)
    counts = {
        "reads without enough overlaps": int((~kept).sum()),
        "reads trimmed": int((kept & (end - start < lengths)).sum()),
        "bases trimmed": int((lengths - (end - start))[kept].sum()),
        "chimeric reads cut": int((parted & (folds == 0)).sum()),
        "missed adapters cut": int((parted & (folds > 0)).sum()),
    }
    return Trimmed(start, end, counts)


def _cores(pairs: Pairs, reads: int, min_depth: int, clip: int) -> np.ndarray:
    """Return start and end of the longest core of each read, then of the second longest; 0 to 0 for none."""
    read = np.concatenate([pairs.query, pairs.target]).astype(np.uint64) << np.uint64(32)
    opens = np.concatenate([pairs.q_start, pairs.t_start]) + clip
    closes = np.concatenate([pairs.q_end, pairs.t_end]) - clip
    left = opens < closes
    offsets = np.zeros(reads + 1, np.int64)
    np.cumsum(np.bincount(read[left] >> np.uint64(32), minlength=reads), out=offsets[1:])
    opens, closes = (np.sort(read[left] | ends[left].astype(np.uint64)) & _LOW for ends in (opens, closes))
    cores = pileup.covered(offsets, opens.astype(np.int32), closes.astype(np.int32), min_depth)
    some = cores[:, [1, 3]] > cores[:, [0, 2]]
    cores[:, [0, 2]] -= np.where(some, clip, 0)
    cores[:, [1, 3]] += np.where(some, clip, 0)
    return cores


def _grown(pairs: Pairs, start: np.ndarray, end: np.ndarray, reach: int) -> tuple[np.ndarray, np.ndarray]:
    offsets, opens, closes = pileup.intervals_by_read(
        pairs.query, pairs.q_start, pairs.q_end, pairs.target, pairs.t_start, pairs.t_end, len(start)
    )
    return pileup.grown(offsets, opens, closes, start, end, reach)


def _long_enough(intervals: np.ndarray, least: int) -> tuple[np.ndarray, np.ndarray]:
    kept = intervals[:, 1] - intervals[:, 0] >= least
    return np.where(kept, intervals[:, 0], 0), np.where(kept, intervals[:, 1], 0)


def _spans(pairs: Pairs) -> np.ndarray:
    return np.minimum(pairs.q_end - pairs.q_start, pairs.t_end - pairs.t_start)
