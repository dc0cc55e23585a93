"""What of a read is of one place, as `overlapper.assemble.chimeras` defines it, base by base."""

from itertools import groupby


def sound(rows, length, clip, fewest):
    """Return the half-open interval of a read that is of one place.

    ``rows`` are overlaps on it: start, end, and by how many bases the other read goes on before and behind.
    """
    covered = [any(row[0] + clip <= base < row[1] - clip for row in rows) for base in range(length)]
    runs, base = [], 0
    for is_covered, run in groupby(covered):
        size = len(list(run))
        if is_covered:
            runs.append((base, base + size))
        base += size
    longest = sorted(runs, key=lambda run: (run[0] - run[1], run[0]))[:2]
    if len(longest) < 2:
        return 0, length
    (_, before), (after, _) = sorted(longest)
    mirrored = [(-end, -start, behind, ahead) for start, end, ahead, behind in rows]
    if max(stops(rows, before, clip), stops(mirrored, -after, clip)) < fewest:
        return 0, length
    return (0, before) if longest[0] < longest[1] else (after, length)


def stops(rows, furthest, clip):
    """Count the overlaps that end about where the last one before a junction does, and others go on."""
    last = furthest + clip
    return sum(
        start + clip <= furthest and end >= last - 2 * clip and behind >= clip
        for start, end, _, behind in rows
    )
