"""How deep reads are, by k-mers that are sampled by content (`overlapper.sketch.depth`).

CPU only.

k-mers are counted in a table that their hashes index: two of them may share a slot, of which there are twice
as many as samples. Samples of a read are cut into stretches of `STRETCH` or more, as even as they can be.
"""

import numpy as np

from overlapper.kernels.seeds.kmer_sample import SAMPLE
from overlapper.runtime.compile.cache import njit

STRETCH = 64
"""Fewest samples of a stretch, unless the read has fewer."""
RARE, FEW = 16, 20
"""k-mers that some units of an array have alone are fewer than those of all, but not as few as this; they are
this share of the k-mers of a read at least."""
ROUNDS = 16
"""How often more than once the repeated k-mers of a read are in it, on average, if its units are equal: reads
go round no circle as often."""
FAINT = 1 / 1024
"""How often k-mers of another molecule occur, in shares of what the deep ones of a read do: rarer ones are
errors that recur."""
ERRORS = 8
"""How much rarer than the most frequent twentieth of the samples of a deep molecule those are that errors
made."""
_SCATTER = np.uint64(0x9E3779B97F4A7C15)


@njit(nogil=True, cache=True)
def slots_of(samples, places, word_offsets, first, k, bits, slots, counts):
    """Find the slot of each sample, and count the samples of each read.

    Parameters
    ----------
    samples : ndarray of uint64, shape (n,)
    places : ndarray of int64, shape (n,)
        As `overlapper.kernels.seeds.kmer_sample.sample` gives them.
    word_offsets : ndarray of int64
        Column of the read table.
    first : int
        A read that none of the samples is before.
    k, bits : uint64
        Bases that count of each sample; the table has ``2 ** bits`` slots.
    slots : ndarray of uint32, shape (n,)
        Out.
    counts : ndarray of int64, shape (reads,)
        Increased.
    """
    read, rest = first, np.uint64(2 * SAMPLE) - np.uint64(2) * k
    for i in range(len(samples)):
        word = max(places[i], ~places[i]) // SAMPLE
        while word_offsets[read + 1] <= word:
            read += 1
        counts[read] += 1
        slots[i] = ((samples[i] >> rest) * _SCATTER) >> (np.uint64(64) - bits)


@njit(nogil=True, cache=True)
def count(slots, table):
    """Count samples in their slots (uint32)."""
    for slot in slots:
        table[slot] += np.uint32(1)


@njit(nogil=True, cache=True)
def count_where_deep(slots, first, table, least, sure, among):
    """Count the samples of the reads all of whose stretches are deep.

    Parameters
    ----------
    slots : ndarray of uint32
    first : ndarray of int64, shape (reads + 1,)
        Where the samples of each read start.
    table : ndarray of uint32
        How often each slot was met.
    least : int
        From which count on a sample is deep.
    sure : ndarray of int64, shape (2 * STRETCH,)
        How many samples are surely free of errors, of so many: a stretch is deep if as many of its samples
        are.
    among : ndarray of uint32
        Of each slot, its samples in such reads; increased.
    """
    for read in range(len(first) - 1):
        own = slots[first[read] : first[read + 1]]
        parts, deep = max(1, len(own) // STRETCH), True
        for part in range(parts):
            start, stop = part * len(own) // parts, (part + 1) * len(own) // parts
            found = 0
            for slot in own[start:stop]:
                found += table[slot] >= least
            deep &= found >= sure[stop - start]
        if deep:
            count(own, among)


@njit(nogil=True, cache=True)
def multiplicities(slots, first, table, least, wanted, among, elsewhere, relatives, out, known):
    """Find how often the k-mers of deep reads occur: the lower quartile of the deep ones that no error made.

    A sample is of a deep molecule if half of its occurrences are in reads that are deep all along. A read is
    deep if it has some of these, unless it is of a relative of the molecule, or goes on elsewhere: of its
    stretches that are deep or elsewhere, more than a quarter are elsewhere.

    Parameters
    ----------
    slots, first, table, least, among
        Those of `count_where_deep`.
    wanted : ndarray of int64, shape (2 * STRETCH,)
        Deep samples that make a stretch deep, of so many. A read that has fewer samples is not deep.
    elsewhere : float
        A stretch is elsewhere if it is not deep and such a share of its samples occur more than twice, and
        more often than `FAINT` of the lower quartile. A 16th of it, or two samples, make a read deep.
    relatives : ndarray of float64, shape (n, 2)
        A read is of a relative of a deep molecule if in some stretch such a share of the samples is not
        frequent, but occurs more than twice and more often than such a share of the lower quartile.
    out : ndarray of uint32, shape (reads,)
        Out; 0 of reads that are not deep.
    known : ndarray of float32, shape (reads,)
        Out; the share of the samples that are not so rare as those that errors made.
    """
    known[:] = 0
    for read in range(len(first) - 1):
        own = slots[first[read] : first[read + 1]]
        parts, met, deep, others = max(1, len(own) // STRETCH), 0, 0, 0
        of_deep, times = np.empty(len(own), np.bool_), np.empty(len(own), np.uint32)
        for i in range(len(own)):
            of_deep[i] = table[own[i]] >= least and 2 * np.int64(among[own[i]]) >= table[own[i]]
            times[met] = table[own[i]]
            met += of_deep[i]
        out[read] = 0
        if met < max(2.0, elsewhere / 16 * len(own)) or wanted[min(len(own), STRETCH)] >= len(own):
            continue
        times[:met].sort()
        by_error = times[met - 1 - met // 20] // ERRORS
        rare = np.searchsorted(times[:met], by_error, side="right")
        known[read] = _often(own, table, by_error, np.inf) / len(own)
        usual = times[rare + (met - rare) // 4]
        is_relative = False
        for part in range(parts):
            start, stop = part * len(own) // parts, (part + 1) * len(own) // parts
            if np.count_nonzero(of_deep[start:stop]) >= wanted[stop - start]:
                deep += 1
            elif _often(own[start:stop], table, FAINT * usual, np.inf) >= elsewhere * (stop - start):
                others += 1
            for share, often in relatives:
                found = _often(own[start:stop], table, often * usual, least)
                is_relative |= found >= share * (stop - start)
        if 3 * others > deep or is_relative or _is_of_an_array(own, table, usual, len(relatives) > 0):
            continue
        out[read] = usual


@njit(nogil=True, cache=True)
def _often(own, table, above, below):
    """Return how many samples occur more than twice, and more and less often than given."""
    found = 0
    for slot in own:
        found += max(2.0, above) < table[slot] < below
    return found


@njit(nogil=True, cache=True)
def _is_of_an_array(own, table, usual, may_differ):
    """Return whether a read has units of a tandem array: see ``docs/algorithms/depth.md``."""
    some = again = repeated = 0
    ordered = np.sort(own)
    for i in range(1, len(ordered)):
        if ordered[i] == ordered[i - 1]:
            again += 1
            repeated += i < 2 or ordered[i] != ordered[i - 2]
    if 4 * again < len(own):
        return False
    for slot in own:
        some += usual // RARE < table[slot] < usual - usual // 4
    return again >= ROUNDS * repeated or (may_differ and FEW * some >= len(own))
