"""Seed entries of runs on disk: gathered by bucket, cut by block of reads, joined for a tile.

CPU only.

Entries are those of `overlapper.kernels.seeds.seed_index`: ``rest of hash | base number | strand``. All
arrays of entries ascend by rest, then by base number, within a bucket.
"""

import numpy as np

from overlapper.kernels.seeds.seed_groups import group_stop
from overlapper.kernels.seeds.seed_index import gather_bucket
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD

U64 = np.uint64


@njit(nogil=True, cache=True)
def gather_buckets(pages, previous_page, last_page, counts, first_base, out):
    """Copy the page chains that `seed_index.partition` filled, bucket after bucket.

    Parameters
    ----------
    pages, previous_page, last_page, counts : ndarray
        What `partition` returned.
    first_base : int
        Added to the base number of every entry.
    out : ndarray of uint64, shape (counts.sum(),)
    """
    place = 0
    for bucket in range(len(counts)):
        gather_bucket(pages, previous_page, last_page[bucket], counts[bucket], out[place:])
        place += counts[bucket]
    shift = U64(first_base) << U64(1)
    for i in range(len(out)):
        out[i] += shift


@njit(nogil=True, cache=True)
def count_blocks(entries, rest_low_bit, first_bases, counts):
    """Count the entries of a bucket by block of reads.

    Parameters
    ----------
    entries : ndarray of uint64
    rest_low_bit : int
    first_bases : ndarray of int64, shape (blocks + 1,)
        Base number at which each block starts.
    counts : ndarray of int64, shape (blocks,)
        In and out.
    """
    mask = (U64(1) << U64(rest_low_bit)) - U64(1)
    block = 0
    for i in range(len(entries)):
        block = _block_of(np.int64((entries[i] & mask) >> U64(1)), first_bases, block)
        counts[block] += 1


@njit(nogil=True, cache=True)
def scatter_blocks(entries, rest_low_bit, first_bases, next_free, out):
    """Write the entries of a bucket to their blocks, with base numbers counted from the start of the block.

    Parameters
    ----------
    entries, rest_low_bit, first_bases
        Those of `count_blocks`.
    next_free : ndarray of int64, shape (blocks,)
        In and out: where the next entry of each block goes.
    out : ndarray of uint64
    """
    mask = (U64(1) << U64(rest_low_bit)) - U64(1)
    block = 0
    for i in range(len(entries)):
        block = _block_of(np.int64((entries[i] & mask) >> U64(1)), first_bases, block)
        out[next_free[block]] = entries[i] - (U64(first_bases[block]) << U64(1))
        next_free[block] += 1


@njit(nogil=True, cache=True)
def mark_bases(entries, rest_low_bit, marks):
    """Set the bit of the base at which each entry starts.

    Parameters
    ----------
    entries : ndarray of uint64
        In any order.
    rest_low_bit : int
    marks : ndarray of uint32, shape (words,)
        In and out: a bit for each base of the reads, those of a word of the reads in one item.
    """
    mask = (U64(1) << U64(rest_low_bit)) - U64(1)
    for i in range(len(entries)):
        base = (entries[i] & mask) >> U64(1)
        marks[base // U64(BASES_PER_WORD)] |= np.uint32(1) << np.uint32(base % U64(BASES_PER_WORD))


@njit(nogil=True, cache=True)
def _block_of(base, first_bases, block):
    """Return the block of a base, searched from that of the base before: bases ascend within a group."""
    if base < first_bases[block]:
        block = 0
    while base >= first_bases[block + 1]:
        block += 1
    return block


@njit(nogil=True, cache=True)
def join_blocks(queries, targets, rest_low_bit, first_target_base, out):
    """Write the groups with entries in both of two blocks, entries of queries first.

    Parameters
    ----------
    queries, targets : ndarray of uint64
        Entries of one bucket in either block.
    rest_low_bit : int
    first_target_base : int
        Added to the base numbers of the targets: where the target block starts in the tile.
    out : ndarray of uint64
        Room for all.

    Returns
    -------
    int
        How many were written.
    """
    shift, more = U64(rest_low_bit), U64(first_target_base) << U64(1)
    n, q, t = 0, 0, 0
    while q < len(queries) and t < len(targets):
        q_rest, t_rest = queries[q] >> shift, targets[t] >> shift
        if q_rest < t_rest:
            q += 1
        elif t_rest < q_rest:
            t += 1
        else:
            while q < len(queries) and (queries[q] >> shift) == q_rest:
                out[n] = queries[q]
                n += 1
                q += 1
            while t < len(targets) and (targets[t] >> shift) == q_rest:
                out[n] = targets[t] + more
                n += 1
                t += 1
    return n


@njit(nogil=True, cache=True)
def keep_repeated(entries, rest_low_bit, out):
    """Write the groups with several entries in a block; return the number of entries written."""
    kept, start = 0, 0
    while start < len(entries):
        stop = group_stop(entries, start, rest_low_bit)
        if stop - start > 1:
            for i in range(start, stop):
                out[kept] = entries[i]
                kept += 1
        start = stop
    return kept
