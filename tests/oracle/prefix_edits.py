"""Edit distance of prefixes by the full matrix, and shared k-mers one by one."""


def row_minima(one, other, row):
    """Return the least edit distance of the first ``row`` and of all bases of one to any prefix of other."""
    above = list(range(len(other) + 1))
    at_row = None
    for i, base in enumerate(one, start=1):
        current = [i]
        for j, match in enumerate(other, start=1):
            current.append(min(above[j] + 1, current[j - 1] + 1, above[j - 1] + (base != match)))
        above = current
        if i == row:
            at_row = min(above)
    return at_row, min(above)


def shared_kmers(one, other, skip, length, k):
    """Return how many of the k-mers of one that lie in ``[skip, skip + length)`` other has anywhere."""
    among = [other[j : j + k] for j in range(len(other) - k + 1)]
    return sum(one[i : i + k] in among for i in range(skip, skip + length - k + 1))
