"""Shortest edit paths by the full matrix; the definition is in ``overlapper/kernels/cpu/edit_paths.py``.

Sequences are lists of codes; codes above 3 equal nothing.
"""


def costs(target, read):
    """D[i][j] of all prefixes."""
    table = [[i + j for j in range(len(read) + 1)] for i in range(len(target) + 1)]
    for i in range(1, len(target) + 1):
        for j in range(1, len(read) + 1):
            differ = target[i - 1] != read[j - 1] or target[i - 1] > 3
            table[i][j] = min(table[i - 1][j - 1] + differ, table[i - 1][j] + 1, table[i][j - 1] + 1)
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
