"""Edit paths between reads by full matrices, by the definition of `overlapper.extend.differences`."""

LACKING, EXTRA = 4, 5
SUBSTITUTION, TARGET_ALONE, QUERY_ALONE = "substitution", "target alone", "query alone"


def distances(one, other):
    """Return ``D``: the edits between prefixes of two sequences."""
    table = [list(range(len(other) + 1))]
    for i, base in enumerate(one, 1):
        row = [i]
        for j, there in enumerate(other, 1):
            row.append(min(table[-1][j] + 1, row[-1] + 1, table[-1][j - 1] + (base != there)))
        table.append(row)
    return table


def path(one, other, most):
    """Return the edits of a path, last first, as (kind, bases of one before it, bases of other before it)."""
    table = distances(one, other)
    m, n = len(one), len(other)
    if table[m][n] > most:
        return None

    def furthest(s, d):
        if abs(d) > s:
            return None
        within = [i for i in range(max(0, -d), min(m, n - d) + 1) if table[i][i + d] <= s]
        return max(within, default=None)

    edits, s, d = [], table[m][n], n - m
    while s:
        entries = []
        for kind, source, more in ((SUBSTITUTION, d, 1), (TARGET_ALONE, d - 1, 0), (QUERY_ALONE, d + 1, 1)):
            before = furthest(s - 1, source)
            if before is not None:
                entries.append((before + more, kind, before, source))
        _, kind, before, source = max(entries, key=lambda entry: entry[0])
        edits.append((kind, before, before + source))
        s, d = s - 1, source
    return edits


def reversed_complement(bases):
    return [3 - base for base in reversed(bases)]


def differences(query, target, row, most):
    """Return (place, other) of query and target for each edit, last first; None for more than ``most``.

    ``row`` is (reverse, q_start, q_end, t_start, t_end); reads are lists of codes on their forward strands.
    """
    reverse, q_start, q_end, t_start, t_end = row
    piece = target[t_start:t_end]
    edits = path(query[q_start:q_end], reversed_complement(piece) if reverse else piece, most)
    if edits is None:
        return None
    found = []
    for kind, i, j in edits:
        x, y = q_start + i, t_end - 1 - j if reverse else t_start + j
        before_y = y + 1 if reverse else y
        if kind == SUBSTITUTION:
            base, there = query[x], target[y]
            found.append((x, 3 - there if reverse else there, y, 3 - base if reverse else base))
        elif kind == QUERY_ALONE:
            base = query[x]
            on_target = 3 - base if reverse else base
            found.append(
                (
                    run_start(query, x, base),
                    LACKING,
                    run_start(target, before_y, on_target),
                    EXTRA + on_target,
                )
            )
        else:
            base = target[y]
            on_query = 3 - base if reverse else base
            found.append(
                (run_start(query, x, on_query), EXTRA + on_query, run_start(target, y, base), LACKING)
            )
    return found


def run_start(read, place, base):
    while place and read[place - 1] == base:
        place -= 1
    return place
