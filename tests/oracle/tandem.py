"""Minimizers that repeat within reads, and those that are thinned out, from docs/algorithms/dsoft.md."""

from itertools import pairwise

FEWEST, REACH = 17, 2048


def is_tandem(places):
    """Tell whether most of the occurrences (read, position) of a minimizer are crowded."""
    crowded = [read == r and q - p <= REACH for (read, p), (r, q) in pairwise(sorted(places))]
    return len(places) >= FEWEST and 2 * sum(crowded) >= len(places)


def is_sampled(value, size, bucket_bits, unthinned):
    """Tell whether a minimizer of this hash seeds that occurs ``size`` times."""
    drawn = ((value >> bucket_bits) * 0x9E3779B97F4A7C15) % 2**64 // 2**32
    return drawn * size < unthinned * 2**32


def seeding(found, limit, bucket_bits, unthinned):
    """Return the hashes that seed, as a set; ``found`` are the (hash, position, strand) of each read."""
    where = {}
    for read, minimizers in enumerate(found):
        for value, position, _ in minimizers:
            where.setdefault(value, []).append((read, position))
    return {
        value
        for value, places in where.items()
        if 2 <= len(places) <= limit
        and not is_tandem(places)
        and is_sampled(value, len(places), bucket_bits, unthinned)
    }
