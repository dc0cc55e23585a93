"""The best overlaps of every pair of reads, from the definition."""


def best_of_pair(rows, most):
    """Return the numbers of the rows that are reported, in canonical order.

    ``rows`` are (query, target, reverse, q_start, q_end, t_start, t_end, score); ``most`` is 0 for all.
    """
    reported = []
    for pair in sorted({row[:2] for row in rows}):
        members = [i for i, row in enumerate(rows) if row[:2] == pair]
        members.sort(key=lambda i: (-rows[i][7], rows[i][2], i))
        fresh = [
            i for at, i in enumerate(members) if not any(_is_again(rows[i], rows[j]) for j in members[:at])
        ]
        reported += fresh[:most] if most else fresh
    query, target, reverse, q_start, q_end, t_start, t_end = range(7)
    return sorted(
        reported, key=lambda i: [rows[i][k] for k in (query, target, reverse, q_start, t_start, q_end, t_end)]
    )


def _is_again(row, better):
    """Whether one begins or ends at the bases where the other does."""
    _, _, reverse, q_start, q_end, t_start, t_end, _ = row
    _, _, other_strand, *other, _ = better
    if reverse:
        t_start, t_end = t_end, t_start
        other[2], other[3] = other[3], other[2]
    return reverse == other_strand and (
        (q_start, t_start) == (other[0], other[2]) or (q_end, t_end) == (other[1], other[3])
    )
