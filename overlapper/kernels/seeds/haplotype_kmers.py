"""k-mers of contigs looked up in other reads: those of parents, Hi-C, and ultra-long ones.

CPU only. The table is one of `overlapper.kernels.seeds.kmer_table`; a row holds a hash and a label.
"""

import numpy as np

from overlapper.kernels.common.growth import grow_rows
from overlapper.kernels.seeds.counting import ALL, NONE, canonical_kmers
from overlapper.kernels.seeds.kmer_table import CHUNK, choose, hash_chunk, new_chunk, row_of
from overlapper.runtime.compile.cache import njit

ENOUGH = 2
"""Reads of a parent that have a k-mer: an error of one read may make any."""
NO_LABEL, SEVERAL = -1, -2
"""Of reads without a k-mer of the table, and of those whose k-mers have different labels."""
READ, NODE, START, END, ON_START, ON_END, ANCHORS = range(7)
"""Columns of visits: a strand of a contig, ``2 * contig``, or 1 more for its reverse complement; the first
and the last anchor, half open, on the read and on that strand; how many anchors there are."""
SLACK, OF_LENGTH = 100, 10
"""Bases by which distances may differ on a read and on contigs, besides one of `OF_LENGTH`."""
_OPEN = 64
"""Visits of a read that an anchor may be of: the last ones that got any."""


@njit(nogil=True, cache=True)
def add_labelled(table, words, first_word, place, label, k):
    """Add a k-mer of each place, with its label, unless the table has it already.

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
        With more rows than there are places; full of `NONE`.
    words : ndarray of uint64
        Packed contigs.
    first_word, place, label : ndarray of int64, shape (places,)
        Where the contig begins, the first base of the k-mer, and what to note of it.
    k : int
    """
    hashes, reverse, _ = new_chunk()
    for i in range(len(place)):
        canonical_kmers(words, first_word[i], place[i], place[i] + k, k, ALL, hashes, reverse)
        row = row_of(table, hashes[0])
        if hashes[0] != NONE and table[row, 0] == NONE:
            table[row, 0] = hashes[0]
            table[row, 1] = np.uint64(label[i])


@njit(nogil=True, cache=True)
def _known_of_chunk(table, spans, span, at, k, chunk):
    """Return the numbers of the k-mers of a chunk that a table has, their rows, and how many there are."""
    hashes, reverse, chosen = chunk
    n = hash_chunk(spans, span, at, k, ALL, hashes, reverse)
    rows, known = np.empty(n, np.int64), 0
    for i in chosen[: choose(table, hashes, n, np.uint64(0), NONE, chosen)]:
        row = row_of(table, hashes[i])
        if table[row, 0] == hashes[i]:
            chosen[known], rows[known] = i, row
            known += 1
    return chosen, rows, known


@njit(nogil=True, cache=True)
def count_known(table, spans, first, last, k, counts):
    """Count the k-mers of spans ``[first, last)`` that a table has, each up to `ENOUGH` times.

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
    spans : Spans
    first, last, k : int
    counts : ndarray of uint8, shape (n,)
        Of each row; counted on.
    """
    chunk = new_chunk()
    for span in range(first, last):
        for at in range(spans.start[span], spans.stop[span] - k + 1, CHUNK):
            _, rows, known = _known_of_chunk(table, spans, span, at, k, chunk)
            for row in rows[:known]:
                if counts[row] < ENOUGH:
                    counts[row] += 1


@njit(nogil=True, cache=True)
def label_reads(table, spans, first, last, k, label):
    """Give each read of spans ``[first, last)`` the label that all of its k-mers in a table have.

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
    spans : Spans
    first, last, k : int
    label : ndarray of int32, shape (reads,)
        Changed; `NO_LABEL` before.
    """
    chunk = new_chunk()
    for span in range(first, last):
        read = spans.sequence[span]
        for at in range(spans.start[span], spans.stop[span] - k + 1, CHUNK):
            _, rows, known = _known_of_chunk(table, spans, span, at, k, chunk)
            for row in rows[:known]:
                found = np.int64(table[row, 1])
                if label[read] == NO_LABEL:
                    label[read] = found
                elif label[read] != found:
                    label[read] = SEVERAL


@njit(nogil=True, cache=True)
def visits_of_reads(table, spans, lengths, first, last, k):
    """Lay reads of spans ``[first, last)`` on contigs by k-mers that occur once in them.

    An anchor is of the visit on its strand of a contig to which the distance is the same on both, of these
    that which got the last one. An anchor that overlaps the last one of its visit is left out.

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
        Labels are ``contig << 32 | first base << 1 | strand``.
    spans : Spans
    lengths : ndarray of int64, shape (contigs,)
    first, last, k : int

    Returns
    -------
    ndarray of int64, shape (visits, 7)
        By read.
    """
    chunk, visits = new_chunk(), np.empty((_OPEN, 7), np.int64)
    n, begin, read = 0, 0, -1
    for span in range(first, last):
        if spans.sequence[span] != read:
            begin, read = n, spans.sequence[span]
        for at in range(spans.start[span], spans.stop[span] - k + 1, CHUNK):
            chosen, rows, known = _known_of_chunk(table, spans, span, at, k, chunk)
            for i in range(known):
                place, label = at + chosen[i], np.int64(table[rows[i], 1])
                strand = (label & 1) ^ chunk[1][chosen[i]]
                contig, on = label >> 32, (label & 0xFFFFFFFF) >> 1
                on = lengths[contig] - k - on if strand else on
                if n == len(visits):
                    visits = grow_rows(visits, 2 * n)
                n += _add_anchor(visits, max(begin, n - _OPEN), n, read, 2 * contig + strand, place, on, k)
    return visits[:n].copy()


@njit(nogil=True, cache=True)
def _add_anchor(visits, begin, n, read, node, place, on, k):
    """Add an anchor to one of the visits ``[begin, n)``, which moves to the end; return 1 for a new one."""
    for row in range(n - 1, begin - 1, -1):
        if visits[row, NODE] != node:
            continue
        along, on_contig = place + k - visits[row, END], on + k - visits[row, ON_END]
        longer = max(along, on_contig) if min(along, on_contig) >= k else 0
        if abs(along - on_contig) > SLACK + longer // OF_LENGTH:
            continue
        if longer:
            visits[row, END] += along
            visits[row, ON_END] += on_contig
            visits[row, ANCHORS] += 1
        for column in range(7):
            last = visits[n - 1, column]
            visits[n - 1, column] = visits[row, column]
            visits[row, column] = last
        return 0
    visits[n, READ], visits[n, NODE], visits[n, ANCHORS] = read, node, 1
    visits[n, START], visits[n, END], visits[n, ON_START], visits[n, ON_END] = place, place + k, on, on + k
    return 1
