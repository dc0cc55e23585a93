"""Extension of chains other than by edit paths, straight from docs/algorithms/mapping.md.

Every function takes the read as turned to the strand that matches, the reference sequence, a chain of
``(x, y, length)`` and the parameters by name, and returns the interval on both and the columns.
"""

from tests.oracle import gact, pairwise, xdrop


def room(bases):
    return bases + bases // 4 + 32


def window(query, target, chain, carried_on):
    """Interval of the target."""
    (x, y, _), (last_x, last_y, length) = chain[0], chain[-1]
    end = last_y + length + carried_on(len(query) - last_x - length)
    return max(0, y - carried_on(x)), min(len(target), end)


def band(chain, q_start, q_end, t_start, t_end):
    corners = (0, (t_end - t_start) - (q_end - q_start))
    diagonals = [(y - t_start) - (x - q_start) for x, y, _ in chain]
    stray = max(0, min(corners) - min(diagonals), max(diagonals) - max(corners))
    stops = [q_start, *(x + length for x, _, length in chain)]
    starts = [*(x for x, _, _ in chain), q_end]
    bare = max(0, *(start - stop for start, stop in zip(starts, stops, strict=True)))
    width = 64
    while width < 32 + bare // 8 + stray:
        width *= 2
    return width


def align(query, target, chain, interval, p, *, local=False, free=False):
    q_start, q_end, t_start, t_end = interval
    rule = pairwise.Rule(
        pairwise.simple_matrix(p["match"], p["mismatch"], p["mismatch"]), p["gap_open"], p["gap_extend"],
        local, (False, False, free, free), band(chain, *interval),
    )  # fmt: skip
    found = pairwise.align(query[q_start:q_end], target[t_start:t_end], rule)
    letters = found.columns
    before = letters[: len(letters) - len(letters.lstrip("ID"))]
    after = letters[len(letters.rstrip("ID")) :] if letters.strip("ID") else ""
    return (
        q_start + found.q_start + before.count("I"), q_start + found.q_end - after.count("I"),
        t_start + found.t_start + before.count("D"), t_start + found.t_end - after.count("D"),
    ), letters.strip("ID")  # fmt: skip


def globally(query, target, chain, p):
    reach = window(query, target, chain, lambda bases: bases)
    return align(query, target, chain, (0, len(query), *reach), p)


def semi_globally(query, target, chain, p):
    return align(query, target, chain, (0, len(query), *window(query, target, chain, room)), p, free=True)


def locally(query, target, chain, p):
    return align(query, target, chain, (0, len(query), *window(query, target, chain, room)), p, local=True)


def seed(query, target, chain):
    """First base of the seed on both, and the length of its anchor."""
    last = len(chain) - 1
    best = min(range(len(chain)), key=lambda i: (-chain[i][2], abs(2 * i - last), i))
    x, y, length = chain[best]
    x, y = x + length // 2, y + length // 2
    return (x, y, length) if query[x] == target[y] else (x + 1, y + 1, length)


def blast_extension(query, target, start, p):
    """Score, query bases and target bases."""
    h, insertion, deletion = {(0, 0): start}, {}, {}
    best = (start, 0, 0)
    for j in range(len(target) + 1):
        for i in range(len(query) + 1):
            ways = []
            if (i - 1, j - 1) in h:
                same = query[i - 1] == target[j - 1] and query[i - 1] != "N"
                ways.append(h[i - 1, j - 1] + (p["match"] if same else p["mismatch"]))
            for gaps, before in ((insertion, (i - 1, j)), (deletion, (i, j - 1))):
                opened = h.get(before, 0) + p["gap_open"] if before in h else 0
                value = max(opened, gaps.get(before, 0)) + p["gap_extend"]
                if value > 0:
                    gaps[i, j] = value
                    ways.append(value)
            if ways and max(ways) > 0:
                h[i, j] = max(ways)
                if h[i, j] > best[0]:
                    best = (h[i, j], i, j)
    return best


def blast(query, target, chain, p):
    first, last = window(query, target, chain, room)
    x, y, length = seed(query, target, chain)
    score, q_before, t_before = blast_extension(
        query[:x][::-1], target[first:y][::-1], p["match"] * length, p
    )
    _, q_after, t_after = blast_extension(query[x + 1 :], target[y + 1 : last], score, p)
    return align(query, target, chain, (x - q_before, x + 1 + q_after, y - t_before, y + 1 + t_after), p)


def by_xdrop(query, target, chain, p):
    first, last = window(query, target, chain, room)
    x, y, _ = seed(query, target, chain)
    (_, q_before, t_before), (_, q_after, t_after) = xdrop.extend_seed(
        query, target[first:last], False, x, y - first, 1, *p["xdrop"]
    )
    return align(query, target, chain, (x - q_before, x + 1 + q_after, y - t_before, y + 1 + t_after), p)


def by_gact(query, target, chain, p):
    first, last = window(query, target, chain, room)
    x, y, _ = seed(query, target, chain)
    q_start, q_end, t_start, t_end, _, letters = gact.align(
        query, target[first:last], x, y - first, p["gact"]
    )
    return (q_start, q_end, first + t_start, first + t_end), letters


EXTENDERS = {
    "global": globally,
    "semi-global": semi_globally,
    "local": locally,
    "blast": blast,
    "xdrop": by_xdrop,
    "gact": by_gact,
}
