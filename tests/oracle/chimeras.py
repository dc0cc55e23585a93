"""What of a read is of one place, as `overlapper.assembly.chimeras` defines it, base by base."""

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


def within_molecule(rows, length, clip, ragged, rest, fewest, by_chance):
    """Return the half-open interval of a read that is within one molecule; ``rows`` as `sound` takes them."""
    long = [row for row in rows if row[1] - row[0] >= clip]
    ends = together([end for _, end, _, behind in long if behind <= rest], ragged)
    begins = together([start for start, _, ahead, _ in long if ahead <= rest], ragged)
    joined = (
        min(len(ends), len(begins)) if ends and abs(middle(ends) - middle(begins or [9e9])) <= clip else 0
    )
    mirrored = [(length - end, length - start, behind, ahead) for start, end, ahead, behind in rows]
    kept = [(0, length)]
    for of_read, window, place in (
        (rows, ends, ends and middle(ends)),
        (mirrored, begins, begins and length - middle(begins)),
    ):
        if len(window) < fewest or place >= length - ragged:
            continue
        stop = [
            behind > rest and end - start >= clip and abs(end - place) <= ragged
            for start, end, _, behind in of_read
        ]
        reach = [
            end
            for (start, end, *_), stops_there in zip(of_read, stop, strict=True)
            if start + clip <= place <= end + clip and not stops_there
        ]
        crossing = sum(end - clip >= place for end in reach)
        if 2 * len(window) >= len(reach) if not crossing else joined > crossing:
            goes_on = any(end > place + clip for _, end, *_ in of_read)
            part = (0, place) if 2 * place >= length or not goes_on else (place, length)
            kept.append(part if of_read is not mirrored else (length - part[1], length - part[0]))
    begin, behind = common(kept)
    stops = together([end for _, end, _, behind in long if behind > rest and end < length - ragged], ragged)
    if goes_on_elsewhere(rows, stops, length, clip, ragged, fewest, by_chance):
        place = middle(stops)
        on_both_sides = any(end > place + clip for _, end, *_ in rows)
        kept.append((0, place) if 2 * place >= length or not on_both_sides else (place, length))
        begin, behind = common(kept)
    starts = together([start for start, _, ahead, _ in long if ahead > rest and start > ragged], ragged)
    if goes_on_elsewhere(rows, starts, length, clip, ragged, fewest, by_chance):
        place = middle(starts)
        on_both_sides = any(start < place - clip for start, *_ in rows)
        if not on_both_sides or begin + clip <= place <= behind - clip:
            kept.append((place, length) if 2 * place <= length or not on_both_sides else (0, place))
    begin, behind = common(kept)
    return (begin, behind) if begin < behind else (0, length)


def common(parts):
    """Return what all parts have."""
    return max(start for start, _ in parts), min(end for _, end in parts)


def goes_on_elsewhere(rows, window, length, clip, ragged, fewest, by_chance):
    """Return whether so many overlaps end at a place, and so few cross it."""
    if len(window) < by_chance:
        return False
    before = max(middle(window) - clip, ragged)
    behind = min(middle(window) + clip, length - ragged)
    crossing = sum(start <= before and end >= behind for start, end, *_ in rows)
    return crossing < fewest and by_chance * max(crossing, 1) <= len(window)


def together(places, ragged):
    """Return the most of the places that lie within a window of ``ragged`` bases, of equals the first."""
    windows = [[place for place in sorted(places) if last - ragged <= place <= last] for last in places]
    return max(windows, key=lambda window: (len(window), -window[-1]), default=[])


def middle(places):
    """Return the middle one of places in order, the first of two."""
    return places[(len(places) - 1) // 2]
