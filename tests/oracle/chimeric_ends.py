"""Chimeras at ends of molecules, as `overlapper.graph.chimeric_ends` defines them, base by base."""

from itertools import groupby


def kept(intervals, length, fewest, clip, ragged):
    """Return the interval that a read keeps, of the half-open intervals that overlaps cover on it."""
    covered = [any(start + clip <= base < end - clip for start, end in intervals) for base in range(length)]
    runs, base = [], 0
    for is_covered, run in groupby(covered):
        size = len(list(run))
        if is_covered:
            runs.append((base - clip, base + size + clip))
        base += size
    longest = sorted(runs, key=lambda run: (run[0] - run[1], run[0]))[:2]
    if len(longest) < 2:
        return 0, length
    (_, before), (after, _) = sorted(longest)
    mirrored = [(-end, -start) for start, end in intervals]
    if not (
        _many_end(intervals, before, fewest, clip, ragged)
        or _many_end(mirrored, -after, fewest, clip, ragged)
    ):
        return 0, length
    return (0, longest[0][1]) if longest[0] < longest[1] else (longest[0][0], length)


def _many_end(intervals, place, fewest, clip, ragged):
    near = [end for start, end in intervals if start <= place - clip < end]
    ending = [end for end in near if abs(end - place) <= ragged]
    return len(ending) >= fewest and 2 * len(ending) >= len(near)
