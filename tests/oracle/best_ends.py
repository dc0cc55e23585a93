"""The best overlaps of every read end, from the definition."""


def ends_reached(row, lengths):
    """Return the ends, as (read, "start" or "end"), that an overlap reaches."""
    query, target, reverse, q_start, q_end, t_start, t_end = row
    q_sides = {"left": (q_start, "start"), "right": (lengths[query] - q_end, "end")}
    t_sides = {"left": (t_start, "start"), "right": (lengths[target] - t_end, "end")}
    if reverse:
        t_sides = {"left": t_sides["right"], "right": t_sides["left"]}
    reached = []
    for side in ("left", "right"):
        q_out, q_name = q_sides[side]
        t_out, t_name = t_sides[side]
        if q_out <= t_out:
            reached.append((query, q_name))
        if t_out <= q_out:
            reached.append((target, t_name))
    return reached


def best(rows, scores, lengths, n):
    """Return for every overlap whether it is among the n best of an end that it reaches."""
    at = {}
    for row, score in zip(rows, scores, strict=True):
        for end in ends_reached(row, lengths):
            at.setdefault(end, []).append(score)
    least = {end: sorted(found, reverse=True)[:n][-1] if len(found) >= n else 0 for end, found in at.items()}
    return [
        any(score >= least[end] for end in ends_reached(row, lengths))
        for row, score in zip(rows, scores, strict=True)
    ]
