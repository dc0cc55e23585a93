"""Pairs of texts, related and not."""

import numpy as np


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
