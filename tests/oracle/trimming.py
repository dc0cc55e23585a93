"""Pileup-ups base by base, and alignments cut pair by pair."""


def covered(intervals, length, min_depth):
    """Return the two longest runs that ``min_depth`` intervals cover, of equals the leftmost first."""
    depth = [sum(start <= base < end for start, end in intervals) for base in range(length)]
    runs, start = [], None
    for base in range(length + 1):
        enough = base < length and depth[base] >= min_depth
        if enough and start is None:
            start = base
        if not enough and start is not None:
            runs.append((start, base))
            start = None
    runs = sorted(runs, key=lambda run: (run[0] - run[1], run[0]))
    return [*runs, (0, 0), (0, 0)][:2]


def grown(intervals, low, high, reach):
    while low < high:
        reaching = [(s, e) for s, e in intervals if min(e, high) - max(s, low) >= reach]
        new = min([low, *(s for s, _ in reaching)]), max([high, *(e for _, e in reaching)])
        if new == (low, high):
            break
        low, high = new
    return low, high


def opposed_ends(overlaps, lengths, low, high, hang):
    """Overlaps are ``(query, target, reverse, q_start, q_end, t_start, t_end)``."""
    opposed = [[False, False] for _ in lengths]
    for q, t, reverse, qs, qe, ts, te in overlaps:
        for read, start, end, other, other_start, other_end in (
            (q, qs, qe, t, ts, te),
            (t, ts, te, q, qs, qe),
        ):
            other_left, other_right = other_start, lengths[other] - other_end
            if reverse:
                other_left, other_right = other_right, other_left
            opposed[read][0] |= start < low[read] or low[read] - (start - other_left) > hang
            opposed[read][1] |= end > high[read] or (end + other_right) - high[read] > hang
    return opposed


def shadowed(overlaps):
    def span(row):
        return row[4] - row[3] + row[6] - row[5]

    def halves(row, other, start, end):
        shared = min(row[end], other[end]) - max(row[start], other[start])
        return 2 * shared > row[end] - row[start]

    def diagonals(row):
        _, _, reverse, q_start, q_end, t_start, t_end = row
        return (q_start + t_end, q_end + t_start) if reverse else (q_start - t_start, q_end - t_end)

    def near(row, other):
        apart = min(abs(a - b) for a, b in zip(diagonals(row), diagonals(other), strict=True))
        return apart <= min(row[4] - row[3], row[6] - row[5]) / 10

    return [
        any(
            row[:3] == other[:3]
            and (-span(other), j) < (-span(row), i)
            and halves(row, other, 3, 4)
            and halves(row, other, 5, 6)
            and near(row, other)
            for j, other in enumerate(overlaps)
        )
        for i, row in enumerate(overlaps)
    ]


def pairs_of_bases(reverse, q_start, t_start, t_end, cigar):
    """Return the aligned pairs of positions, on forward strands; ``cigar`` is ``[(size, letter)]``."""
    q, t, found = q_start, 0, []
    for size, letter in cigar:
        for _ in range(size):
            if letter in "M=X":
                found.append((q, t_end - 1 - t if reverse else t_start + t))
            q += letter != "D"
            t += letter != "I"
    return found


def cut_aligned(reverse, q_start, t_start, t_end, cigar, q_low, q_high, t_low, t_high):
    """Return the intervals from the first to the last pair of bases inside both bounds; zeros for none."""
    pairs = pairs_of_bases(reverse, q_start, t_start, t_end, cigar)
    inside = [(q, t) for q, t in pairs if q_low <= q < q_high and t_low <= t < t_high]
    if not inside:
        return (0, 0, 0, 0)
    on_target = [t for _, t in inside]
    return inside[0][0], inside[-1][0] + 1, min(on_target), max(on_target) + 1


def palindromes(overlaps, junctions):
    """Count, for every read, the others that match both sides of its junction with the same bases."""
    votes = [0] * len(junctions)
    for read, junction in enumerate(junctions):
        if junction < 0:
            continue
        for other in range(len(junctions)):
            sides = []
            for q, t, reverse, qs, qe, ts, te in overlaps:
                if (q, t) == (read, other):
                    sides.append((reverse, qs, qe, ts, te))
                if (t, q) == (read, other):
                    sides.append((reverse, ts, te, qs, qe))
            votes[read] += any(
                left[0] != right[0]
                and (left[1] + left[2]) / 2 <= junction <= (right[1] + right[2]) / 2
                and 2 * (min(left[4], right[4]) - max(left[3], right[3]))
                > min(left[4] - left[3], right[4] - right[3])
                for left in sides
                for right in sides
            )
    return votes
