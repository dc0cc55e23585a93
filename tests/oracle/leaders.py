"""Which reads lead and follow, base by base, from ``docs/algorithms/correction.md``, section 9."""


def widened(row, lengths, most=200):
    """Interval of the target, widened at either end as far as both reads go on; a row is (target, read,
    reverse, t_start, t_end, r_start, r_end).
    """
    target, read, reverse, t_start, t_end, r_start, r_end = row
    before, behind = r_start, lengths[read] - r_end
    if reverse:
        before, behind = behind, before
    return t_start - min(t_start, before, most), t_end + min(lengths[target] - t_end, behind, most)


def leads(lengths, rows):
    """Of each read, whether fewer than five reads before it lie on a base of it."""
    found = []
    for target, length in enumerate(lengths):
        on = [widened(row, lengths) for row in rows if row[0] == target and row[1] < target]
        found.append(any(sum(a <= base < b for a, b in on) < 5 for base in range(length)))
    return found


def follows(lengths, leading, rows):
    """Of each read, whether four rows of leaders lie on each base of it; rows are not widened."""
    return [
        not leading[target]
        and all(
            sum(row[0] == target and row[3] <= base < row[4] for row in rows) >= 4 for base in range(length)
        )
        for target, length in enumerate(lengths)
    ]
