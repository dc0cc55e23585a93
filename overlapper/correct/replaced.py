"""Replacement of stretches of unitigs that no read confirms (``docs/algorithms/correction.md``, section 8).

Real reads have stretches without true sequence, of some kilobases. Where a unitig took its bases from one,
other reads align up to it from either side but have no path across it, so that nothing there is voted on.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from overlapper.correct.consensus import Consensus
from overlapper.correct.pileups import Pileups
from overlapper.kernels.consensus.layer_paths import MAX_REACH
from overlapper.tables.ragged import offsets_of, places_within, runs_of
from overlapper.tables.reads import UNKNOWN

SHORTEST = 50
"""Bases of the shortest stretch that is replaced; most bases by which its flanks may overlap on a read."""
BORDER = MAX_REACH
"""Bases on either side that are replaced, too: paths go on so far beyond the last anchor, into the
stretch."""
FLANK = 300
"""Bases of the confirmed flanks beyond the borders, which are searched for in reads."""
SEED, SEEDS, SLACK = 13, 4, 60
"""Bases of the k-mers by which a flank is found; least number of these; diagonals within which they lie. A
read with 15 % errors shares 35 of them."""
FEWEST_READS, MOST_READS = 3, 40


def replaced(pileups: Pileups, made: Consensus, first: int) -> Consensus:
    """Replace stretches that had no vote by the bases of a read that has both flanks.

    Parameters
    ----------
    pileups : Pileups
    made : Consensus
        Of successive targets of the pileups.
    first : int
        Number of the first of these targets.

    Returns
    -------
    Consensus
        New bases have quality 0, depth 0, and the origin of the first base of the stretch.
    """
    starts, ends, runs = runs_of((made.quality == 0) & (made.codes != UNKNOWN), made.offsets)
    new = [
        (int(made.offsets[t]) + start, int(made.offsets[t]) + end, found)
        for t, stretches in _by_target(starts, ends, runs)
        for start, end in stretches
        if (found := _instead(pileups, made, first, t, start, end)) is not None
    ]
    if not new:
        return made
    lengths = np.diff(made.offsets)
    columns: dict[str, list[np.ndarray]] = {name: [] for name in ("codes", "quality", "depth", "origin")}
    done = 0
    for start, end, found in new:
        target = np.searchsorted(made.offsets, start, "right") - 1
        lengths[target] += len(found) - (end - start)
        none = np.zeros(len(found), np.uint8)
        instead: tuple[np.ndarray, ...] = (
            found,
            none,
            none,
            np.full(len(found), made.origin[start], np.int32),
        )
        for (name, parts), values in zip(columns.items(), instead, strict=True):
            parts += [getattr(made, name)[done:start], values]
        done = end
    joined: dict[str, Any] = {
        name: np.concatenate([*parts, getattr(made, name)[done:]]) for name, parts in columns.items()
    }
    return dataclasses.replace(made, offsets=offsets_of(lengths), **joined)


def _by_target(
    starts: np.ndarray, ends: np.ndarray, runs: np.ndarray
) -> list[tuple[int, list[tuple[int, int]]]]:
    """Return the stretches of each target, with borders; near ones are joined, short ones left out."""
    found, low = [], 0
    for target in np.flatnonzero(runs).tolist():
        high = low + int(runs[target])
        joined: list[tuple[int, int]] = []
        for start, end in zip(starts[low:high].tolist(), ends[low:high].tolist(), strict=True):
            if joined and start - joined[-1][1] < 2 * BORDER + FLANK:
                start = joined.pop()[0]
            joined.append((start, end))
        long = [(start - BORDER, end + BORDER) for start, end in joined if end - start >= SHORTEST]
        found.append((target, long))
        low = high
    return found


def _instead(
    pileups: Pileups, made: Consensus, first: int, target: int, start: int, end: int
) -> np.ndarray | None:
    """Return the bases (codes) of the median read in a stretch; None if too few reads have both flanks."""
    codes = made.codes[made.offsets[target] : made.offsets[target + 1]]
    origin = made.origin[made.offsets[target] : made.offsets[target + 1]]
    if start < FLANK or end + FLANK > len(codes):
        return None
    before, behind = codes[start - FLANK : start], codes[end : end + FLANK]
    rows = pileups.rows_on(first + target, first + target + 1).sort_canonical()
    on_left = (rows.t_start <= origin[start - FLANK]) & (rows.t_end >= origin[start - 1])
    on_right = (rows.t_start <= origin[end]) & (rows.t_end >= origin[end + FLANK - 1])
    # Rows of reads whose chain does not cross the stretch end at it, on either side.
    touching = np.flatnonzero(on_left | on_right)[:MOST_READS].tolist()
    if len(touching) < FEWEST_READS:
        return None
    found: list[np.ndarray] = []
    for row in touching:
        read = pileups.reads.codes(int(rows.read[row]))
        if rows.reverse[row]:
            read = np.where(read < UNKNOWN, 3 - read, read)[::-1].astype(np.uint8)
        kmers = _kmers(read)
        left, right = _end_on_read(before, kmers), _start_on_read(behind, kmers)
        if left >= 0 and right >= left - SHORTEST:
            found.append(read[left : max(left, right)])
    if len(found) < FEWEST_READS:
        return None
    return sorted(found, key=len)[(len(found) - 1) // 2]


def _kmers(codes: np.ndarray) -> np.ndarray:
    """Return all k-mers of `SEED` bases (int64); -1 where a base is unknown."""
    n = max(len(codes) - SEED + 1, 0)
    kmers, unknown = np.zeros(n, np.int64), np.zeros(n, bool)
    for i in range(SEED):
        kmers = 4 * kmers + codes[i : i + n]
        unknown |= codes[i : i + n] == UNKNOWN
    return np.where(unknown, -1, kmers)


def _end_on_read(flank: np.ndarray, kmers: np.ndarray) -> int:
    """Return where the end of a flank lies on a read of these k-mers; -1 if it is not found."""
    on_read, on_flank = _hits_near_each_other(flank, kmers)
    if not len(on_read):
        return -1
    nearest = np.lexsort((on_read, on_flank))[-1]
    return int(on_read[nearest] + len(flank) - on_flank[nearest])


def _start_on_read(flank: np.ndarray, kmers: np.ndarray) -> int:
    """Return where the start of a flank lies on a read of these k-mers; -1 if it is not found."""
    on_read, on_flank = _hits_near_each_other(flank, kmers)
    if not len(on_read):
        return -1
    nearest = np.lexsort((on_read, on_flank))[0]
    return int(max(on_read[nearest] - on_flank[nearest], 0))


def _hits_near_each_other(flank: np.ndarray, kmers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where k-mers of a flank lie on a read and on the flank, on the diagonals that have most of them.

    There are none where these are fewer than `SEEDS`.

    Parameters
    ----------
    flank : ndarray of uint8
    kmers : ndarray of int64
        All k-mers of the read.
    """
    of_flank = _kmers(flank)
    order = np.argsort(of_flank, kind="stable")
    low, high = (np.searchsorted(of_flank[order], kmers, side) for side in ("left", "right"))
    hits = np.where(kmers >= 0, high - low, 0)
    on_read = np.repeat(np.arange(len(kmers)), hits)
    on_flank = order[np.repeat(low, hits) + places_within(hits)]
    diagonal = np.sort(on_read - on_flank)
    near = np.searchsorted(diagonal, diagonal + SLACK, "right") - np.arange(len(diagonal))
    if near.max(initial=0) < SEEDS:
        return on_read[:0], on_flank[:0]
    best = diagonal[np.argmax(near)]
    there = (on_read - on_flank >= best) & (on_read - on_flank <= best + SLACK)
    return on_read[there], on_flank[there]
