"""CIGARs taken off overlaps while these are sorted and filtered, and put back once, at the end.

CIGARs take nearly all memory of overlaps that have them: gigabytes for a bacterium.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from overlapper.kernels.common.cigars import put_cigars
from overlapper.runtime.threads import for_each
from overlapper.tables import Overlaps
from overlapper.tables.ragged import offsets_of


def without_cigars(overlaps: Overlaps) -> Overlaps:
    """Return the overlaps without CIGARs."""
    return dataclasses.replace(overlaps, cigar=None, cigar_offsets=None)


def with_cigars(
    overlaps: Overlaps,
    parts: Sequence[Overlaps],
    rows: np.ndarray,
    *,
    swapped: np.ndarray | None = None,
    threads: int = 1,
) -> Overlaps:
    """Put the CIGARs of their original rows back on overlaps, if these have any.

    Parameters
    ----------
    overlaps : Overlaps
        Without CIGARs.
    parts : sequence of Overlaps
        The original rows.
    rows : ndarray of int64, shape (n,)
        The original row of each overlap, counted through all parts; none twice.
    swapped : ndarray of bool, shape (n,), optional
        Whether query and target have changed places since.
    """
    if not parts or any(part.cigar is None for part in parts):
        return overlaps
    runs = np.concatenate([np.diff(np.asarray(part.cigar_offsets)) for part in parts])
    offsets = offsets_of(runs[rows])
    places = np.full(len(runs), -1)
    places[rows] = offsets[:-1]
    exchange = np.zeros(len(runs), bool)
    if swapped is not None:
        exchange[rows] = swapped
    cigar = np.empty(offsets[-1], np.uint32)
    bounds = np.cumsum([0, *map(len, parts)])

    def put(number: int) -> None:
        part, some = parts[number], slice(bounds[number], bounds[number + 1])
        put_cigars(part.cigar, part.cigar_offsets, places[some], exchange[some], part.reverse, cigar)

    for_each(put, range(len(parts)), threads)
    return dataclasses.replace(overlaps, cigar=cigar, cigar_offsets=offsets)
