"""k-mers of packed reads sampled by content, and counted for every k from 16 to 32 at once.

CPU only.

The same stretch of the genome is sampled, or not, in every read and on either strand: a 16-mer is an *anchor*
when a hash that both strands share lies below a threshold. A sample is the 32 bases that start with the
anchor, read on the strand where the anchor is the smaller number; an anchor that is its own reverse
complement has no such strand and gives none. A sample packs its first base into the highest bits, so that
sorted samples that share their first k bases lie together, for every k.

The hash, in 32-bit arithmetic, of a 16-mer as a number (first base in the lowest two bits) and its reverse
complement: ``x = one + other; x *= M1; x ^= x >> 15; x *= M2; x ^= x >> 15``.
"""

import numpy as np

from overlapper.kernels.common.growth import grow
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.packed import bases_at, reverse_bases, trailing_zeros
from overlapper.kernels.common.sorting import radix_sort_rows
from overlapper.kernels.common.vectors import Lanes, bits_of, load, splat
from overlapper.runtime.compile.cache import njit

ANCHOR = 16
SAMPLE = 32

_TWO = np.uint64(2)
_HALF = np.uint64(32)
_MIX_1, _MIX_2 = 0x2C1B3C6D, 0x297A2D39
_ANCHORS = Lanes(ANCHOR)
_SHIFTS = np.arange(0, 2 * ANCHOR, 2, dtype=np.uint32)
"""Bits before each anchor of a word, of two a base."""
_DRAW = np.uint64(0x9E3779B97F4A7C15)


@inner
def _sampled_anchors(window, threshold):
    """Return which of the 16 anchors that start in the first half of 32 bases are sampled, a bit for each.

    Both strands have the same hash.
    """
    complement = ~reverse_bases(window)
    shifts, one = load(_ANCHORS, _SHIFTS, 0), splat(_ANCHORS, _SHIFTS, 1)
    rest = splat(_ANCHORS, _SHIFTS, 31) - shifts
    low, high = splat(_ANCHORS, _SHIFTS, window), splat(_ANCHORS, _SHIFTS, window >> _HALF)
    # Two shifts where one would be by all 32 bits, which is undefined.
    forward = (low >> shifts) | (high << one << rest)
    low, high = splat(_ANCHORS, _SHIFTS, complement), splat(_ANCHORS, _SHIFTS, complement >> _HALF)
    reverse = (high << shifts) | (low >> one >> rest)
    mixed, fifteen = forward + reverse, splat(_ANCHORS, _SHIFTS, 15)
    mixed = mixed * splat(_ANCHORS, _SHIFTS, _MIX_1)
    mixed = mixed ^ (mixed >> fifteen)
    mixed = mixed * splat(_ANCHORS, _SHIFTS, _MIX_2)
    mixed = mixed ^ (mixed >> fifteen)
    # Lanes are compared with a sign.
    sign = splat(_ANCHORS, _SHIFTS, 1 << 31)
    return bits_of((splat(_ANCHORS, _SHIFTS, threshold) ^ sign) >= (mixed ^ sign))


@njit(nogil=True, cache=True)
def _sample_stretch(words, first_word, start, stop, threshold, samples, places, found):
    """Append the samples of the known bases ``[start, stop)`` of a read; return their new number."""
    for first in range(start - start % ANCHOR, stop - ANCHOR + 1, ANCHOR):
        word = first_word + first // SAMPLE
        window = words[word]
        if first % SAMPLE:
            window >>= _HALF
            if word + 1 < len(words):
                window |= words[word + 1] << _HALF
        sampled = np.uint64(_sampled_anchors(window, threshold))
        while sampled:
            i = trailing_zeros(sampled)
            sampled &= sampled - np.uint64(1)
            at = first + i
            if at < start or at + ANCHOR > stop:
                continue
            anchor = np.uint32(window >> np.uint64(2 * i))
            opposite = np.uint32(~reverse_bases(window) >> np.uint64(32 - 2 * i))
            if anchor < opposite and at + SAMPLE <= stop:
                samples[found] = reverse_bases(bases_at(words, SAMPLE * first_word + at))
                places[found] = first_word * SAMPLE + at
                found += 1
            elif opposite < anchor and at + ANCHOR - SAMPLE >= start:
                samples[found] = ~bases_at(words, SAMPLE * first_word + at + ANCHOR - SAMPLE)
                places[found] = ~(first_word * SAMPLE + at + ANCHOR - 1)
                found += 1
    return found


@njit(nogil=True, cache=True)
def sample(reads, first, last, threshold):
    """Sample the reads ``[first, last)``.

    Parameters
    ----------
    reads : PackedReads
    first, last : int
    threshold : uint32
        Anchors whose hash is at most this are taken.

    Returns
    -------
    samples : ndarray of uint64
    places : ndarray of int64
        Where each sample starts: the number of its first base if words held all their 32 bases; of a sample
        on the reverse strand, which goes down from there, the bitwise complement of it.
    """
    words, word_offsets, lengths, unknown_start, unknown_end, unknown_offsets = reads
    samples, places = np.empty(0, np.uint64), np.empty(0, np.int64)
    found = np.int64(0)  # a literal would have what it is handed to compiled for it, too
    for read in range(first, last):
        if found + lengths[read] > len(samples):
            samples = grow(samples, 2 * found + lengths[read])
            places = grow(places, 2 * found + lengths[read])
        first_word = word_offsets[read]
        start = np.int64(0)
        for run in range(unknown_offsets[read], unknown_offsets[read + 1]):
            stop = np.int64(unknown_start[run])
            found = _sample_stretch(words, first_word, start, stop, threshold, samples, places, found)
            start = np.int64(unknown_end[run])
        found = _sample_stretch(words, first_word, start, lengths[read], threshold, samples, places, found)
    return samples[:found].copy(), places[:found].copy()


