"""SpGEMM candidates by the definition: every pair of reads, every pair of positions."""

from fractions import Fraction
from math import comb


def bounds_at_depth(depth, survival, tail):
    """Bounds for an integral depth, in exact arithmetic."""
    p, tail = Fraction(survival), Fraction(tail)

    def probability(m):
        return comb(depth, m) * p**m * (1 - p) ** (depth - m)

    def reached(multiplicities):
        total, m = Fraction(0), 2
        for m in multiplicities:
            total += probability(m)
            if total >= tail:
                return m
        return m

    lower = max(reached(range(2, depth + 1)) - 1, 2)
    return lower, max(reached(range(depth, -1, -1)) + 1, lower)


def candidates(columns, lengths, k, bin_size, min_kmers):
    """Return the candidates of all reads.

    ``columns`` holds, for each reliable k-mer, its occurrences (read, position, is reverse). A candidate is
    (query, target, reverse, query position, target position, support, span, hits), positions on the forward
    strands, hits a list of (query position, target position).
    """
    gathered = {}
    for column in columns:
        for query, q, query_reverse in column:
            for target, t, target_reverse in column:
                if query < target:
                    reverse = query_reverse != target_reverse
                    on_strand = lengths[target] - k - t if reverse else t
                    gathered.setdefault((query, target, reverse), []).append((q, on_strand))
    found = []
    for (query, target, reverse), hits in sorted(gathered.items()):
        hits.sort()
        best, counted = best_bin(hits, k, bin_size)
        if len(counted) < min_kmers:
            continue
        half = -(-bin_size // 2)
        near = [
            (q, t) for q, t in hits if best * half - bin_size <= q - t < (best + 2) * half + bin_size
        ]  # fmt: skip
        q, t = counted[len(counted) // 2]
        span = min(q, t) + min(lengths[query] - q - k, lengths[target] - t - k) + k

        def forward(t, target=target, reverse=reverse):
            return lengths[target] - k - t if reverse else t

        forward_hits = sorted((a, forward(b)) for a, b in near)
        found.append((query, target, reverse, q, forward(t), len(counted), span, forward_hits))
    return found


def best_bin(hits, k, bin_size):
    """Return the best bin and its hits that do not overlap each other on the query."""
    half = -(-bin_size // 2)
    members = {}
    for q, t in hits:
        for number in range((q - t) // half - 3, (q - t) // half + 3):
            if number * half <= q - t < (number + 2) * half:
                members.setdefault(number, []).append((q, t))
    supports = {}
    for number, inside in members.items():
        counted = []
        for q, t in inside:
            if not counted or q >= counted[-1][0] + k:
                counted.append((q, t))
        supports[number] = counted
    best = min(supports, key=lambda number: (-len(supports[number]), number))
    return best, supports[best]
