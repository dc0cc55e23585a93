"""Exact overlaps of candidates, from the definition in `overlapper.extend.exact`."""

from tests.oracle.strands import reverse_complement


def exact_overlap(query, target, reverse, hits, k):
    """Return (q_start, q_end, t_start, t_end, bases, seeds) of a candidate, None without an exact diagonal.

    ``hits`` are first bases of seeds, of ``k`` bases, on the forward strands of both reads.
    """
    if reverse:
        target = reverse_complement(target)
        hits = [(x, len(target) - k - y) for x, y in hits]
    diagonals = {}
    for x, y in hits:
        diagonals[y - x] = diagonals.get(y - x, 0) + 1
    best = None
    for diagonal in sorted(diagonals):
        x, y = max(0, -diagonal), max(0, diagonal)
        bases = min(len(query) - x, len(target) - y)
        common = query[x : x + bases]
        if common == target[y : y + bases] and "N" not in common and (best is None or bases > best[4]):
            places = (len(target) - y - bases, len(target) - y) if reverse else (y, y + bases)
            best = (x, x + bases, *places, bases, diagonals[diagonal])
    return best
