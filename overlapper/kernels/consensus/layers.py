"""The input of consensus kernels (reads, windows, rows, settings), and layers: rows of a window, unpacked."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from overlapper.kernels.common.edit_paths import READ_UNKNOWN, TARGET_UNKNOWN
from overlapper.kernels.common.oriented import unpack_bases
from overlapper.kernels.consensus.equal_runs import WIDTH, EqualRuns
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
ALIKE, UNLIKE, ELSEWHERE, CIS, IDLE = range(5)
"""Marks of rows: one that votes and has what its target has wherever layers are divided; any other one that
may vote; one that a filter left out, as of another haplotype or copy; one that votes and is of the target's,
as sites tell (`kernels.consensus.haplotype_filter.is_cis`); one that is not needed for the vote."""


class Sequences(NamedTuple):
    """The columns of `Reads` that kernels use; ``quality_offsets`` is empty without qualities."""

    words: np.ndarray
    word_offsets: np.ndarray
    unknown_start: np.ndarray
    unknown_end: np.ndarray
    unknown_offsets: np.ndarray
    qualities: np.ndarray
    quality_offsets: np.ndarray

    @classmethod
    def of(cls, reads: Any) -> Self:
        """Take the columns from a `Reads` table."""
        return cls(
            reads.words, reads.word_offsets, reads.unknown_start, reads.unknown_end, reads.unknown_offsets,
            np.zeros(0, np.uint8) if reads.qualities is None else reads.qualities,
            np.zeros(0, np.int64) if reads.quality_offsets is None else reads.quality_offsets,
        )  # fmt: skip


class Windows(NamedTuple):
    """Intervals ``[start, end)`` of targets; window ``i`` has rows ``[first[i], first[i + 1])``."""

    target: np.ndarray
    start: np.ndarray
    end: np.ndarray
    first: np.ndarray


class Rows(NamedTuple):
    """Reads on windows: half-open intervals of the window, and of the forward strand of the read.

    At how many sites of the copy filter a row has what the target has, and at how many it differs, is
    written by that filter; both are 0 before, and in windows that are not crowded.
    """

    read: np.ndarray
    reverse: np.ndarray
    t_start: np.ndarray
    t_end: np.ndarray
    r_start: np.ndarray
    r_end: np.ndarray
    agreeing: np.ndarray
    differing: np.ndarray


class Settings(NamedTuple):
    """Settings of a consensus: `overlapper.params.correction.CorrectParams`, and values derived from it."""

    k: int
    max_gap: int
    max_depth: int
    """Most rows that vote on a stretch."""
    thresholds: np.ndarray
    """int64, shape (drafts, 2); percentage of the weight that a base needs in each draft, and that a base of
    a homopolymer run needs."""
    weight: int
    """Weight of a base without a quality."""
    most_weight: int
    target_votes: bool
    target_leads: bool
    """Whether all rows that are looked at vote on a window where the copy filter leaves none out."""
    haplotype_filter: bool
    worth: int
    """Evidence of the vote of a raw read, in 64ths (`overlapper.correction.vote_settings.WORTHS`); 0 for
    corrected reads, which do not err independently of each other."""
    doubt: int
    """Factor of doubts, in 16ths; 16 for raw reads, for corrected ones by how much they err alike."""
    alike: np.ndarray
    """int64, shape (LONGEST_TABLED_RUN + 1, MOST_MISSING + 1); share of layers, in millionths, that may have
    the same error, by the bases of a homopolymer run and the bases that they lack there or have inserted
    (`kernels.consensus.own_bases`)."""
    errors: int
    """Share of the bases of a layer that are wrong, in millionths."""
    strands: int
    """Least chi square by which the strands of layers that have the same differ from those of the others if
    they have it by error, in 64ths (`kernels.consensus.shares`)."""

    erring: np.ndarray
    """bool, shape (2, 4**WORD), or (2, 0) for none; words on the strand of the target in whose middle reads
    of either strand err (`kernels.consensus.erring_words`)."""


class Room(NamedTuple):
    """Memory that the layers of one window after the other reuse (`new_room`).

    New memory for each window would be new pages, which take the system longer to map than the kernel to
    fill.
    """

    bases: np.ndarray
    weights: np.ndarray
    """`bases`, `weights`: uint8; as in `Layers`."""
    starts: np.ndarray
    next_starts: np.ndarray
    """`starts`, `next_starts`: int32; for the paths over a draft, and over the next one."""


class Layers(NamedTuple):
    """Layers of a pileup, ``m`` of them; the last one is the target itself."""

    bases: np.ndarray
    weights: np.ndarray
    """`bases`, `weights`: uint8; codes and weights of all layers, each on the strand of the target."""
    first: np.ndarray
    last: np.ndarray
    """`first`, `last`: int64, shape (m,); bases of a layer are at ``first`` to ``last``."""
    reverse: np.ndarray
    """bool, shape (m,)."""
    start: np.ndarray
    end: np.ndarray
    """`start`, `end`: int64, shape (m,); columns that the path of each layer covers."""
    at: np.ndarray
    """int64, shape (m,); row ``c`` of a path is ``starts[at + c]``, up to row ``end``."""
    used: np.ndarray
    """bool, shape (m,); whether each layer votes."""


@njit(nogil=True, cache=True)
def new_room(windows, rows):
    """Return memory for the layers of any of the windows."""
    most_bases = most_rows = np.int64(0)
    for p in range(len(windows.target)):
        length = np.int64(windows.end[p] - windows.start[p])
        bases, path_rows = length, length + 1
        for row in range(windows.first[p], windows.first[p + 1]):
            bases += rows.r_end[row] - rows.r_start[row]
            path_rows += rows.t_end[row] - rows.t_start[row] + 1
        most_bases, most_rows = max(most_bases, bases), max(most_rows, path_rows)
    # Vectors read and write beyond the last values.
    most_bases, most_rows = most_bases + 2 * WIDTH, most_rows + WIDTH
    return Room(
        np.empty(most_bases, np.uint8), np.empty(most_bases, np.uint8), np.empty(most_rows, np.int32),
        np.empty(most_rows, np.int32),
    )  # fmt: skip


@njit(nogil=True, cache=True)
def unpack_window(targets, windows, p):
    """Return the bases of a window."""
    target, start, end = windows.target[p], windows.start[p], windows.end[p]
    codes = np.empty(end - start, np.uint8)
    unpack_bases(targets, target, start, end, False, TARGET_UNKNOWN, codes)
    return codes


@njit(nogil=True, cache=True)
def gather_layers(targets, reads, windows, p, rows, settings, room):
    """Unpack all layers of a window into a `Room`; none has a path yet."""
    low, high = windows.first[p], windows.first[p + 1]
    n = high - low + 1
    own = n - 1
    first, last = np.empty(n, np.int64), np.empty(n, np.int64)
    reverse = np.zeros(n, np.bool_)
    size = np.int64(0)
    for m in range(n):
        first[m] = size
        size += windows.end[p] - windows.start[p] if m == own else rows.r_end[low + m] - rows.r_start[low + m]
        last[m] = size
    bases, weights = room.bases[:size], room.weights[:size]
    for m in range(n):
        row, sequences = low + m, targets
        number, start, end = np.int64(windows.target[p]), np.int64(windows.start[p]), np.int64(windows.end[p])
        if m < own:
            sequences, reverse[m] = reads, rows.reverse[row]
            number, start, end = (
                np.int64(rows.read[row]),
                np.int64(rows.r_start[row]),
                np.int64(rows.r_end[row]),
            )
        unpack_bases(sequences, number, start, end, reverse[m], READ_UNKNOWN, bases[first[m] : last[m]])
        _weigh(sequences, number, start, reverse[m], settings, weights[first[m] : last[m]])
    zeros = np.zeros(n, np.int64)
    return Layers(
        bases, weights, first, last, reverse, zeros, zeros.copy(), zeros.copy(), np.zeros(n, np.bool_)
    )


@njit(nogil=True, cache=True)
def some_layers(layers, runs, chosen):
    """Return chosen layers (ascending) and the target, with their runs of equal pairs, moved in place."""
    which = np.full(len(chosen) + 1, len(layers.start) - 1)
    for place in range(len(chosen)):
        which[place] = chosen[place]
    first, n_runs = np.zeros(len(which) + 1, np.int64), np.int64(0)
    for place in range(len(which)):
        for r in range(runs.first[which[place]], runs.first[which[place] + 1]):
            runs.column[n_runs], runs.base[n_runs] = runs.column[r], runs.base[r]
            runs.length[n_runs] = runs.length[r]
            n_runs += 1
        first[place + 1] = n_runs
    some = Layers(
        layers.bases, layers.weights, layers.first[which], layers.last[which], layers.reverse[which],
        layers.start[which], layers.end[which], layers.at[which], layers.used[which],
    )  # fmt: skip
    return some, EqualRuns(first, runs.column, runs.base, runs.length)


@njit(nogil=True, cache=True)
def _weigh(sequences, number, first, reverse, settings, weights):
    """Write the weights of the bases of a sequence from ``first`` on, on either strand."""
    weights[:] = settings.weight
    if len(sequences.quality_offsets):
        begin, end = sequences.quality_offsets[number], sequences.quality_offsets[number + 1]
        if end > begin:
            least, most = np.uint8(1), np.uint8(settings.most_weight)
            qualities = sequences.qualities[begin + first : begin + first + len(weights)]
            for x in range(len(weights)):
                y = len(weights) - 1 - x if reverse else x
                weights[U64(x)] = min(max(qualities[U64(y)], least), most)
