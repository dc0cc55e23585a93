"""Which kernel takes which pair for its score and end, by the class that a chunk tells of each pair.

A part of `pairwise`, whose twin is ../pairwise.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.pairwise.pairwise_chunks import Classes
from overlapper.kernels.pairwise.pairwise_layout import Scheme

LONGEST = 2**20 - 2
"""Bases of a sequence, at most; the best cell of a pair is found by keys of 20 bits for each."""
LONGEST_PACKED_TARGET = 2**15 - 1
"""Bases of a target of packed cells, at most: columns are 16-bit numbers, too."""
PACKED_GROUPS = (
    *((lanes, rows) for lanes in (4, 8, 16, 32) for rows in (5, 7, 10, 13, 16, 19, 22, 25)),
    (32, 32),
)
"""Lanes and rows of groups that compute packed cells."""
WIDE_GROUPS = tuple((lanes, rows) for lanes in (8, 16, 32) for rows in (4, 7, 10, 13, 16))
"""The same of wide cells; the flags of 16 rows fill a word. Queries longer than all take stripes of the last
one."""
KEPT = 2
"""Numbers that wait in memory for the next stripe, of a column: H, the insertion."""


class Group(NamedTuple):
    """Threads that compute a pair: ``bits`` name a row of packed cells, 0 stands for wide ones.

    ``stripes`` tells whether queries may have more bases than the group has rows.
    """

    lanes: int
    rows: int
    bits: int
    stripes: bool


def classes_of(scheme: Scheme) -> tuple[Classes, list[Group | None]]:
    """Return the classes of pairs, and the group that computes each; None is the class of empty sequences.

    A pair goes to the group that holds its query in the fewest cells; packed ones come first.
    """
    families: list[tuple[int, list[Group]]] = []
    if scheme.local and scheme.band < 0:
        for bits in (5, 4):
            groups = [Group(*group, bits, False) for group in PACKED_GROUPS if group[1] <= 1 << bits]
            families.append((longest_packed(scheme, bits), groups))
    wide = [Group(*group, 0, False) for group in WIDE_GROUPS]
    families.append((LONGEST, [*wide, wide[-1]._replace(stripes=True)]))

    longest_rows = max(group.lanes * group.rows for _, groups in families for group in groups)
    lengths = np.arange(longest_rows + 2)
    of_length = np.full((len(families), len(lengths)), -1, np.int16)
    chosen: list[Group | None] = [None]
    for row, (_, groups) in zip(of_length, families, strict=True):
        # Of equal areas the one with fewer lanes: it wastes fewer steps.
        by_area = sorted(groups, key=lambda group: (group.stripes, group.lanes * group.rows, group.lanes))
        areas = np.array([group.lanes * group.rows for group in by_area if not group.stripes])
        number = np.searchsorted(areas, lengths)
        held = number < len(by_area)
        row[held] = len(chosen) + number[held]
        chosen += by_area
    is_packed = np.arange(len(families)) < len(families) - 1
    classes = Classes(
        of_length,
        np.array([longest for longest, _ in families]),
        np.where(is_packed, LONGEST_PACKED_TARGET, LONGEST),
        is_packed,
        len(chosen),
    )
    return classes, chosen


def longest_packed(scheme: Scheme, bits: int) -> int:
    """Return how many bases the shorter sequence may have where so many bits name a row; -1 if none."""
    known, scale = scheme.matrix[:, :4], 1 << bits
    highest, lowest = int(known.max()), int(known.min())
    gaps_fit = -(scheme.gap_open + scheme.gap_extend) * scale < 2**14
    if highest * scale > 127 or lowest * scale < -128 or not gaps_fit:
        return -1
    return ((2**15 - 1) // scale - 1) // highest if highest > 0 else LONGEST_PACKED_TARGET
