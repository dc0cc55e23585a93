"""FM-index of a DNA text and its reverse complement (Ferragina & Manzini 2000; FMD-index: Li 2012).

GPU twin: cuda/fm_index.py.

::

    forward strand            reverse strand
    ACGT...  $ GGT...  $      ...ACC $ ...ACGT $          one $ after every segment
    |<------ H ------->|<------- H -------->|  = N symbols

    row    suffix     precedes it (BWT)          64 rows make a bin of 32 bytes, one aligned gather:
    0      $...       T                          word 0   A rows before the bin | C rows << 32
    1      $...       C                          word 1   G rows before the bin | T rows << 32
    2      AC..       $                          word 2   low bit of the 64 symbols
    ...                                          word 3   high bit of the 64 symbols

    bins   [settings] [superblock 0] [bin] [bin] ... [superblock 1] [bin] ...

A segment is a longest run of ACGT within a sequence of the text, so that no match can cross the border of a
sequence or hold an unknown base. ``$`` is smaller than every base. A row whose suffix starts a segment, and
so is preceded by ``$``, is stored as an A and listed among the borders; bit 31 of word 0 tells that a bin has
such rows.

A bin counts from the start of its superblock on, so that 32 bits suffice. A superblock starts with four
words, one a base: the first row of the suffixes that start with the base, plus the rows before the superblock
that it precedes. The very first word is the binary logarithm of the bins a superblock.

The forward base at position ``p`` is complementary to the one at ``N - 2 - p``. Because the text is its own
reverse complement, the rows of ``P`` and of its reverse complement are equally many, and extending the one
backward extends the other forward: (first row of P, first row of its reverse complement, rows) is a
bi-interval.

The functions of this file are the steps of every search, on the CPU and, compiled once more, on GPUs. None
counts references to the arrays of an `FmIndex` (`overlapper.kernels.common.inlining`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import always_inline
from overlapper.kernels.common.packed import bases_at, popcount, reverse_bases, trailing_zeros, uncounted
from overlapper.runtime.compile.cache import njit

BIN_ROWS = 64
HAS_BORDERS = 1 << 31
_COUNT = np.uint64(HAS_BORDERS - 1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)
_HALF_WORD = np.uint64(32)


class FmIndex(NamedTuple):
    """The arrays of an index; m segments, N rows."""

    bins: np.ndarray
    """uint64, shape (bins, 4); BWT and counts."""
    borders: np.ndarray
    """int64, shape (2 m, 2); rows whose suffix starts a segment, ascending, and where that suffix starts."""
    samples: np.ndarray
    """uint32 or int64, shape (ceil(N / 2 ** sample_shift),); suffix array of every ``2 ** sample_shift``-th
    row."""
    table: np.ndarray
    """uint32 or int64, shape (4 ** kmer_length, 2); first row and end of the rows of every k-mer, by rank."""
    text: np.ndarray
    """uint64; the forward strand packed as in `overlapper.tables.Reads`, ``$`` as 0."""
    segments: np.ndarray
    """int64, shape (m + 1, 2); where segments start in the forward strand, and what turns a position there
    into one in the text; the last row is (H, 0)."""
    sample_shift: int
    kmer_length: int

    @property
    def rows(self) -> int:
        """N."""
        return 2 * int(self.segments[-1, 0])


@njit(nogil=True, cache=True)
def without_counts(fm):
    """Return an index whose arrays are `uncounted`, for functions that grow arrays."""
    return FmIndex(
        uncounted(fm.bins), uncounted(fm.borders), uncounted(fm.samples), uncounted(fm.table),
        uncounted(fm.text), uncounted(fm.segments), fm.sample_shift, fm.kmer_length,
    )  # fmt: skip


@always_inline
def first_at_least(pairs, value):
    """Return the first of ascending pairs whose first value is not below ``value``."""
    low, high = 0, len(pairs)
    while low < high:
        middle = (low + high) >> 1
        if pairs[middle, 0] < value:
            low = middle + 1
        else:
            high = middle
    return low


@always_inline
def _borders_in_bin(fm, row):
    """Return how many rows of the bin of ``row``, before ``row``, are preceded by ``$``."""
    return first_at_least(fm.borders, row) - first_at_least(fm.borders, row & ~63)


@always_inline
def _bin_and_superblock(bins, row):
    """Return where the bin of a row is, and where its superblock starts."""
    number, shift = row >> 6, np.int64(bins[0, 0])
    superblock = number >> shift
    return 2 + number + superblock, 1 + superblock + (superblock << shift)


@always_inline
def extended_row(fm, base, row):
    """Return the first row of the suffixes ``base + X`` over the rows of X from ``row`` on."""
    bins = fm.bins
    place, superblock = _bin_and_superblock(bins, row)
    counts = bins[place, base >> 1] >> np.uint64(32 * (base & 1))
    low = bins[place, 2] if base & 1 else ~bins[place, 2]
    high = bins[place, 3] if base & 2 else ~bins[place, 3]
    before = (_ONE << np.uint64(row & 63)) - _ONE
    result = np.int64(bins[superblock, base] + (counts & _COUNT)) + popcount(low & high & before)
    if base == 0 and counts & np.uint64(HAS_BORDERS):
        result -= _borders_in_bin(fm, row)
    return result


@always_inline
def _extended_rows(fm, row):
    """Return `extended_row` of all four bases."""
    bins = fm.bins
    place, superblock = _bin_and_superblock(bins, row)
    count_ac, count_gt = bins[place, 0], bins[place, 1]
    before = (_ONE << np.uint64(row & 63)) - _ONE
    low, high = bins[place, 2] & before, bins[place, 3] & before
    t = popcount(low & high)
    c = popcount(low) - t
    g = popcount(high) - t
    a = np.int64(row & 63) - c - g - t
    if count_ac & np.uint64(HAS_BORDERS):
        a -= _borders_in_bin(fm, row)
    return (
        np.int64(bins[superblock, 0] + (count_ac & _COUNT)) + a,
        np.int64(bins[superblock, 1] + (count_ac >> _HALF_WORD)) + c,
        np.int64(bins[superblock, 2] + (count_gt & _COUNT)) + g,
        np.int64(bins[superblock, 3] + (count_gt >> _HALF_WORD)) + t,
    )


@always_inline
def extend_backward(fm, base, row, mirror, size):
    """Extend the bi-interval of P to that of ``base + P``.

    Parameters
    ----------
    fm : FmIndex
    base : int
    row, mirror : int
        First row of P and of its reverse complement.
    size : int
        Rows of either.

    Returns
    -------
    row, mirror, size : int
        Size 0 where the text does not hold ``base + P``.
    """
    first_a, first_c, first_g, first_t = _extended_rows(fm, row)
    end_a, end_c, end_g, end_t = _extended_rows(fm, row + size)
    a, c, g, t = end_a - first_a, end_c - first_c, end_g - first_g, end_t - first_t
    mirror += size - a - c - g - t  # rows of the reverse complement that a $ follows come first
    if base == 3:
        return first_t, mirror, t
    if base == 2:
        return first_g, mirror + t, g
    if base == 1:
        return first_c, mirror + t + g, c
    return first_a, mirror + t + g + c, a


@always_inline
def extend_forward(fm, base, row, mirror, size):
    """Extend the bi-interval of P to that of ``P + base``; as `extend_backward`."""
    mirror, row, size = extend_backward(fm, 3 - base, mirror, row, size)
    return row, mirror, size


@always_inline
def kmer_bi_interval(fm, words, position):
    """Return the bi-interval of the k-mer at a position, k being that of the table."""
    forward = bases_at(words, position)
    shift = np.uint64(64 - 2 * fm.kmer_length)
    rank = np.int64(reverse_bases(forward) >> shift)
    mirror_rank = np.int64(~forward & (_ALL >> shift))
    row = np.int64(fm.table[rank, 0])
    return row, np.int64(fm.table[mirror_rank, 0]), np.int64(fm.table[rank, 1]) - row


@always_inline
def preceding_base(fm, row):
    """Return the base that precedes the suffix of a row, -1 for ``$``."""
    bins, borders = fm.bins, fm.borders
    place, _ = _bin_and_superblock(bins, row)
    bit = np.uint64(row & 63)
    base = np.int64(bins[place, 2] >> bit & _ONE | (bins[place, 3] >> bit & _ONE) << _ONE)
    if base == 0 and bins[place, 0] & np.uint64(HAS_BORDERS):
        border = first_at_least(borders, row)
        if border < len(borders) and borders[border, 0] == row:
            return -1
    return base


@always_inline
def locate(fm, row):
    """Return where the suffix of a row starts: its suffix array value."""
    steps = 0
    between_samples = (1 << fm.sample_shift) - 1
    while row & between_samples:
        base = preceding_base(fm, row)
        if base < 0:
            return fm.borders[first_at_least(fm.borders, row), 1] + steps
        row = extended_row(fm, base, row)
        steps += 1
    return np.int64(fm.samples[row >> fm.sample_shift]) + steps


@always_inline
def segment_of(segments, position):
    """Return the segment of a position of the forward strand; the ``$`` after a segment counts as its own."""
    return first_at_least(segments, position + 1) - 1


@always_inline
def text_position(fm, position, length):
    """Turn a match in the index into one in the text.

    Parameters
    ----------
    fm : FmIndex
    position : int
        Where the match starts in the forward or in the reverse strand.
    length : int

    Returns
    -------
    position : int
        First base of the match in the text.
    reverse : bool
        True where the match lies in the reverse strand.
    """
    segments = fm.segments
    half = segments[-1, 0]
    reverse = position >= half
    if reverse:
        position = 2 * half - 1 - position - length
    return position + segments[segment_of(segments, position), 1], reverse


@always_inline
def strand_bases(fm, position):
    """Return 32 bases from a position of either strand on."""
    text, half = fm.text, fm.segments[-1, 0]
    if position < half:
        return bases_at(text, position)
    position = 2 * half - 1 - position - 32
    if position >= 0:
        return ~reverse_bases(bases_at(text, position))
    return ~reverse_bases(text[0]) >> np.uint64(-2 * position)


@always_inline
def bases_to_segment_end(fm, position):
    """Return how many bases its segment holds from a position of either strand on."""
    segments = fm.segments
    half = segments[-1, 0]
    if position < half:
        return segments[segment_of(segments, position) + 1, 0] - 1 - position
    mirrored_end = 2 * half - 1 - position
    return mirrored_end - segments[segment_of(segments, mirrored_end), 0]


@always_inline
def common_length(fm, position, words, start, limit):
    """Return how many bases two sequences have in common.

    Parameters
    ----------
    fm : FmIndex
    position : int
        In either strand, at most at the end of a segment; compared up to that end.
    words : ndarray of uint64
    start : int
        In ``words``.
    limit : int
        Most bases to compare.
    """
    limit = min(limit, bases_to_segment_end(fm, position))
    common = 0
    while common < limit:
        difference = strand_bases(fm, position + common) ^ bases_at(words, start + common)
        if difference:
            return min(limit, common + (trailing_zeros(difference) >> 1))
        common += 32
    return limit
