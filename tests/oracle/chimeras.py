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


def within_molecule(rows, length, clip, ragged, rest, fewest):
    """Return the half-open interval of a read that is within one molecule; ``rows`` as `sound` takes them."""
    mirrored = [(length - end, length - start, behind, ahead) for start, end, ahead, behind in rows]
    kept = [(0, length)]
    for of_read, turned in ((rows, False), (mirrored, True)):
        place = molecule_end(of_read, clip, ragged, rest, fewest)
        if place is None or not 0 <= place < length - ragged:
            continue
        goes_on = any(end > place + clip for _, end, _, _ in of_read)
        longer = 2 * place >= length
        part = (0, place) if longer or not goes_on else (place, length)
        kept.append((length - part[1], length - part[0]) if turned else part)
    begin, behind = max(start for start, _ in kept), min(end for _, end in kept)
    return (begin, behind) if begin < behind else (0, length)


def molecule_end(rows, clip, ragged, rest, fewest):
    """Return the place where most reads end with their overlaps, if a molecule ends there."""
    ends = sorted(end for _, end, _, behind in rows if behind <= rest)
    windows = [[end for end in ends if last - ragged <= end <= last] for last in ends]
    if not windows or max(map(len, windows)) < fewest:
        return None
    best = max(windows, key=lambda window: (len(window), -window[-1]))
    place = best[(len(best) - 1) // 2]
    reach = [end for start, end, _, _ in rows if start + clip <= place <= end + clip]
    crossing = sum(end - clip >= place for end in reach)
    begin = sum(ahead <= rest and abs(start - place) <= ragged for start, _, ahead, _ in rows)
    is_end = 2 * len(best) >= len(reach) if not crossing else min(len(best), begin) > crossing
    return place if is_end else None
