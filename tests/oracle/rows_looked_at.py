"""Rows of a window from which those that vote are chosen (``docs/algorithms/correction.md``, section 1)."""

import math

STRETCH, MOST = 256, 1600


def nearest_divergence(divergences):
    """Divergence of the nearest tenth of the rows of a read; NaN where there is none, or it is unknown."""
    ascending = sorted(d for d in divergences if not math.isnan(d))
    ascending += [math.nan] * (len(divergences) - len(ascending))
    return ascending[len(ascending) // 10] if ascending else math.nan


def within_depth(rows, order, depth):
    """Rows (start, end) that are taken in some order, while a stretch of each has fewer than ``depth``."""
    on_stretch, taken = {}, [False] * len(rows)
    for number in order:
        start, end = rows[number]
        touched = [on_stretch.get(s, 0) for s in range(start // STRETCH, (end - 1) // STRETCH + 1)]
        if min(touched) < depth and max(touched) < MOST:
            taken[number] = True
            for s in range(start // STRETCH, (end - 1) // STRETCH + 1):
                on_stretch[s] = on_stretch.get(s, 0) + 1
    return taken


def looked_at(rows, excess, depth):
    """Rows that are looked at, given in the order in which they vote; ``excess`` of each, or NaN."""
    known = [number for number in range(len(rows)) if not math.isnan(excess[number])]
    unknown = [number for number in range(len(rows)) if math.isnan(excess[number])]
    nearest_first = sorted(known, key=lambda number: (excess[number], number))
    return within_depth(rows, nearest_first + unknown, 4 * depth)


def kept(rows, excess, depth):
    """Rows that are kept on a window, and whether those that vote are still to be chosen from them."""
    near = looked_at(rows, excess, depth)
    some = [number for number in range(len(rows)) if near[number]]
    voting = within_depth([rows[number] for number in some], range(len(some)), depth)
    return some, not all(voting)


def voting(rows, same, depth, leads):
    """Numbers of the rows that vote, of those that were looked at; ``same`` is whether each is kept.

    On a leader all rows vote where none was left out.
    """
    some = [number for number in range(len(rows)) if same[number]]
    if leads and all(same):
        return some
    taken = within_depth([rows[number] for number in some], range(len(some)), depth)
    return [number for number, votes in zip(some, taken, strict=True) if votes]
