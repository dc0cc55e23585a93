"""Runs of one base that are cut short in packed reads.

CPU only.
"""

import numpy as np

from overlapper.kernels.common.growth import grow_rows
from overlapper.kernels.common.packed import base_at
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD


@njit(nogil=True, cache=True)
def find_surplus(words, word_offsets, lengths, longest):
    """Find the bases of runs beyond their first ``longest`` ones.

    Parameters
    ----------
    words : ndarray of uint64
        Packed reads, without unknown bases.
    word_offsets : ndarray of int64, shape (reads + 1,)
    lengths : ndarray of int64, shape (reads,)
    longest : int

    Returns
    -------
    ndarray of int64, shape (n, 3)
        Read, and start and end of its surplus, half open; by read and start.
    """
    found, n = np.empty((16, 3), np.int64), 0
    for read in range(len(lengths)):
        own = words[word_offsets[read] : word_offsets[read + 1]]
        start = np.int64(0)
        # From the last base of the shortest run to be cut backwards: most bases are never looked at.
        while start + longest < lengths[read]:
            base, place = base_at(own, start + longest), start + longest - 1
            while place >= start and base_at(own, place) == base:
                place -= 1
            if place >= start:
                start = place + 1
                continue
            end = start + longest + 1
            while end < lengths[read] and base_at(own, end) == base:
                end += 1
            if n == len(found):
                found = grow_rows(found, 2 * n)
            found[n, 0], found[n, 1], found[n, 2] = read, start + longest, end
            n += 1
            start = end
    return found[:n]


@njit(nogil=True, cache=True)
def without_surplus(words, word_offsets, lengths, surplus, out_words, out_offsets):
    """Write reads without some of their bases.

    Parameters
    ----------
    words, word_offsets, lengths
        Of `find_surplus`.
    surplus : ndarray of int64, shape (n, 3)
        Of `find_surplus`.
    out_words : ndarray of uint64
        Out: the packed reads that are left; zero before.
    out_offsets : ndarray of int64, shape (reads + 1,)
        Where each of them starts.
    """
    cut = 0
    for read in range(len(lengths)):
        own = words[word_offsets[read] : word_offsets[read + 1]]
        out = out_words[out_offsets[read] : out_offsets[read + 1]]
        place = written = 0
        while place < lengths[read]:
            if cut < len(surplus) and surplus[cut, 0] == read and surplus[cut, 1] == place:
                place = surplus[cut, 2]
                cut += 1
                continue
            shift = np.uint64(2 * (written % BASES_PER_WORD))
            out[written // BASES_PER_WORD] |= np.uint64(base_at(own, place)) << shift
            place += 1
            written += 1


@njit(nogil=True, cache=True)
def with_surplus(read, place, first_cut, cut_at, missing, out):
    """Convert places in reads without their surplus to places in the reads themselves.

    Parameters
    ----------
    read, place : ndarray of int32, shape (n,)
    first_cut : ndarray of int64, shape (reads + 1,)
        Where the cuts of each read start.
    cut_at : ndarray of int64, shape (cuts,)
        Base of the cut read before which surplus was.
    missing : ndarray of int64, shape (cuts + 1,)
        Bases of surplus before each cut, and of all, of all reads together.
    out : ndarray of int32, shape (n,)
        Out: the places, behind all surplus that was cut there.
    """
    for i in range(len(read)):
        before, behind = first_cut[read[i]], first_cut[read[i] + 1]
        cuts = np.searchsorted(cut_at[before:behind], place[i], side="right")
        out[i] = place[i] + missing[before + cuts] - missing[before]
