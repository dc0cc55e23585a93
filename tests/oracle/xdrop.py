"""X-drop extension with a full matrix, from the definition in docs/algorithms/xdrop.md."""

from tests.oracle.strands import reverse_complement

DEAD = None


def extend_sequence(query, target, match, mismatch, gap, xdrop, stop_window=0, stop_rate=0):
    """Extend from the first bases of two strings; return the score, query bases and target bases."""
    n, m = len(query), len(target)
    cells = [[DEAD] * (m + 1) for _ in range(n + 1)]
    cells[0][0] = 0
    best, best_i, best_j = 0, 0, 0
    best_at_window = 0
    for d in range(1, n + m + 1):
        alive = []
        for i in range(max(0, d - m), min(d, n) + 1):
            score = cell_score(cells, query, target, i, d - i, match, mismatch, gap)
            if score is not DEAD and score >= best - xdrop:
                cells[i][d - i] = score
                alive.append((score, i))
        for score, i in alive:
            if score > best:
                best, best_i, best_j = score, i, d - i
        if stop_window and d % stop_window == 0:
            if (best - best_at_window) * stop_rate < stop_window * match:
                break
            best_at_window = best
    return best, best_i, best_j


def cell_score(cells, query, target, i, j, match, mismatch, gap):
    """The best of the three ways into a cell, `DEAD` when all of them are."""
    ways = []
    if i and j and cells[i - 1][j - 1] is not DEAD:
        same = query[i - 1] == target[j - 1] and query[i - 1] in "ACGT"
        ways.append(cells[i - 1][j - 1] + (match if same else mismatch))
    if i and cells[i - 1][j] is not DEAD:
        ways.append(cells[i - 1][j] + gap)
    if j and cells[i][j - 1] is not DEAD:
        ways.append(cells[i][j - 1] + gap)
    return max(ways, default=DEAD)


def extend_seed(query, target, reverse, query_pos, target_pos, seed_length, *scheme):
    """Extend a seed, its positions on the forward strands, to both sides.

    Returns the extensions before and after it along the query, each a score, query and target bases.
    """
    if reverse:
        target = reverse_complement(target)
        target_pos = len(target) - target_pos - seed_length
    before = extend_sequence(query[:query_pos][::-1], target[:target_pos][::-1], *scheme)
    after = extend_sequence(query[query_pos + seed_length :], target[target_pos + seed_length :], *scheme)
    return before, after
