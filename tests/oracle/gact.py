"""GACT in plain Python, with whole matrices, as docs/algorithms/gact.md defines it.

Sequences are text on the query's strand; N equals nothing. An alignment is a string of columns, one of
``=XID`` each.
"""

from typing import NamedTuple

NEVER = float("-inf")


class Rule(NamedTuple):
    match: int = 1
    mismatch: int = -1
    gap_open: int = 0
    gap_extend: int = -1
    tile: int = 320
    overlap: int = 120
    min_identity: int = 60
    give_up: int = 1000


class Alignment(NamedTuple):
    q_start: int
    q_end: int
    t_start: int
    t_end: int
    score: int
    columns: str


def align(q, t, q_anchor, t_anchor, rule):
    left = extension(q[:q_anchor][::-1], t[:t_anchor][::-1], rule)[::-1]
    right = extension(q[q_anchor:], t[t_anchor:], rule)
    whole = left + right
    columns = whole.strip("XID")
    if not columns:
        return Alignment(q_anchor, q_anchor, t_anchor, t_anchor, 0, "")
    before = whole[: len(whole) - len(whole.lstrip("XID"))]
    q_start = q_anchor - bases(left, "=XI") + bases(before, "=XI")
    t_start = t_anchor - bases(left, "=XD") + bases(before, "=XD")
    q_end, t_end = q_start + bases(columns, "=XI"), t_start + bases(columns, "=XD")
    return Alignment(q_start, q_end, t_start, t_end, rescore(columns, rule), columns)


def extension(q, t, rule):
    """Columns from the anchor outward: the shortest of the prefixes with the highest gain."""
    columns, i, j = [], 0, 0
    gain = highest = kept = 0
    while i < len(q) and j < len(t) and (not columns or len(columns) - kept < rule.give_up):
        path = tile_path(q[i : i + rule.tile], t[j : j + rule.tile], rule)
        for operation in path:
            columns.append(operation)
            gain += 100 - rule.min_identity if operation == "=" else -rule.min_identity
            if gain > highest:
                highest, kept = gain, len(columns)
        i, j = i + bases(path, "=XI"), j + bases(path, "=XD")
    return "".join(columns[:kept])


def tile_path(q, t, rule):
    """The part of a tile's path that counts."""
    best, insertion, deletion = path_scores(q, t, rule)
    step = rule.tile - rule.overlap
    i = j = 0
    path, gap = "", ""
    while i < len(q) and j < len(t):
        if gap == "I" and insertion[i][j] > best[i][j]:
            operation = "I"
        elif gap == "D" and deletion[i][j] > best[i][j]:
            operation = "D"
        elif i >= step or j >= step:
            break
        elif best[i][j] == best[i + 1][j + 1] + pair_score(q[i], t[j], rule):
            operation = "=" if equal(q[i], t[j]) else "X"
        elif best[i][j] == rule.gap_open + insertion[i][j]:
            operation = "I"
        else:
            operation = "D"
        path += operation
        i, j = i + (operation != "D"), j + (operation != "I")
        gap = operation if rule.gap_open else ""
    return path


def path_scores(q, t, rule):
    """Best score of a path from (i, j) to a far edge: any; going on with an insertion; with a deletion."""
    rows, width = len(q) + 1, len(t) + 1
    best = [[0] * width for _ in range(rows)]
    insertion = [[NEVER] * width for _ in range(rows)]
    deletion = [[NEVER] * width for _ in range(rows)]
    gap_open, gap_extend = rule.gap_open, rule.gap_extend
    for i in reversed(range(len(q))):
        scores = {base: pair_score(q[i], base, rule) for base in set(t)}
        here, above, inserted, inserted_above, deleted = (
            best[i], best[i + 1], insertion[i], insertion[i + 1], deletion[i]
        )  # fmt: skip
        for j in reversed(range(len(t))):
            inserted[j] = gap_extend + max(above[j], inserted_above[j])
            deleted[j] = gap_extend + max(here[j + 1], deleted[j + 1])
            here[j] = max(above[j + 1] + scores[t[j]], gap_open + inserted[j], gap_open + deleted[j])
    return best, insertion, deletion


def rescore(columns, rule):
    score, previous = 0, ""
    for operation in columns:
        if operation == "=":
            score += rule.match
        elif operation == "X":
            score += rule.mismatch
        else:
            score += rule.gap_extend + (rule.gap_open if operation != previous else 0)
        previous = operation
    return score


def full_extension_score(q, t, rule):
    """Highest score of any path from the anchor: one matrix over both whole sequences (Gotoh 1982)."""
    best_of_all = 0
    best = [rule.gap_open + rule.gap_extend * j if j else 0 for j in range(len(t) + 1)]
    insertion = [NEVER] * (len(t) + 1)
    for i in range(len(q)):
        diagonal, best[0] = best[0], rule.gap_open + rule.gap_extend * (i + 1)
        deletion = NEVER
        for j in range(1, len(t) + 1):
            insertion[j] = max(insertion[j], best[j] + rule.gap_open) + rule.gap_extend
            deletion = max(deletion, best[j - 1] + rule.gap_open) + rule.gap_extend
            pair = diagonal + pair_score(q[i], t[j - 1], rule)
            diagonal, best[j] = best[j], max(pair, insertion[j], deletion)
            best_of_all = max(best_of_all, best[j])
    return best_of_all


def pair_score(a, b, rule):
    return rule.match if equal(a, b) else rule.mismatch


def equal(a, b):
    return a == b and a != "N"


def bases(columns, operations):
    return sum(columns.count(operation) for operation in operations)
