"""Consensus of windows of targets on a GPU; the twin of ../consensus.py.

A batch of windows stays on the device from its packed reads to its consensus::

    reads ──► layers ──► anchors ──► chains ──► paths ──► votes ──► next draft ──┐
                                                   ▲                             │
                                                   └── layers carried over ◄────┘

Each arrow is a kernel or two with a thread for each layer, pair of sequences, or column.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64

from overlapper.kernels.common.cuda.offsets import owner
from overlapper.kernels.consensus.consensus import (
    ALIGNED,
    COLUMNS,
    COUNTS,
    COVERED,
    DELETED,
    EDITS,
    INSERTED,
    LEFT_OUT,
    LONGER,
    LOST,
    RUNS,
    SHORTER,
)
from overlapper.kernels.consensus.cuda.carry_over import carry_over
from overlapper.kernels.consensus.cuda.error_probabilities import qualities
from overlapper.kernels.consensus.cuda.haplotype_filter import leave_out
from overlapper.kernels.consensus.cuda.known_votes import let_known_decide
from overlapper.kernels.consensus.cuda.layer_paths import first_paths
from overlapper.kernels.consensus.cuda.layers import DeviceSequences, gather_layers
from overlapper.kernels.consensus.cuda.mem_anchors import bytes_of_index, find_chains, index_windows
from overlapper.kernels.consensus.cuda.next_draft import next_draft
from overlapper.kernels.consensus.cuda.own_bases import keep_own, keep_stretches
from overlapper.kernels.consensus.cuda.reconsider import reconsider
from overlapper.kernels.consensus.cuda.unknown_runs import fill_unknown
from overlapper.kernels.consensus.cuda.votes import Draft, Layers, bytes_of_votes, count_votes
from overlapper.kernels.consensus.error_probabilities import LIMITS
from overlapper.kernels.consensus.haplotype_filter import is_cis
from overlapper.kernels.consensus.layer_paths import BAND, BAND_SHARE
from overlapper.kernels.consensus.layers import CIS, IDLE, UNLIKE, Rows, Settings, Windows
from overlapper.kernels.consensus.mem_anchors import DIAGONALS
from overlapper.kernels.consensus.next_draft import HOMOPOLYMER
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

GROWTH = 1.3
"""Columns of a draft for each base of its target, as memory is planned."""
PATH_BYTES, PAIR_BYTES = 4, 8
"""Device memory of a row of a path, and of the pairs to align for a row."""
LAYER_BYTES = 128 + 4 * DIAGONALS
"""Device memory of a layer besides its bases and paths."""


class Found(NamedTuple):
    """The consensus of windows, as `overlapper.kernels.consensus.consensus.correct_windows` returns it."""

    offsets: np.ndarray
    codes: np.ndarray
    quality: np.ndarray
    depth: np.ndarray
    origin: np.ndarray
    counts: np.ndarray
    marks: np.ndarray


def bytes_of_windows(windows: Windows, rows: Rows, drafts: int) -> np.ndarray:
    """Return the device memory that each window of a batch takes, about, with its rows.

    Parameters
    ----------
    windows : Windows
    rows : Rows
    drafts : int
        Votes, and drafts made otherwise.
    """
    lengths = windows.end - windows.start
    before = np.concatenate([[0], np.cumsum(rows.r_end - rows.r_start, dtype=np.int64)])
    bases = before[windows.first[1:]] - before[windows.first[:-1]] + lengths
    of_bases = 2 + GROWTH * (PATH_BYTES * (drafts + 1) + PAIR_BYTES)
    of_votes = GROWTH * drafts * bytes_of_votes(1) * lengths
    of_layers = LAYER_BYTES * (np.diff(windows.first) + 1)
    return (of_bases * bases + bytes_of_index(lengths) + of_votes + of_layers).astype(np.int64)


def correct_windows(
    targets: DeviceSequences,
    reads: DeviceSequences,
    windows: Windows,
    rows: Rows,
    settings: Settings,
    *,
    arena: Arena,
) -> Found:
    """Find the consensus of windows.

    Parameters
    ----------
    targets, reads : DeviceSequences
    windows : Windows
    rows : Rows
    settings : Settings
        These three as for `overlapper.kernels.consensus.consensus.correct_windows`.
    arena : Arena
        Memory for all of the batch.

    Raises
    ------
    DeviceError
        When the arena is too small.
    """
    n = len(windows.target)
    lengths = windows.end - windows.start
    if not lengths.any():
        none, counts = np.zeros(0, np.uint8), np.zeros((n, COUNTS), np.int64)
        no_row = np.full(len(rows.read), IDLE, np.uint8)
        return Found(np.zeros(n + 1, np.int64), none, none, none, none.astype(np.int32), counts, no_row)
    draft, layers = gather_layers(targets, reads, windows, rows, settings, arena)
    counts = arena.zeros(n * COUNTS, np.int64).reshape(n, COUNTS)
    starts = arena.array(_rows_of_paths(windows, rows), np.int32)
    index = index_windows(draft.codes, draft.first, lengths, settings.k, arena)
    limits = BAND, BAND_SHARE, settings.max_gap
    anchors, sizes = find_chains(draft.codes, draft.first, layers, index, limits, arena)
    first_paths(draft, layers, anchors, sizes, starts, settings.target_votes, arena)
    launch(
        count_aligned, len(layers.window), arena, layers.window, layers.t_start, layers.start, layers.end,
        layers.used, counts,
    )  # fmt: skip
    return _consensus(draft, layers, starts, settings, counts, arena)


def _rows_of_paths(windows: Windows, rows: Rows) -> int:
    """Return how many rows the first paths of all layers have."""
    layers = len(rows.read) + len(windows.target)
    return int((rows.t_end - rows.t_start).sum() + (windows.end - windows.start).sum() + layers)


@cuda.jit
def count_aligned(window, t_start, start, end, used, counts):
    """Count the layers of every window that are aligned, and their columns; a thread a layer."""
    m = cuda.grid(1)
    if m >= len(window) or t_start[m] < 0:
        return
    cuda.atomic.add(counts, (window[m], ALIGNED if used[m] else LOST), 1)
    cuda.atomic.add(counts, (window[m], COVERED), int64(end[m] - start[m]))


def _consensus(
    draft: Draft, layers: Layers, starts: Any, settings: Settings, counts: Any, arena: Arena
) -> Found:
    """Return the consensus of pileups."""
    n = len(draft.first) - 1
    moving = arena.zeros(n, np.uint8)
    filled, place = fill_unknown(draft, layers, starts, moving, arena)
    if arena.download(moving).any():
        starts = carry_over(layers, starts, draft, filled, place, moving, arena)
        draft = filled
    steps = len(settings.thresholds)
    marks = arena.zeros(len(layers.window), np.uint8)
    everywhere = arena.upload(np.ones(n, np.uint8))
    for step in range(steps):
        votes = count_votes(draft, layers, starts, arena)
        decided = arena.zeros(len(draft.codes), np.uint8)
        if step == 1 and settings.haplotype_filter:
            left_out, sides = arena.zeros(n, np.int64), arena.zeros(len(layers.window), np.uint8)
            leave_out(draft, layers, starts, votes, settings.alike, left_out, marks, sides, arena)
            launch(set_column, n, arena, left_out, LEFT_OUT, counts)
            votes = count_votes(draft, layers, starts, arena)
            let_known_decide(draft, layers, starts, votes, left_out, sides, decided, arena)
        if step == 0 and settings.haplotype_filter and settings.target_votes:
            keep_stretches(draft, layers, starts, votes, settings.alike, arena)
        if step > 0 and settings.haplotype_filter and settings.target_votes:
            keep_own(draft, layers, starts, votes, settings.alike, marks, decided, arena)
        if step > 0 and step == steps - 1 and not settings.target_votes:
            changed = arena.zeros(n, np.uint8)
            after, place = reconsider(draft, layers, starts, votes, changed, arena)
            starts = carry_over(layers, starts, draft, after, place, changed, arena)
            draft = after
            votes = count_votes(draft, layers, starts, arena)
        voted = next_draft(draft, votes, settings.thresholds[step], settings.worth, settings.doubt, arena)
        if step == steps - 1:
            launch(mark_rows, len(marks), arena, layers.used, layers.agreeing, layers.differing, marks)
            of_rows = arena.download(marks)[arena.download(layers.t_start) >= 0]
            layers = layers._replace(used=arena.zeros(len(layers.window), np.uint8))
        starts = carry_over(layers, starts, draft, voted.draft, voted.place, everywhere, arena)
        draft = voted.draft
    size = len(draft.codes)
    origin = arena.array(size, np.int32)
    launch(
        compare, size, arena, *draft, layers.layer_first, layers.first, layers.bases, layers.at, starts,
        origin, counts,
    )  # fmt: skip
    quality = arena.array(size, np.uint8)
    limits = arena.upload(LIMITS[0 if settings.worth else 1])
    launch(qualities, size, arena, *draft, voted.probabilities, limits, quality)
    offsets = arena.download(draft.first)
    end = int(offsets[-1])
    codes, quality, depth, origin = (
        arena.download(values)[:end] for values in (draft.codes, quality, voted.depth, origin)
    )
    return Found(offsets, codes, quality, depth, origin, arena.download(counts), of_rows)


@cuda.jit
def mark_rows(used, agreeing, differing, marks):
    """Mark what does not vote as unlike its target, and what is of its copy by sites; a thread a layer."""
    m = cuda.grid(1)
    if m >= len(marks):
        return
    if used[m] == 0:
        marks[m] = max(marks[m], UNLIKE)
    elif is_cis(agreeing[m], differing[m]):
        marks[m] = CIS


@cuda.jit
def set_column(values, column, counts):
    """Write a value of every window to a column of the counts."""
    p = cuda.grid(1)
    if p < len(values):
        counts[p, column] = values[p]


@cuda.jit
def compare(draft_first, codes, layer_first, first, bases, at, starts, origin, counts):
    """Count how every target differs from its consensus, and write origins; a thread a column.

    What is counted is told at `overlapper.kernels.consensus.consensus.COUNTS`. The first column of a
    homopolymer run counts the run.
    """
    x = cuda.grid(1)
    if x >= draft_first[len(draft_first) - 1]:
        return
    p = owner(draft_first, x)
    own, c = layer_first[p + 1] - 1, x - draft_first[p]
    row, layer = at[own] + c, first[own]
    here, behind = starts[row], starts[row + 1]
    origin[x] = here
    inserted, deleted = max(int32(0), int32(behind - here - 1)), behind == here
    differs = deleted or bases[layer + here] != codes[x]
    cuda.atomic.add(counts, (p, COLUMNS), int64(1 + inserted))
    if inserted or differs:
        cuda.atomic.add(counts, (p, EDITS), int64(inserted) + int64(differs))
        cuda.atomic.add(counts, (p, INSERTED), int64(inserted))
        cuda.atomic.add(counts, (p, DELETED), int64(deleted))
    if c > 0 and codes[x - 1] == codes[x]:
        return
    end = int64(x)
    while end < draft_first[p + 1] and codes[end] == codes[x]:
        end += 1
    length, held = end - x, int64(0)
    if length >= HOMOPOLYMER:
        for y in range(here, starts[row + length]):
            held += bases[layer + y] == codes[x]
        cuda.atomic.add(counts, (p, RUNS), int64(1))
        cuda.atomic.add(counts, (p, SHORTER), int64(held < length))
        cuda.atomic.add(counts, (p, LONGER), int64(held > length))
