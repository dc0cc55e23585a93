"""Scores of overlaps by known placements, pair by pair; ``overlapper/evaluation/overlaps.py`` defines them.

A truth row is (read, ref, start, end, strand, kind); an overlap is (query, query length, query start, query
end, strand, target, target start, target end). ``circles`` gives the length of each circular reference.
"""

from itertools import combinations


def placed_reads(truth):
    rows = {}
    for row in truth:
        if row[1] != "*":
            rows.setdefault(row[0], []).append(row)
    return {read: found[0] for read, found in rows.items() if len(found) == 1 and found[0][5] == "normal"}


def meeting(a, b, circles):
    """Return the longest interval that two places share, as (bases, start, end) beside the first one."""
    if a[1] != b[1]:
        return 0, 0, 0
    circle = circles.get(a[1], 0)
    ways = []
    for lap in (-circle, 0, circle):
        start, end = max(a[2], b[2] + lap), min(a[3], b[3] + lap)
        ways.append((max(0, end - start), start, end))
    return max(ways, key=lambda way: way[0])


def percentile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def evaluate(truth, overlaps, minimum, circles):
    places = placed_reads(truth)
    true_pairs = {
        frozenset(pair)
        for pair in combinations(places, 2)
        if meeting(places[pair[0]], places[pair[1]], circles)[0] >= minimum
    }
    longest = {}
    for overlap in overlaps:
        pair = frozenset((overlap[0], overlap[5]))
        span = max(overlap[3] - overlap[2], overlap[7] - overlap[6])
        if len(pair) == 2 and (pair not in longest or span > longest[pair][0]):
            longest[pair] = span, overlap

    claimed = correct = strand_errors = unjudged = 0
    errors = []
    for span, (query, length, q_start, q_end, strand, target, _, _) in longest.values():
        if span < minimum:
            continue
        if query not in places or target not in places:
            unjudged += 1
            continue
        claimed += 1
        q, t = places[query], places[target]
        shared, start, end = meeting(q, t, circles)
        if shared < span / 2:
            continue
        if (q[4] == t[4]) != (strand == "+"):
            strand_errors += 1
            continue
        correct += 1
        scale = length / (q[3] - q[2])
        before, through = (start - q[2], end - q[2]) if q[4] == "+" else (q[3] - end, q[3] - start)
        errors += [abs(before * scale - q_start), abs(through * scale - q_end)]
    return {
        "overlaps": len(overlaps),
        "reported_pairs": len(longest),
        "unjudged_pairs": unjudged,
        "true_pairs": len(true_pairs),
        "found": len(true_pairs & set(longest)),
        "claimed": claimed,
        "correct": correct,
        "strand_errors": strand_errors,
        "end_error": percentile(errors, 0.5) if errors else None,
        "end_error_p95": percentile(errors, 0.95) if errors else None,
    }
