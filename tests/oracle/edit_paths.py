"""Shortest edit paths by the full matrix; the definition is in ``overlapper/kernels/common/edit_paths.py``.

Sequences are lists of codes; codes above 3 equal nothing.
"""


def costs(target, read):
    """D[i][j] of all prefixes."""
    table = [list(range(len(read) + 1))]
    for i, base in enumerate(target, 1):
        above, row, cost = table[-1], [i], i
        for j, other in enumerate(read):
            gap = (cost if cost < above[j + 1] else above[j + 1]) + 1
            cost = above[j] + (base != other or base > 3)
            if gap < cost:
                cost = gap
            row.append(cost)
        table.append(row)
    return table


def edit_path(target, read):
    """How many bases of the read come before each base of the target."""
    table = costs(target, read)
    starts = [0] * len(target)
    i, j = len(target), len(read)
    while i > 0:
        if table[i - 1][j] == table[i][j] - 1:
            i -= 1
            starts[i] = j
        elif j > 0 and table[i][j - 1] == table[i - 1][j - 1] - 1:
            j -= 1
        else:
            i, j = i - 1, j - 1
            starts[i] = j
    return starts


def reach(pattern, text):
    """How many first bases of the text are closest to the whole pattern; of equals, the fewest."""
    if not pattern or not text:
        return 0
    last = costs(pattern, text)[-1]
    return last.index(min(last))
