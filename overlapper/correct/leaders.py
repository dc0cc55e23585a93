"""Leaders: the few reads of a round that all their rows correct, and that correct the reads like them.

Definition: ``docs/algorithms/correction.md``, section 9.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np

from overlapper.correct.pileups import Pileups, Rows
from overlapper.correct.stored_pileups import StoredPileups
from overlapper.kernels.consensus.covered import are_covered
from overlapper.runtime.threads import cut_evenly
from overlapper.tables.base import offsets_of

LED_BELOW = 0.04
"""Error rate of reads as given, below which there are leaders: that of reads that are the same to the last
base once they are corrected (`overlapper.assemble.separation.EXACT_BELOW`)."""
LEADING = 5
"""A read leads where fewer reads before it lie on a base of it."""
FOLLOWING = 4
"""Leaders that a read needs at each base to follow them; with itself, as many as a vote needs."""
_ROWS = 1 << 22
"""Rows that are looked at at a time, about."""


@dataclasses.dataclass(frozen=True, eq=False)
class Roles:
    """What becomes of each read in a round.

    Attributes
    ----------
    leads : ndarray of bool, shape (n,)
    stays : ndarray of bool, shape (n,)
        Of the other reads.
    follows : ndarray of bool, shape (n,)
        Of those that are neither.
    """

    leads: np.ndarray
    stays: np.ndarray
    follows: np.ndarray

    def within(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the numbers of reads ``[start, stop)``: those that lead, stay, follow, and all others."""
        some = [role[start:stop] for role in (self.leads, self.stays, self.follows)]
        some.append(~np.logical_or.reduce(some))
        return tuple(start + np.flatnonzero(role) for role in some)  # type: ignore[return-value]


def leaders_of(pileups: Pileups | StoredPileups) -> np.ndarray:
    """Return which reads lead (bool), by the pileups of all of them."""
    covered = []
    for rows, first, lengths in parts_of(pileups):
        rows = rows.widened(pileups.targets.lengths, pileups.targets.lengths)
        counts = rows.read < rows.target
        covered.append(are_covered(first, rows.t_start, rows.t_end, counts, lengths, LEADING, 0))
    return ~np.concatenate(covered) if covered else np.zeros(0, bool)


def roles_of(leads: np.ndarray, led: Pileups | StoredPileups, settled: np.ndarray) -> Roles:
    """Return the roles of reads, by which lead, the rows of these on others, and which reads are settled."""
    covered = [
        are_covered(first, rows.t_start, rows.t_end, np.ones(len(rows), bool), lengths, FOLLOWING, 0)
        for rows, first, lengths in parts_of(led)
    ]
    stays = ~leads & settled
    return Roles(leads, stays, ~leads & ~stays & np.concatenate([np.zeros(0, bool), *covered]))


def parts_of(pileups: Pileups | StoredPileups) -> Iterator[tuple[Rows, np.ndarray, np.ndarray]]:
    """Yield the rows of some targets at a time, where those of each start, and the lengths of these."""
    rows_of_each = np.diff(pileups.first)
    for start, stop in itertools.pairwise(cut_evenly(rows_of_each, _ROWS).tolist()):
        first = offsets_of(rows_of_each[start:stop])
        yield pileups.rows_on(start, stop), first, pileups.targets.lengths[start:stop]
