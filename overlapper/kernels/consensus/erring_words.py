"""Words in whose middle the reads of a strand err alike (``docs/algorithms/correction.md``, section 2)."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.edit_paths import READ_UNKNOWN, TARGET_UNKNOWN
from overlapper.kernels.consensus.equal_runs import EqualRuns, add_equal_run
from overlapper.kernels.consensus.layer_paths import ANY_SURPLUS, first_paths, new_memory
from overlapper.kernels.consensus.layers import gather_layers, new_room, unpack_window
from overlapper.runtime.compile.cache import njit

WORD = 7
"""Bases of a word: about as many as a pore has in it at a time."""
_MIDDLE = WORD // 2
_FEWEST, _LEAST_SHARE, _MOST_SHARE = 3, 3, 10
"""A strand has a base if so many of its layers have it, and one in three; the other strand lacks it if at
most one in ten has it, and fewer than have on this strand what most of the other one have: the right base."""


@njit(nogil=True, cache=True)
def forget_erring(layers, runs, erring):
    """Make the bases that layers have in the middle of erring words unknown; return the runs without them.

    Parameters
    ----------
    layers : Layers
        With their paths; the target's bases stay.
    runs : EqualRuns
    erring : ndarray of bool
        As in `kernels.consensus.layers.Settings`.
    """
    split = EqualRuns(
        np.zeros_like(runs.first), np.empty_like(runs.column), np.empty_like(runs.base),
        np.empty_like(runs.length),
    )  # fmt: skip
    n = np.int64(0)
    for m in range(len(layers.start)):
        bases = layers.bases[layers.first[m] : layers.last[m]]
        if m < len(layers.start) - 1:
            _forget(bases, erring[np.int64(layers.reverse[m])])
        for r in range(runs.first[m], runs.first[m + 1]):
            start, end = np.int64(runs.base[r]), np.int64(runs.base[r]) + runs.length[r]
            for x in range(start, end + 1):
                if x == end or bases[x] >= TARGET_UNKNOWN:
                    n = add_equal_run(split, n, runs.column[r] + start - runs.base[r], start, x - start)
                    start = np.int64(x) + 1
        split.first[m + 1] = n
    return split


@njit(nogil=True, cache=True)
def _forget(bases, erring):
    """Make the bases in the middle of erring words unknown."""
    word, known = np.int64(0), 0
    for x in range(len(bases)):
        known = known + 1 if bases[x] < TARGET_UNKNOWN else 0
        word = (4 * word + (bases[x] & 3)) & (len(erring) - 1)
        if known >= WORD and erring[word]:
            bases[x - _MIDDLE] = READ_UNKNOWN


@njit(nogil=True, cache=True)
def contradicted_words(targets, reads, windows, rows, settings):
    """Count the columns of windows at which a strand has the middle of a word, and the other strand lacks it.

    Parameters are those of `kernels.consensus.consensus.correct_windows`.

    Returns
    -------
    seen, contradicted : ndarray of int64, shape (4**WORD,)
        By the word on the strand of the reads that have it.
    """
    seen, contradicted = np.zeros(4**WORD, np.int64), np.zeros(4**WORD, np.int64)
    longest = np.int64(0)
    for p in range(len(windows.target)):
        longest = max(longest, windows.end[p] - windows.start[p])
    memory, room, most = new_memory(longest), new_room(windows, rows), np.int64(ANY_SURPLUS)
    for p in range(len(windows.target)):
        target = unpack_window(targets, windows, p)
        layers = gather_layers(targets, reads, windows, p, rows, settings, room)
        starts, _ = first_paths(target, layers, rows, windows.first[p], settings, most, memory, room.starts)
        counts, word = np.zeros((len(target), 2, 5), np.int64), np.full((len(target), 2, 4), -1)
        for m in range(len(layers.start) - 1):
            if layers.used[m]:
                _count_layer(layers, starts, m, counts, word)
        for c in range(len(target)):
            for strand in range(2):
                _judge(counts[c, strand], counts[c, 1 - strand], word[c, strand], seen, contradicted)
    return seen, contradicted


@njit(nogil=True, cache=True)
def _count_layer(layers, starts, m, counts, word):
    """Count what a layer has at columns, and keep the words of the first one of each strand for each base."""
    bases, strand = layers.bases[layers.first[m] : layers.last[m]], np.int64(layers.reverse[m])
    for c in range(layers.start[m], layers.end[m]):
        x = np.int64(starts[layers.at[m] + c])
        if starts[layers.at[m] + c + 1] == x:
            counts[c, strand, 4] += 1
        elif bases[x] < TARGET_UNKNOWN:
            counts[c, strand, bases[x]] += 1
            if word[c, strand, bases[x]] < 0 and _MIDDLE <= x < len(bases) - _MIDDLE:
                word[c, strand, bases[x]] = _word_around(bases, x, strand)


@njit(nogil=True, cache=True)
def _word_around(bases, x, reverse):
    """Return the word around a base, on the other strand if so asked; -1 if some of it is unknown."""
    word = np.int64(0)
    for y in range(-_MIDDLE, _MIDDLE + 1):
        base = np.int64(bases[x - y if reverse else x + y])
        if base >= TARGET_UNKNOWN:
            return -1
        word = 4 * word + (3 - base if reverse else base)
    return word


@njit(nogil=True, cache=True)
def _judge(here, there, word, seen, contradicted):
    """Count the words of a strand at a column, by what it has and what the other strand has."""
    n, others, most = here.sum(), there.sum(), there.argmax()
    if others < _FEWEST or most == 4 or 2 * there[most] <= others:
        return
    for base in range(4):
        if here[base] >= _FEWEST and _LEAST_SHARE * here[base] >= n and word[base] >= 0:
            seen[word[base]] += 1
            rare = _MOST_SHARE * there[base] <= others and there[base] * n < here[most] * others
            contradicted[word[base]] += base != most and rare
