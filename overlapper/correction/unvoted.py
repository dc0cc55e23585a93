"""The warning about bases that many reads cover but too few confirm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from overlapper.correction.consensus import Consensus
from overlapper.correction.doubt import LOW_QUALITY
from overlapper.correction.pileups import Pileups
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import UNKNOWN

WELL_COVERED = 10
"""Reads on a base that should have been enough to confirm it."""
UNVOTED = f"bases not confirmed under {WELL_COVERED} reads or more"
"""Name of their count in the funnel."""


def unvoted(pileups: Pileups, made: Consensus, first: int = 0) -> np.ndarray:
    """Return the bases of a consensus that had no vote although `WELL_COVERED` rows or more lie on them.

    Parameters
    ----------
    pileups : Pileups
    made : Consensus
        Of all targets of the pileups, or of successive ones.
    first : int
        Number of the first of these targets.

    Returns
    -------
    ndarray of int64
        Their numbers among all bases of the consensus, ascending.
    """
    bases = np.flatnonzero((made.quality == 0) & (made.codes != UNKNOWN))
    if not len(bases):
        return bases
    stop = first + len(made)
    rows, lengths = pileups.rows_on(first, stop), pileups.targets.lengths[first:stop]
    begin = offsets_of(lengths)
    target = np.searchsorted(made.offsets, bases, "right") - 1
    place = begin[target] + np.minimum(made.origin[bases], lengths[target] - 1)
    starts, ends = (np.sort(begin[rows.target - first] + at) for at in (rows.t_start, rows.t_end))
    depth = np.searchsorted(starts, place, "right") - np.searchsorted(ends, place, "right")
    return bases[depth >= WELL_COVERED]


def warning(facts: Mapping[str, Any]) -> list[str]:
    """Return one line, or none, by the counts of a round: a warning where so many make a low quality.

    Parameters
    ----------
    facts : mapping
        With `UNVOTED` and ``bases``.
    """
    if not facts[UNVOTED]:
        return []
    few = facts[UNVOTED] < facts["bases"] * 10 ** (-0.1 * LOW_QUALITY)
    sort = "" if few else "warning: "
    return [
        f"{sort}{facts[UNVOTED]:,} of {facts['bases']:,} bases are covered by {WELL_COVERED} or more "
        "reads but are not confirmed, because these reads disagree. Their quality is 0 or as before"
    ]
