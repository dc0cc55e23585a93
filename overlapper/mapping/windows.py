"""Pairwise alignment of reads with windows of the reference, in a band that holds their chain."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import numpy as np

from overlapper.extend.pairwise import align
from overlapper.kernels.common.cigars import trim_gaps
from overlapper.mapping.chains import Chains
from overlapper.mapping.extenders import Paths
from overlapper.params.scoring import Scoring
from overlapper.sketch.read_parts import cut_out
from overlapper.tables import Alignments, Reads
from overlapper.tables.strands import forward_intervals

NARROWEST_BAND = 64
_MARGIN = 32


@dataclasses.dataclass(frozen=True)
class Windows:
    """Intervals of chains, on the reads as turned to the strand that matches and on reference sequences."""

    q_start: np.ndarray
    q_end: np.ndarray
    t_start: np.ndarray
    t_end: np.ndarray
    """`q_start`, `q_end`, `t_start`, `t_end`: int64, shape (n,)."""


def room(bases: np.ndarray) -> np.ndarray:
    """Return how many bases of the reference an end of ``bases`` bases of a read may be aligned with."""
    return bases + bases // 4 + _MARGIN


def bands(chains: Chains, windows: Windows) -> np.ndarray:
    """Return the width of the band of every chain.

    It is the smallest of 64, 128, 256 and so on that is at least 32, and an eighth of the longest stretch
    without anchors on the read, and how far the anchors' diagonals stray from those between the corners of
    the window.
    """
    counts = np.diff(chains.starts)
    first = chains.starts[:-1]
    rows = np.repeat(np.arange(len(chains)), counts)
    diagonal = (chains.y - windows.t_start[rows]) - (chains.x - windows.q_start[rows])
    last = (windows.t_end - windows.t_start) - (windows.q_end - windows.q_start)
    below = np.minimum(0, last) - np.minimum.reduceat(diagonal, first)
    above = np.maximum.reduceat(diagonal, first) - np.maximum(0, last)
    stray = np.maximum(0, np.maximum(below, above))
    ends = chains.x + chains.length
    gaps = np.maximum(0, chains.x - np.roll(ends, 1))
    gaps[first] = (chains.x[first] - windows.q_start).clip(0)
    longest = np.maximum(np.maximum.reduceat(gaps, first), windows.q_end - ends[chains.starts[1:] - 1])
    wanted = _MARGIN + longest // 8 + stray
    return np.maximum(NARROWEST_BAND, 1 << np.ceil(np.log2(wanted)).astype(np.int64))


def align_windows(
    reads: Reads,
    reference: Reads,
    chains: Chains,
    windows: Windows,
    mode: str,
    scoring: Scoring,
    free: Collection[str] | None = None,
) -> Paths:
    """Align every chain's read with its window, in its band.

    Parameters
    ----------
    mode, free
        As in `overlapper.align`.
    """
    if not len(chains):
        return Paths.empty()
    lengths = reads.lengths[chains.read]
    q_start, q_end = forward_intervals(windows.q_start, windows.q_end, chains.reverse, lengths)
    scoring = dataclasses.replace(scoring, unknown=scoring.mismatch)
    width = bands(chains, windows)
    order = np.argsort(width, kind="stable")
    parts = []
    for band in np.unique(width).tolist():
        rows = np.flatnonzero(width == band)
        parts.append(
            align(
                cut_out(reads, chains.read[rows], q_start[rows], q_end[rows], chains.reverse[rows]),
                cut_out(reference, chains.target[rows], windows.t_start[rows], windows.t_end[rows]),
                mode=mode, scoring=scoring, free=free, band=band, threads=1,
            )
        )  # fmt: skip
    found = Alignments.concat(parts).take(np.argsort(order))
    cigar, offsets, before, after = trim_gaps(found.cigar, found.cigar_offsets)
    return Paths(
        q_start=windows.q_start + found.q_start + before[:, 0],
        q_end=windows.q_start + found.q_end - after[:, 0],
        t_start=windows.t_start + found.t_start + before[:, 1],
        t_end=windows.t_start + found.t_end - after[:, 1],
        cigar=cigar,
        cigar_offsets=offsets,
    )
