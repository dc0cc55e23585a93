"""Internal matches by where overlaps stop, by the definition of `overlapper.extend.stops`, one by one."""

from collections import Counter
from fractions import Fraction
from math import factorial, log

STRETCH = 128


def internal(rows, lengths, max_hang, min_ratio, contained_in_repeats=False):
    """Return for every overlap whether it is an internal match.

    ``rows`` are (query, target, reverse, q_start, q_end, t_start, t_end). Those of reads that lie within a
    repeat are none if ``contained_in_repeats``.
    """
    stops, crossed = [], Counter()
    for row in rows:
        for side in ("left", "right"):
            if hang(row, side, lengths) > max_hang:
                stops += [at(row, side, which) for which in ("query", "target")]
        for read, start, end in ((row[0], row[3], row[4]), (row[1], row[5], row[6])):
            covered = [
                s
                for s in range(lengths[read] // STRETCH + 1)
                if start <= s * STRETCH and (s + 1) * STRETCH <= end
            ]
            crossed.update((read, s) for s in covered if s - 1 in covered and s + 1 in covered)

    depths = sorted(crossed.values())
    typical = depths[(len(depths) - 1) // 2] if depths else 1

    def stops_at(place):
        read, stretch, end = place
        return sum(r == read and e == end and abs(s - stretch) <= 2 for r, s, e in stops)

    def crossings_at(place):
        return crossed[place[:2]]

    def evidence(row, side):
        places = [at(row, side, which) for which in ("query", "target")]
        n = min(map(stops_at, places))
        m = min(stops_at(p) + crossings_at(p) for p in places)
        bad = any(
            stops_at(own) >= 3
            and crossings_at(own) == 0
            and stops_at(other) <= max(2, 2 * typical, 2 * crossings_at(other))
            for own, other in (places, places[::-1])
        )
        rare = any(
            crossings_at(own) < 4
            and 8 * crossings_at(own) <= stops_at(own)
            and 8 * stops_at(other) <= crossings_at(other)
            for own, other in (places, places[::-1])
        )
        return n, m, bad or rare

    stopping = [
        (row, side) for row in rows for side in ("left", "right") if hang(row, side, lengths) > max_hang
    ]
    seen = [n for n, _, alone in (evidence(*stop) for stop in stopping) if not alone]
    sides = [(read, s, end) for read, s in sorted(crossed) for end in (False, True)]
    quiet = sum(stops_at(place) == 0 for place in sides)
    others = log(max(len(sides), 1) / max(quiet, 1))
    least = least_number(seen.count(1), seen.count(2), sum(n >= 3 for n in seen), others)

    whole = [
        max(row[3], row[5], lengths[row[0]] - row[4], lengths[row[1]] - row[6]) <= max_hang for row in rows
    ]
    in_common = 10 * sum(whole) >= len(rows)

    def is_deep(read, start, end):
        depth = [crossed[read, s] for s in range(lengths[read] // STRETCH + 1)]
        within = depth[-(-start // STRETCH) + 1 : max(0, end // STRETCH - 1)]
        if not within or min(within) <= 4 * typical:
            return False
        return 4 * sum(0 < 4 * d < min(within) for d in depth) >= len(depth)

    def is_within_repeat(row):
        sides = [(row[0], row[3], row[4]), (row[1], row[5], row[6])]
        goes_on = [max(start, lengths[read] - end) > max_hang for read, start, end in sides]
        return any(is_deep(*side) for side in sides) and (all(goes_on) or not contained_in_repeats)

    def is_internal(row):
        if in_common:
            return False
        if is_within_repeat(row):
            return True
        match = max(row[4] - row[3], row[6] - row[5])
        hangs = hang(row, "left", lengths) + hang(row, "right", lengths)
        for side in ("left", "right"):
            if hang(row, side, lengths) > max_hang:
                n, m, alone = evidence(row, side)
                short = match < Fraction(str(min_ratio)) * (match + hangs)
                if short if m < 4 else (n >= least and not alone):
                    return True
        return False

    return [is_internal(row) for row in rows]


def least_number(lone, pairs, more, others):
    errors = lone - 2 * max(0, pairs - others * lone)
    if 32 * errors <= more:
        return 1
    return next(n for n in range(2, 1000) if others ** (n - 1) / factorial(n - 1) <= 0.05)


def hang(row, side, lengths):
    query, target, reverse, q_start, q_end, t_start, t_end = row
    q_left, q_right = q_start, lengths[query] - q_end
    t_left, t_right = t_start, lengths[target] - t_end
    if reverse:
        t_left, t_right = t_right, t_left
    return min(q_left, t_left) if side == "left" else min(q_right, t_right)


def at(row, side, which):
    """Return read, stretch, and whether the match stops at its end there."""
    query, target, reverse, q_start, q_end, t_start, t_end = row
    end = side == "right"
    if which == "query":
        return query, (q_end - 1 if end else q_start) // STRETCH, end
    end ^= reverse
    return target, (t_end - 1 if end else t_start) // STRETCH, end
