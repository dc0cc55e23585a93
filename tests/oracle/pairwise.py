"""Pairwise alignment in plain Python, with whole matrices, as docs/algorithms/pairwise.md defines it."""

from typing import NamedTuple

NEVER = float("-inf")
LETTERS = "ACGTN"


class Rule(NamedTuple):
    """``free``: of query start, query end, target start, target end; ``band`` None is the whole matrix."""

    matrix: tuple
    gap_open: int
    gap_extend: int
    local: bool = False
    free: tuple = (False, False, False, False)
    band: int | None = None


class Alignment(NamedTuple):
    score: int
    q_start: int
    q_end: int
    t_start: int
    t_end: int
    columns: str


def simple_matrix(match, mismatch, unknown):
    return tuple(
        tuple(unknown if "N" in (a, b) else match if a == b else mismatch for b in LETTERS) for a in LETTERS
    )


def align(q, t, rule):
    h, insertion, deletion = matrices(q, t, rule)
    i, j = end_cell(h, rule)
    start_i, start_j, columns = path(q, t, h, insertion, deletion, i, j, rule)
    return Alignment(h[i][j], start_i, i, start_j, j, columns)


def matrices(q, t, rule):
    n, m = len(q), len(t)
    h, insertion, deletion = ([[NEVER] * (m + 1) for _ in range(n + 1)] for _ in range(3))
    q_start, _, t_start, _ = rule.free
    for i in range(n + 1):
        for j in range(m + 1):
            if not in_band(i, j, n, m, rule):
                continue
            if i == 0 or j == 0:
                free = rule.local or (q_start if i else t_start)
                h[i][j] = 0 if free or i + j == 0 else rule.gap_open + (i + j) * rule.gap_extend
                continue
            insertion[i][j] = rule.gap_extend + max(h[i - 1][j] + rule.gap_open, insertion[i - 1][j])
            deletion[i][j] = rule.gap_extend + max(h[i][j - 1] + rule.gap_open, deletion[i][j - 1])
            h[i][j] = max(
                h[i - 1][j - 1] + pair(q[i - 1], t[j - 1], rule),
                insertion[i][j],
                deletion[i][j],
                0 if rule.local else NEVER,
            )
    return h, insertion, deletion


def in_band(i, j, n, m, rule):
    return rule.band is None or min(0, m - n) - rule.band <= j - i <= max(0, m - n) + rule.band


def end_cell(h, rule):
    n, m = len(h) - 1, len(h[0]) - 1
    _, q_end, _, t_end = rule.free
    cells = [
        (-h[i][j], j, i)
        for i in range(n + 1)
        for j in range(m + 1)
        if rule.local or (i == n and j == m) or (q_end and j == m and i) or (t_end and i == n and j)
    ]
    _, j, i = min(cells)
    return i, j


def path(q, t, h, insertion, deletion, i, j, rule):
    """Return where the path to (i, j) begins, and its columns in order."""
    q_start, _, t_start, _ = rule.free
    columns, gap = "", ""
    while i and j and not (rule.local and not gap and h[i][j] == 0):
        if not gap:
            if h[i][j] == h[i - 1][j - 1] + pair(q[i - 1], t[j - 1], rule):
                columns += "=" if q[i - 1] == t[j - 1] != "N" else "X"
                i, j = i - 1, j - 1
            else:
                gap = "I" if h[i][j] == insertion[i][j] else "D"
        elif gap == "I":
            i, columns = i - 1, columns + "I"
            if h[i][j] + rule.gap_open >= insertion[i][j]:
                gap = ""
        else:
            j, columns = j - 1, columns + "D"
            if h[i][j] + rule.gap_open >= deletion[i][j]:
                gap = ""
    if not rule.local:
        if i and not q_start:
            i, columns = 0, columns + "I" * i
        if j and not t_start:
            j, columns = 0, columns + "D" * j
    return i, j, columns[::-1]


def rescore(q, t, columns, rule):
    """The score of columns that take all of two sequences."""
    score, i, j, previous = 0, 0, 0, ""
    for column in columns:
        if column in "=X":
            assert (column == "=") == (q[i] == t[j] != "N")
            score += pair(q[i], t[j], rule)
        else:
            score += rule.gap_extend + (rule.gap_open if column != previous else 0)
        i, j, previous = i + (column != "D"), j + (column != "I"), column
    assert (i, j) == (len(q), len(t))
    return score


def orient(sequence, flags):
    if flags & 1:
        sequence = sequence[::-1]
    return sequence.translate(str.maketrans("ACGT", "TGCA")) if flags & 2 else sequence


def pair(a, b, rule):
    return rule.matrix[LETTERS.index(a)][LETTERS.index(b)]
