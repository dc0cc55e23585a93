"""Windows of targets, and their margins."""

import numpy as np

from overlapper.correction.windows import windows_of


def bounds(lengths, circular):
    made = windows_of(np.array(lengths), 100, 20, np.array(circular))
    columns = (made.target, made.start_with_margin, made.start, made.end, made.end_with_margin)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_neighbours_share_margins_and_those_of_circles_reach_around():
    assert bounds([200, 200], [False, True]) == [
        (0, 0, 0, 100, 120), (0, 80, 100, 200, 200),
        (1, -20, 0, 100, 120), (1, 80, 100, 200, 220),
    ]  # fmt: skip


def test_margins_of_short_targets_are_a_quarter_of_them():
    assert bounds([40, 40, 3], [False, True, True]) == [
        (0, 0, 0, 40, 40),
        (1, -10, 0, 40, 50),
        (2, 0, 0, 3, 3),
    ]
