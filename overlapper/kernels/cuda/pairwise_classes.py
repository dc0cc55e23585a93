"""Which kernel takes which pair for its score and end, by the class that a parcel tells of each pair."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.cpu.pairwise_layout import Scheme
from overlapper.kernels.cpu.pairwise_parcels import Classes
from overlapper.kernels.cuda import pairwise_packed, pairwise_wide

LONGEST = 2**20 - 2
"""Bases of a sequence, at most; the best cell of a pair is found by keys of 20 bits for each."""


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
    if scheme.local and scheme.band < 0 and not scheme.second:
        for bits in (5, 4):
            groups = [Group(*group, bits, False) for group in pairwise_packed.GROUPS if group[1] <= 1 << bits]
            families.append((pairwise_packed.longest_packed(scheme, bits), groups))
    wide = [Group(*group, 0, False) for group in pairwise_wide.GROUPS]
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
        np.where(is_packed, pairwise_packed.LONGEST_TARGET, LONGEST),
        is_packed,
        len(chosen),
    )
    return classes, chosen
