"""Overlaps of one copy and of several, by the definition of `overlapper.extend.copies`, one by one."""

LACKING, SHORTEST_RUN = 4, 3


def in_run(row, difference, reads):
    """Tell whether a difference is a base more or fewer in a run."""
    q_place, q_other, t_place, t_other = difference
    for read, place, other in ((row[0], q_place, q_other), (row[1], t_place, t_other)):
        if other == LACKING and len(set(reads[read][place : place + SHORTEST_RUN])) == 1:
            return len(reads[read]) - place >= SHORTEST_RUN
    return False


def tell(rows, differences, reads):
    """Return for each overlap the differences that count, and whether it may join reads of one copy.

    ``rows`` are (query, target, q_start, q_end, t_start, t_end); ``differences`` lists of
    (q_place, q_other, t_place, t_other), None for too many; ``reads`` their bases.
    """
    differences = [
        None if of_row is None else [one for one in of_row if not in_run(row, one, reads)]
        for row, of_row in zip(rows, differences, strict=True)
    ]
    compared = [row for row in range(len(rows)) if differences[row] is not None]
    # A difference is (overlap, number, read, place, other), once for either read.
    seen = []
    for row in compared:
        for number, (q_place, q_other, t_place, t_other) in enumerate(differences[row]):
            seen.append((row, number, rows[row][0], q_place, q_other))
            seen.append((row, number, rows[row][1], t_place, t_other))

    def again(one):
        return len({other[0] for other in seen if other[2:] == one[2:]}) > 1

    failed = {one[:2] for one in seen if not again(one)}
    counting = {one[:2] for one in seen} - failed
    while True:
        gone = {
            one[:2]
            for one in seen
            if one[:2] in counting and not confirmed(one, seen, counting, rows, compared)
        }
        if not gone:
            break
        counting -= gone
    result = []
    for row in range(len(rows)):
        if differences[row] is None:
            result.append((0, False))
            continue
        mine = sum(which == row for which, _ in counting)
        result.append((mine, mine == 0))
    return result


def confirmed(one, seen, counting, rows, compared):
    _, _, read, place, _ = one
    elsewhere, here = {}, {}
    for row in compared:
        query, target, q_start, q_end, t_start, t_end = rows[row]
        start, end = (q_start, q_end) if read == query else (t_start, t_end)
        if read in (query, target) and start <= place < end:
            mine = [d for d in seen if d[0] == row and d[2] == read and d[:2] in counting]
            here[row] = sum(d[3] == place for d in mine)
            elsewhere[row] = len(mine) - here[row]
    if len(elsewhere) < 2:
        return False
    second = sorted(elsewhere.values())[1]
    return sum(elsewhere[row] <= second and here[row] == 0 for row in elsewhere) > 1
