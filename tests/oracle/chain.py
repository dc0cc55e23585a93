"""Colinear chaining, straight from the definition in overlapper/extend/chain.py."""

from itertools import pairwise


def best_chain(anchors, k, look_back, max_gap, gap_cost, distance_cost):
    """Score (in 256ths of a base) and anchors of the best chain.

    ``anchors``: (x, y) on the query's strand, ascending by x, then y.
    """
    score, before = [], []
    for i, (x, y) in enumerate(anchors):
        score.append(256 * k)
        before.append(None)
        for j in range(i - 1, max(-1, i - 1 - look_back), -1):
            dx, dy = x - anchors[j][0], y - anchors[j][1]
            if dx <= 0 or dy <= 0 or max(dx, dy) > max_gap:
                continue
            cost = gap_cost * abs(dx - dy) + distance_cost * min(dx, dy)
            through_j = score[j] + 256 * min(k, dx, dy) - cost
            if through_j > score[i]:
                score[i], before[i] = through_j, j
    end = max(range(len(anchors)), key=lambda i: (score[i], -i))
    chain, i = [], end
    while i is not None:
        chain.append(anchors[i])
        i = before[i]
    return score[end], chain[::-1]


def covered(positions, k):
    return len({base for p in positions for base in range(p, p + k)})


def runs(chain, k):
    """Seeds of a chain, those that overlap the next one on either read counted once."""
    return 1 + sum(min(b[0] - a[0], b[1] - a[1]) >= k for a, b in pairwise(chain))


def seeds_within(positions, start, stop, k):
    return sum(start <= p and p + k <= stop for p in positions)


def agreement(chain, k, q_length, q_seeds, t_seeds, t_sketched):
    """Seeds found and seeds expected times sketched: compare 100 * found with min_agreement * expected."""
    (x0, y0), (x1, y1) = chain[0], chain[-1]
    span = max(x1 - x0, y1 - y0) + k
    return len(chain) * t_sketched, span * len(q_seeds) // q_length * len(t_seeds)


def carried_on(chain, k, q_length, t_length, q_seeds, t_seeds, reach, max_reach):
    """The interval of a chain on either read, carried on to read ends; everything on the query's strand."""
    (x0, y0), (x1, y1) = chain[0], chain[-1]
    x1, y1 = x1 + k, y1 + k
    q_inside, t_inside = seeds_within(q_seeds, x0, x1, k), seeds_within(t_seeds, y0, y1, k)
    n = runs(chain, k)
    left, right = min(x0, y0), min(q_length - x1, t_length - y1)

    def near(distance, q_missing, t_missing):
        few = n * q_missing <= reach * q_inside or n * t_missing <= reach * t_inside
        return distance if distance <= max_reach and few else 0

    left = near(left, seeds_within(q_seeds, x0 - left, x0, k), seeds_within(t_seeds, y0 - left, y0, k))
    right = near(right, seeds_within(q_seeds, x1, x1 + right, k), seeds_within(t_seeds, y1, y1 + right, k))
    return x0 - left, x1 + right, y0 - left, y1 + right