@njit(nogil=True, cache=True)
def sort_samples(
    samples, places, word_offsets, lengths, least, most, sorted_samples, sorted_places, reads, rooms
):  # fmt: skip
    """Sort the samples from ``least`` to ``most``, stably, and look up their reads.

    Parameters
    ----------
    samples : ndarray of uint64, shape (n,)
    places : ndarray of int64, shape (n,)
        As `sample` gives them, in the order of their reads.
    word_offsets, lengths : ndarray of int64
        Columns of a `Reads` table.
    least, most : uint64
    sorted_samples : ndarray of uint64, shape (n,)
    sorted_places, reads, rooms : ndarray of int64, shape (n,)
        Read of each sample, and bases from the start of the sample to the end of its read, in its direction.
        Of all four the rows of these samples are written: those behind all smaller ones.
    """
    first_row = wanted = 0
    for key in samples:
        first_row += key < least
        wanted += least <= key <= most
    keys = np.empty(wanted, np.uint64)
    place_of, read_of = np.empty(wanted, np.int64), np.empty(wanted, np.int64)
    taken = read = 0
    for i in range(len(samples)):
        if least <= samples[i] <= most:
            word = max(places[i], ~places[i]) // SAMPLE
            while word_offsets[read + 1] <= word:
                read += 1
            keys[taken], place_of[taken], read_of[taken] = samples[i], places[i], read
            taken += 1
    keys, rows = radix_sort_rows(keys, np.empty_like(keys))
    for i in range(wanted):
        place, read = place_of[rows[i]], read_of[rows[i]]
        first_base = word_offsets[read] * SAMPLE
        sorted_samples[first_row + i], sorted_places[first_row + i] = keys[i], place
        reads[first_row + i] = read
        rooms[first_row + i] = ~place - first_base + 1 if place < 0 else first_base + lengths[read] - place


@njit(nogil=True, cache=True)
def _shared_bases(one, other):
    """Return the length of the common prefix of two samples."""
    difference = one ^ other
    shared = SAMPLE
    while difference:
        difference >>= _TWO
        shared -= 1
    return shared


@njit(nogil=True, cache=True)
def prefix_spectrum(samples, k, most):
    """Count how often the first k bases of samples occur.

    Parameters
    ----------
    samples : ndarray of uint64, shape (n,)
        Sorted.
    k : int
        16 to 32.
    most : int
        Multiplicities above this are counted as this.

    Returns
    -------
    ndarray of int64, shape (most + 1,)
        How many distinct k-mers occur m times.
    """
    spectrum = np.zeros(most + 1, np.int64)
    rest = np.uint64(2 * (SAMPLE - k))
    start = 0
    for i in range(1, len(samples) + 1):
        if i == len(samples) or samples[i - 1] >> rest != samples[i] >> rest:
            spectrum[min(i - start, most)] += 1
            start = i
    return spectrum


@njit(nogil=True, cache=True)
def prefix_pairs(samples, k, most):
    """Count the pairs of samples that share their first k, k + 1, ... 32 bases.

    Parameters
    ----------
    samples : ndarray of uint64, shape (n,)
        Sorted.
    k : int
        16 to 32.
    most : int
        k-mers that occur more often than this do not take part, with whatever follows them.

    Returns
    -------
    ndarray of int64, shape (33 - k,)
    """
    pairs = np.zeros(SAMPLE + 1 - k, np.int64)
    began = np.zeros(SAMPLE + 1 - k, np.int64)
    group = np.zeros(SAMPLE + 1 - k, np.int64)
    rest = np.uint64(2 * (SAMPLE - k))
    start = 0
    for stop in range(1, len(samples) + 1):
        if stop < len(samples) and samples[stop - 1] >> rest == samples[stop] >> rest:
            continue
        if 2 <= stop - start <= most:
            began[:] = start
            group[:] = 0
            for i in range(start + 1, stop + 1):
                shared = _shared_bases(samples[i - 1], samples[i]) if i < stop else 0
                for row in range(max(0, shared + 1 - k), SAMPLE + 1 - k):
                    run = i - began[row]
                    group[row] += run * (run - 1) // 2
                    began[row] = i
            pairs += group
        start = stop
    return pairs


@njit(nogil=True, cache=True)
def pick_partners(samples, reads, rooms, k, most, least_room):
    """Give every sample a random partner among those that share its first k bases.

    Parameters
    ----------
    samples : ndarray of uint64, shape (n,)
        Sorted.
    reads : ndarray of int64, shape (n,)
        Read of each sample.
    rooms : ndarray of int64, shape (n,)
        Bases from the start of the sample to the end of its read, in its direction.
    k : int
        16 to 32.
    most : int
        k-mers that occur more often than this give no partners.
    least_room : int
        Room that a sample and its partner must have.

    Returns
    -------
    ndarray of int64, shape (n,)
        Row of the partner, which lies on another read; -1 for none.
    """
    partners = np.full(len(samples), -1)
    rest = np.uint64(2 * (SAMPLE - k))
    start = 0
    for stop in range(1, len(samples) + 1):
        if stop < len(samples) and samples[stop - 1] >> rest == samples[stop] >> rest:
            continue
        size = stop - start
        if 2 <= size <= most:
            for i in range(start, stop):
                drawn = ((samples[i] ^ np.uint64(i)) * _DRAW) >> _HALF
                step = 1 + np.int64(drawn) % (size - 1)
                j = start + (i - start + step) % size
                if reads[i] != reads[j] and rooms[i] >= least_room and rooms[j] >= least_room:
                    partners[i] = j
        start = stop
    return partners
