"""Colinear chaining, straight from the definition in overlapper/extend/chain.py."""

from fractions import Fraction
from itertools import pairwise

from tests.oracle.strands import reverse_complement

TILE, SLACK = 64, 24


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


def agrees(chain, k, ends, q_seeds, t_seeds, q_sketched, t_sketched, least):
    """Seeds over those expected within ends, in thousandths, are at least so many."""
    x0, x1, y0, y1 = ends
    expected = max(
        Fraction(seeds_within(q_seeds, x0, x1, k) * len(t_seeds), t_sketched),
        Fraction(seeds_within(t_seeds, y0, y1, k) * len(q_seeds), q_sketched),
    )
    return 100 * (1000 * len(chain) // expected) >= least


def missing(chain, k, ends, lengths, q_seeds, t_seeds, reach):
    """Seeds missing before and after a chain; everything on the query's strand."""
    x0, x1, y0, y1 = ends
    left, right = min(x0, y0), min(lengths[0] - x1, lengths[1] - y1)
    n = runs(chain, k)
    found = []
    for (x, x_stop), (y, y_stop) in (
        ((x0 - left, x0), (y0 - left, y0)),
        ((x1, x1 + right), (y1, y1 + right)),
    ):
        of_query = n * seeds_within(q_seeds, x, x_stop, k) // seeds_within(q_seeds, x0, x1, k)
        of_target = n * seeds_within(t_seeds, y, y_stop, k) // seeds_within(t_seeds, y0, y1, k)
        found.append(min(of_query, of_target) if of_query > reach else of_query)
    return found


def walk(query, target, end_edits, end_drop):
    """How far a walk goes, in query and target bases."""
    x, y, left = 0, 0, 0
    row = {0: 0}
    score, best, ends = 0, 0, (0, 0)
    while x < len(query) and y < len(target) and score >= best - 100 * end_drop:
        height = min(TILE, len(query) - x, len(target) - y)
        left, right = max(left, y - SLACK), min(y + height + SLACK, len(target))
        for j in range(max(row) + 1, right + 1):
            row[j] = row[j - 1] + 1
        row = {j: row[j] for j in range(left, right + 1)}
        for base in query[x : x + height]:
            above, row = row, {left: row[left] + 1}
            for j in range(left + 1, right + 1):
                differ = base != target[j - 1] or base == "N"
                row[j] = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + differ)
        x, y = x + height, min(row, key=lambda j: (row[j], j))
        score = end_edits * x - 100 * row[y]
        if score > best:
            best, ends = score, (x, y)
    return ends


def end_bases(query, target, is_sure, n_missing, p):
    """How far an end goes on, in query and target bases; both sequences run outwards from the chain."""
    beyond = min(len(query), len(target))
    if is_sure and n_missing <= p["reach"] and beyond <= p["max_reach"]:
        return beyond, beyond
    if n_missing > p["give_up"]:
        return 0, 0
    q_more, t_more = walk(query, target, p["end_edits"], p["end_drop"])
    rest = min(len(query) - q_more, len(target) - t_more)
    carried = rest if rest <= p["end_tolerance"] else 0
    return q_more + carried, t_more + carried


def extend(query, target, reverse, hits, k, q_seeds, t_seeds, q_sketched, t_sketched, p):
    """The overlap of a candidate, or why it is dropped.

    ``hits`` and seeds are first bases on the forward strands; ``p`` holds the parameters by name.
    Returns (q_start, q_end, t_start, t_end, matches, score, seeds).
    """
    lengths = len(query), len(target)
    asked = 1000
    if p["typical_shares"]:
        of_query, of_target = 1000 * len(q_seeds) // q_sketched, 1000 * len(t_seeds) // t_sketched
        shares = max(0, of_query - p["chance_share"]) * max(0, of_target - p["chance_share"])
        asked = min(1000, 1000 * shares // p["typical_shares"])
        asked = asked**2 // 1000
    least = Fraction(p["min_agreement"] * p["typical_agreement"] * asked, 1000)

    def on_strand(position):
        return lengths[1] - k - position if reverse else position

    anchors = sorted((x, on_strand(y)) for x, y in hits)
    t_seeds = [on_strand(y) for y in t_seeds]
    strand = reverse_complement(target) if reverse else target
    score, chain = best_chain(
        anchors, k, p["look_back"], p["max_gap"], p["gap_cost"], p["distance_cost"]
    )  # fmt: skip
    if len(chain) < p["min_seeds"] or score // 256 < p["min_score"]:
        return "few seeds"
    x0, x1, y0, y1 = chain[0][0], chain[-1][0] + k, chain[0][1], chain[-1][1] + k
    if not agrees(chain, k, (x0, x1, y0, y1), q_seeds, t_seeds, q_sketched, t_sketched, least):
        return "disagreement"
    is_sure = len(chain) >= p["sure_seeds"] and score // 256 >= p["sure_score"]
    before, after = missing(chain, k, (x0, x1, y0, y1), lengths, q_seeds, t_seeds, p["reach"])
    q_left, t_left = end_bases(query[:x0][::-1], strand[:y0][::-1], is_sure, before, p)
    q_right, t_right = end_bases(query[x1:], strand[y1:], is_sure, after, p)
    x0, x1, y0, y1 = x0 - q_left, x1 + q_right, y0 - t_left, y1 + t_right
    if not is_sure and (min(x0, y0) > 0 or (x1 < lengths[0] and y1 < lengths[1])):
        return "few seeds"
    if not agrees(chain, k, (x0, x1, y0, y1), q_seeds, t_seeds, q_sketched, t_sketched, least):
        return "disagreement"
    matches = min(covered([x for x, _ in chain], k), covered([y for _, y in chain], k))
    t_start, t_end = (lengths[1] - y1, lengths[1] - y0) if reverse else (y0, y1)
    return x0, x1, t_start, t_end, matches, score // 256, len(chain)
