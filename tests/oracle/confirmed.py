"""Confirmed reads, and which overlaps of the others count, from their definitions.

Overlaps are ``(query, target, reverse, q_start, q_end, t_start, t_end)`` and reach the ends of one read on
either side of them; reads have ``lengths``.
"""

import math

ENDS = (0, 1)
"""Left and right end of a read's forward strand."""


def sides(overlaps):
    """Yield each overlap from both reads: read, start, end, the other read."""
    for q, t, _, qs, qe, ts, te in overlaps:
        yield q, qs, qe, t
        yield t, ts, te, q


def confirmed(overlaps, lengths, depth, clip):
    def is_confirmed(read):
        of_read = [(s + clip, e - clip) for r, s, e, _ in sides(overlaps) if r == read]
        inside = range(clip, lengths[read] - clip)
        return len(inside) > 0 and all(sum(s <= x < e for s, e in of_read) >= depth for x in inside)

    return [depth == 0 or is_confirmed(read) for read in range(len(lengths))]


def inner_and_outer(overlap, lengths):
    """Return the contained read and the one that contains it, or None; the shorter one of two that agree."""
    q, t, _, qs, qe, ts, te = overlap
    query_whole, target_whole = qe - qs == lengths[q], te - ts == lengths[t]
    if query_whole and target_whole:
        return (q, t) if lengths[q] < lengths[t] else (t, q)
    return (q, t) if query_whole else (t, q) if target_whole else None


def joined_ends(overlap, lengths):
    """Return the two read ends that a dovetail joins."""
    q, t, _, qs, _, ts, _ = overlap
    return (q, int(qs > 0)), (t, int(ts > 0))


def containments_that_count(overlaps, lengths, confirmed, least):
    """Return, for every overlap, whether it is a containment that counts."""
    pairs = [inner_and_outer(overlap, lengths) for overlap in overlaps]
    containers = {read: {o for i, o in filter(None, pairs) if i == read} for read in range(len(lengths))}
    standing = {
        read for read, outer in containers.items() if confirmed[read] and not any(confirmed[o] for o in outer)
    }
    free = standing | {read for read, outer in containers.items() if not outer}

    def ways(read, to):
        """Return the ends of a read from which a dovetail leads to one of others."""
        found = set()
        for overlap, contained in zip(overlaps, pairs, strict=True):
            bases = min(overlap[4] - overlap[3], overlap[6] - overlap[5])
            if contained is None and bases >= min(least[overlap[0]], least[overlap[1]]):
                one, other = joined_ends(overlap, lengths)
                for here, there in ((one, other), (other, one)):
                    if here[0] == read and there[0] in to:
                        found.add(here[1])
        return found

    def is_wanted(read, end):
        """Return whether a read that contains this one goes on there, and leads on, or this one does not."""
        for (q, t, reverse, qs, qe, ts, te), contained in zip(overlaps, pairs, strict=True):
            if contained is None or contained[0] != read:
                continue
            # Stored coordinates of the target are those of its own strand.
            start, stop, outer = (ts, te, t) if read == q else (qs, qe, q)
            beyond = lengths[outer] - stop if end ^ bool(reverse) else start
            if beyond and (ways(outer, set(range(len(lengths)))) or end not in ways(read, free)):
                return True
        return False

    wanted = {read: {end for end in ENDS if is_wanted(read, end)} for read in standing}
    while falling := {read for read in standing if wanted[read] - ways(read, standing)}:
        standing -= falling
    return [
        p is not None and not (p[0] in standing and confirmed[p[0]] and not confirmed[p[1]]) for p in pairs
    ]


def dovetails_that_count(dovetails, lengths, confirmed, min_overlap):
    """Return, for every dovetail, whether it counts."""

    def grade(overlap):
        needed = min(min_overlap, *(math.ceil(lengths[read] / 3) for read in overlap[:2]))
        if min(overlap[4] - overlap[3], overlap[6] - overlap[5]) < needed:
            return 3
        return (not confirmed[overlap[0]]) + (not confirmed[overlap[1]])

    best = {}
    for overlap in dovetails:
        for end in joined_ends(overlap, lengths):
            best[end] = min(best.get(end, 3), grade(overlap))
    return [all(grade(o) <= best[end] for end in joined_ends(o, lengths)) for o in dovetails]
