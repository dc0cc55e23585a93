"""Li 2016, algorithm 5, one overlap at a time, with the target's letters really put on the query's strand."""

from fractions import Fraction

INTERNAL, DOVETAIL, QUERY_CONTAINED, TARGET_CONTAINED = range(4)


def classify(query_length, target_length, reverse, q_start, q_end, t_start, t_end, max_hang, min_ratio):
    if reverse:
        t_start, t_end = target_length - t_end, target_length - t_start
    query_left, query_right = q_start, query_length - q_end
    target_left, target_right = t_start, target_length - t_end

    hangs = [min(query_left, target_left), min(query_right, target_right)]
    match = max(q_end - q_start, t_end - t_start)
    if max(hangs) > max_hang or match < Fraction(str(min_ratio)) * (match + sum(hangs)):
        return INTERNAL

    query_alone = query_left > target_left or query_right > target_right
    target_alone = target_left > query_left or target_right > query_right
    if query_alone and target_alone:
        return DOVETAIL
    if not query_alone and not target_alone:
        return QUERY_CONTAINED if query_length < target_length else TARGET_CONTAINED
    return TARGET_CONTAINED if query_alone else QUERY_CONTAINED
