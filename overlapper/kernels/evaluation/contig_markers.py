"""Where contigs have the k-mers of a reference; ``docs/algorithms/evaluation.md`` has the definitions.

`find_markers` looks the k-mers of contigs up in the table of a slice of hashes. `score_markers` goes along
the contigs once all slices are done: of each k-mer it asks the slice that its hash belongs to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.growth import grow_rows
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.seeds.counting import ALL, NONE
from overlapper.kernels.seeds.kmer_table import (
    CHUNK,
    PLACE_BIT,
    REPEATED,
    REVERSE_BIT,
    SEEN,
    choose,
    hash_chunk,
    new_chunk,
    row_of,
)
from overlapper.runtime.compile.cache import njit

CONTIG, STRETCHES, SWITCHES, MARKERS, CLOSED, HAPLOTYPE = range(6)
"""Integers of a contig: its number, stretches, switches and markers, whether its last marker and its first
are neighbours through its end; markers of the first haplotype, and then of the others."""
STRETCH = 5

_ONE, _NOTHING = np.uint64(1), np.uint64(0)
_FIRST_ROOM = 64
_SHARE = 50
"""Distances may differ by `slack` and one base in this many."""
_OPENING, _RUN_FIRST, _STRETCH_FIRST, _STRETCH_LAST, _BEFORE, _NEW = range(6)
"""Markers that are kept: the first of the contig, of the run, of the stretch, the last of the stretch, the
one before, and the one that comes."""
_POSITION, _PLACE, _OPPOSITE, _SEQUENCE = range(4)
_RUN, _SAME, _SURE, _LAST_HAPLOTYPE = range(4)
"""State along a contig: markers of the run, those of one haplotype in a row; the haplotype of the last sure
run, and of the last marker."""


class Rules(NamedTuple):
    """Parameters of the scores."""

    k: int
    least_run: int
    sure_run: int
    """`least_run`, `sure_run`: fewest markers of a run that tells where a contig belongs, and of one that
    tells its haplotype."""
    slack: int
    """Distances of neighbours on contig and reference differ by so many bases, and 2 %, at most."""


class References(NamedTuple):
    """The sequences that markers lie on."""

    starts: np.ndarray
    """int64, shape (n + 1,); number of the first base of each sequence; bases of all sequences are numbered
    through."""
    circular: np.ndarray
    """bool, shape (n,)."""
    haplotype: np.ndarray
    """int64, shape (n,)."""


class Slices(NamedTuple):
    """The results of slices for a block of contigs."""

    of_bin: np.ndarray
    """int64, shape (bins,); the slice that hashes with these highest bits belong to."""
    bits: np.ndarray
    """uint64; a bit a k-mer of the contigs, by slice, then in the order of the contigs: whether it is a
    marker."""
    first_word: np.ndarray
    """int64, shape (slices,); where the bits of each slice start."""
    changes: np.ndarray
    """int64, shape (n, 2); by slice: from which of its markers on, what code the markers have
    (`find_markers`)."""
    first_change: np.ndarray
    """int64, shape (slices + 1,)."""


class _Places(NamedTuple):
    """How far each slice is read."""

    bit: np.ndarray
    marker: np.ndarray
    change: np.ndarray
    """`bit`, `marker`, `change`: int64, shape (slices,); numbers of the next k-mer, the next marker and the
    next change."""
    code: np.ndarray
    """int64, shape (slices,); of the last marker."""


@njit(nogil=True, cache=True)
def find_markers(table, spans, first, last, k, low, high, counts):
    """Look up the k-mers of spans ``[first, last)`` of contigs that lie in a slice ``[low, high)``.

    The code of a marker is ``difference << 1 | opposite``. `opposite` is 1 if contig and reference have the
    k-mer on opposite strands; `difference` is its reference place minus its contig position, or, if opposite,
    plus it.

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
        k-mers that are found become `kmer_table.SEEN`.
    spans : Spans
    first, last, k : int
    low, high : uint64
    counts : ndarray of int64, shape (contigs, 2)
        Is increased: k-mers of each contig, and those of them that the reference has not.

    Returns
    -------
    bits : ndarray of uint64
        A bit a k-mer of the slice, in order: whether it is a marker.
    changes : ndarray of int64, shape (n, 2)
        For each marker whose code differs from that of the one before: its number and its code.
    """
    hashes, reverse, chosen = new_chunk()
    size = high - low
    most = 0
    for span in range(first, last):
        most += max(0, spans.stop[span] - spans.start[span] - k + 1)
    bits = np.zeros((most + 63) >> 6, np.uint64)
    changes = np.empty((_FIRST_ROOM, 2), np.int64)
    n, markers, n_changes, code_before = 0, 0, 0, np.int64(0)
    for span in range(first, last):
        offset, contig = spans.place[span] - spans.start[span], spans.sequence[span]
        for at in range(spans.start[span], spans.stop[span] - k + 1, CHUNK):
            hashed = hash_chunk(spans, span, at, k, ALL, hashes, reverse)
            for i in chosen[: choose(table, hashes, hashed, low, size, chosen)]:
                counts[contig, 0] += 1
                row = row_of(table, hashes[i])
                if table[row, 0] == NONE:
                    counts[contig, 1] += 1
                else:
                    known = table[row, 1]
                    if known & SEEN == _NOTHING:
                        table[row, 1] = known | SEEN
                    if known & REPEATED == _NOTHING:
                        bits[n >> 6] |= _ONE << np.uint64(n & 63)
                        opposite = reverse[i] != ((known >> REVERSE_BIT) & _ONE != _NOTHING)
                        position, place = offset + at + i, np.int64(known >> PLACE_BIT)
                        code = (place + position if opposite else place - position) << 1 | np.int64(opposite)
                        if markers == 0 or code != code_before:
                            if n_changes == len(changes):
                                changes = grow_rows(changes, 2 * n_changes)
                            changes[n_changes, 0], changes[n_changes, 1] = markers, code
                            n_changes += 1
                            code_before = code
                        markers += 1
                n += 1
    return bits[: (n + 63) >> 6].copy(), changes[:n_changes].copy()


@inner
def _neighbours(references, slack, marks, before, after):
    """Return whether two markers are as far apart on the contig as on the reference, in the same order."""
    sequence, opposite = marks[before, _SEQUENCE], marks[before, _OPPOSITE]
    if marks[after, _SEQUENCE] != sequence or marks[after, _OPPOSITE] != opposite:
        return False
    along = marks[after, _POSITION] - marks[before, _POSITION]
    distance = marks[after, _PLACE] - marks[before, _PLACE]
    if opposite:
        distance = -distance
    if references.circular[sequence]:
        length = references.starts[sequence + 1] - references.starts[sequence]
        distance = (distance + length // 2) % length - length // 2
    return _SHARE * abs(distance - along) <= _SHARE * slack + along


@inner
def _copy(marks, of, to):
    for part in range(4):
        marks[to, part] = marks[of, part]


@inner
def _sequence_of(starts, place, last):
    """Return the sequence that a place is on, ``last`` if that is it."""
    if starts[last] <= place < starts[last + 1]:
        return last
    low, high = 0, len(starts) - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if starts[middle] <= place:
            low = middle
        else:
            high = middle
    return low


@inner
def _count_switch(state, counted, row, haplotype, sure_run):
    """Count the markers of one haplotype in a row; once there are enough, compare it with the last such."""
    state[_SAME] = state[_SAME] + 1 if haplotype == state[_LAST_HAPLOTYPE] else 1
    state[_LAST_HAPLOTYPE] = haplotype
    if state[_SAME] == sure_run:
        counted[row, SWITCHES] += state[_SURE] >= 0 and state[_SURE] != haplotype
        state[_SURE] = haplotype


@inner
def _put_stretch(stretches, n, counted, row, marks, end):
    """Write the stretch that is open."""
    stretches[n, 0], stretches[n, 2] = counted[row, CONTIG], end
    stretches[n, 1] = 0 if counted[row, STRETCHES] == 1 else marks[_STRETCH_FIRST, _POSITION]
    for i in range(2):
        marker = _STRETCH_LAST if i else _STRETCH_FIRST
        stretches[n, 3 + i] = marks[marker, _PLACE] << 1 | marks[marker, _OPPOSITE]


@inner
def _follow(references, rules, marks, state, counted, row, stretches, n):
    """Add the marker `_NEW` to the run before it, or begin one; a run that is long enough begins a stretch.

    Returns
    -------
    int
        How many stretches are closed, ``n`` or one more.
    """
    if state[_RUN] == 0 or not _neighbours(references, rules.slack, marks, _BEFORE, _NEW):
        state[_RUN] = 0
        _copy(marks, _NEW, _RUN_FIRST)
    state[_RUN] += 1
    _copy(marks, _NEW, _BEFORE)
    if state[_RUN] == rules.least_run:
        apart = counted[row, STRETCHES] > 0 and not _neighbours(
            references, rules.slack, marks, _STRETCH_LAST, _RUN_FIRST
        )
        if apart:
            _put_stretch(stretches, n, counted, row, marks, marks[_STRETCH_LAST, _POSITION] + rules.k)
            n += 1
        if apart or counted[row, STRETCHES] == 0:
            _copy(marks, _RUN_FIRST, _STRETCH_FIRST)
            counted[row, STRETCHES] += 1
    if state[_RUN] >= rules.least_run:
        _copy(marks, _NEW, _STRETCH_LAST)
    return n


@inner
def _close_contig(references, rules, marks, counted, row, stretches, n, length):
    """Close the last stretch of a contig; return how many are closed."""
    if counted[row, STRETCHES]:
        _put_stretch(stretches, n, counted, row, marks, length)
        n += 1
    if counted[row, MARKERS]:
        marks[_OPENING, _POSITION] += length
        counted[row, CLOSED] = _neighbours(references, rules.slack, marks, _BEFORE, _OPENING)
    return n


@inner
def _next_marker(slices, s, at):
    """Go on to the next k-mer of slice ``s``; return whether it is a marker, whose code is ``at.code[s]``."""
    bit = at.bit[s]
    at.bit[s] = bit + 1
    if (slices.bits[slices.first_word[s] + (bit >> 6)] >> np.uint64(bit & 63)) & _ONE == _NOTHING:
        return False
    change = at.change[s]
    if change < slices.first_change[s + 1] and slices.changes[change, 0] == at.marker[s]:
        at.code[s] = slices.changes[change, 1]
        at.change[s] = change + 1
    at.marker[s] += 1
    return True


@njit(nogil=True, cache=True)
def score_markers(spans, first, last, lengths, shift, rules, slices, references, haplotypes):
    """Go along the markers of a block of contigs.

    Parameters
    ----------
    spans : Spans
    first, last : int
        Spans of the block, half open, whole contigs.
    lengths : ndarray of int64, shape (contigs,)
        Of all contigs.
    shift : uint64
        The bin of a hash is ``hash >> shift``.
    rules : Rules
    slices : Slices
        Of the block.
    references : References
    haplotypes : int
        How many there are.

    Returns
    -------
    counted : ndarray of int64, shape (contigs of the block, HAPLOTYPE + haplotypes)
        Only contigs with known bases are there.
    stretches : ndarray of int64, shape (n, STRETCH)
        Contig, start and end of each stretch; place of its first and of its last marker, ``place << 1 |
        opposite``.
    """
    hashes, reverse, _ = new_chunk()
    contigs = 0
    for span in range(first, last):
        contigs += span == first or spans.sequence[span] != spans.sequence[span - 1]
    counted = np.zeros((contigs, HAPLOTYPE + haplotypes), np.int64)
    stretches = np.empty((_FIRST_ROOM, STRETCH), np.int64)
    n, row = 0, -1
    marks, state = np.zeros((6, 4), np.int64), np.zeros(4, np.int64)
    n_slices = len(slices.first_word)
    in_slices = _Places(
        np.zeros(n_slices, np.int64),
        np.zeros(n_slices, np.int64),
        slices.first_change[:-1].copy(),
        np.zeros(n_slices, np.int64),
    )
    for span in range(first, last):
        contig = spans.sequence[span]
        if span == first or contig != spans.sequence[span - 1]:
            row += 1
            counted[row, CONTIG] = contig
            state[_RUN], state[_SAME], state[_SURE], state[_LAST_HAPLOTYPE] = 0, 0, -1, -1
        offset = spans.place[span] - spans.start[span]
        for at in range(spans.start[span], spans.stop[span] - rules.k + 1, CHUNK):
            for i in range(hash_chunk(spans, span, at, rules.k, ALL, hashes, reverse)):
                if hashes[i] == NONE:
                    continue
                s = slices.of_bin[hashes[i] >> shift]
                if not _next_marker(slices, s, in_slices):
                    continue
                code = in_slices.code[s]
                position, opposite = offset + at + i, code & 1
                place = (code >> 1) - position if opposite else (code >> 1) + position
                sequence = _sequence_of(references.starts, place, marks[_NEW, _SEQUENCE])
                marks[_NEW, _POSITION], marks[_NEW, _PLACE] = position, place
                marks[_NEW, _OPPOSITE], marks[_NEW, _SEQUENCE] = opposite, sequence
                if counted[row, MARKERS] == 0:
                    _copy(marks, _NEW, _OPENING)
                counted[row, MARKERS] += 1
                haplotype = references.haplotype[sequence]
                counted[row, HAPLOTYPE + haplotype] += 1
                _count_switch(state, counted, row, haplotype, rules.sure_run)
                if n + 1 >= len(stretches):
                    stretches = grow_rows(stretches, 2 * len(stretches))
                n = _follow(references, rules, marks, state, counted, row, stretches, n)
        if span + 1 == last or spans.sequence[span + 1] != contig:
            if n + 1 >= len(stretches):
                stretches = grow_rows(stretches, 2 * len(stretches))
            n = _close_contig(references, rules, marks, counted, row, stretches, n, lengths[contig])
    return counted, stretches[:n].copy()
