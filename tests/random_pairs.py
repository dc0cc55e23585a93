"""Pairs of texts, related and not."""

import numpy as np


def alike_pairs(seed, count, n, m):
    """Return pairs of random targets of m bases and pieces of them, of about n bases, that differ in 5 %."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        target = rng.choice(list("ACGT"), m)
        first = rng.integers(0, max(1, m - n))
        piece = target[first : first + n]
        piece = np.repeat(piece, rng.choice([0, 1, 2], len(piece), p=[0.015, 0.97, 0.015]))
        changed = rng.random(len(piece)) < 0.03
        piece[changed] = rng.choice(list("ACGT"), changed.sum())
        pairs.append(("".join(piece), "".join(target)))
    return pairs


def random_pairs(seed, count, longest, lengths=None):
    """Return pairs whose queries are shorter than ``longest``, or of the given lengths."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        query = rng.choice(list("ACGT"), rng.choice(lengths) if lengths else rng.integers(1, longest))
        copies = rng.choice([0, 1, 1, 1, 1, 1, 1, 1, 2], len(query))
        target = np.repeat(query, copies)
        changed = rng.random(len(target)) < rng.choice([0.05, 0.3, 1.0])
        target[changed] = rng.choice(list("ACGT"), changed.sum())
        pairs.append(("".join(query), "A" + "".join(target)))
    return pairs
