"""Pairs of reads that share a seed, made fast enough for a hundred thousand of them."""

import numpy as np
from numba import njit

from overlapper.kernels.common.walks import PackedReads, Seeds

SEED_LENGTH = 17


@njit(cache=True)
def _pack(codes, length, words, at):
    for i in range(length):
        words[at + i // 32] |= np.uint64(codes[i]) << np.uint64(2 * (i % 32))
    return at + (length + 31) // 32


@njit(cache=True)
def _simulate(lengths, errors, seed_share, reverse, unknown, seed, k):
    np.random.seed(seed)
    pairs = len(lengths)
    words = np.zeros(int((lengths * 2.2).sum()) // 32 + 8 * pairs, np.uint64)
    offsets = np.zeros(2 * pairs + 1, np.int64)
    sizes = np.zeros(2 * pairs, np.int64)
    positions = np.zeros((2, pairs), np.int32)
    runs = np.zeros((2 * pairs, 2), np.int32)
    longest = int(lengths.max())
    query, target = np.zeros(longest, np.uint8), np.zeros(3 * longest + 64, np.uint8)
    at = 0
    for p in range(pairs):
        n = lengths[p]
        for i in range(n):
            query[i] = np.random.randint(4)
        first = int(seed_share * (n - k))
        m, t_first = 0, 0
        for i in range(n):
            if i == first:
                t_first = m
            kind = np.random.random() / errors[p]
            if first <= i < first + k or kind >= 1:
                target[m] = query[i]
                m += 1
            elif errors[p] == 1:
                target[m] = np.random.randint(4)
                m += 1
            elif kind < 1 / 3:
                target[m] = (query[i] + np.random.randint(1, 4)) % 4
                m += 1
            elif kind < 2 / 3:
                target[m] = query[i]
                target[m + 1] = np.random.randint(4)
                m += 2
        if reverse[p]:
            target[:m] = 3 - target[:m][::-1].copy()
            t_first = m - t_first - k
        positions[0, p], positions[1, p] = first, t_first
        for side in range(2):
            length = n if side == 0 else m
            codes = query if side == 0 else target
            if np.random.random() < unknown:
                start = np.random.randint(length)
                end = min(length, start + 1 + np.random.randint(6))
                if end <= positions[side, p] or start >= positions[side, p] + k:
                    runs[2 * p + side] = (start, end)
                    codes[start:end] = 0
            at = _pack(codes, length, words, at)
            offsets[2 * p + side + 1] = at
            sizes[2 * p + side] = length
    return words[:at], offsets, sizes, positions, runs


def simulate_pairs(lengths, errors, *, seed, seed_share=0.5, reverse=0.5, unknown=0.0):
    """Return reads, two a pair, and one seed a pair.

    Parameters
    ----------
    lengths : ndarray of int
        Bases of the queries.
    errors : ndarray of float
        Of each pair, equally many substitutions, insertions and deletions; 1 makes it unrelated but for the
        seed.
    seed : int
        Of the random numbers.
    seed_share : float
        Where the seed lies in the query.
    reverse, unknown : float
        Shares of the pairs with the target reversed, and of the reads that hold a run of unknown bases.
    """
    strands = np.random.default_rng(seed).random(len(lengths)) < reverse
    words, offsets, sizes, positions, runs = _simulate(
        np.asarray(lengths), np.asarray(errors, float), seed_share, strands, unknown, seed, SEED_LENGTH
    )
    has_run = runs[:, 1] > runs[:, 0]
    reads = PackedReads(
        words, offsets, sizes, runs[has_run, 0].copy(), runs[has_run, 1].copy(),
        np.concatenate([[0], np.cumsum(has_run)]),
    )  # fmt: skip
    number = np.arange(len(lengths), dtype=np.int32)
    return reads, Seeds(2 * number, 2 * number + 1, strands, positions[0], positions[1], SEED_LENGTH)
