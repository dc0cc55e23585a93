"""Leaders: a few reads that the first round corrects by all overlapping reads, and then others by these.

Definition: ``docs/algorithms/correction.md``, section 9.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.correction.pileup_source import PileupSource, RowsOfTargets, rows_in_parts
from overlapper.kernels.consensus.covered import are_covered
from overlapper.runtime.threads import map_in_order

LED_BELOW = 0.04
"""Error rate of the given reads below which leaders are used: corrected reads of one copy are then equal to
the last base (`overlapper.assembly.separation.EXACT_BELOW`)."""
WAVES = 3
"""Times that leaders are chosen, each time among the reads that do not follow those chosen before."""
LEADING = 5
"""A read leads in the first wave if any base of it is covered by fewer reads before it, in canonical order;
in the second wave if by fewer than twice as many, and so on."""
FOLLOWING = 4
"""A read follows if this many leaders cover each base of it; with itself, as many as a vote needs."""
ANY = 1 << 31
"""More rows than lie on a base: no number of other rows is too many."""


@dataclasses.dataclass(frozen=True, eq=False)
class Roles:
    """How each read is corrected: as a leader, by leaders, or else by all its rows."""

    leads: np.ndarray
    """bool, shape (n,)."""
    follows: np.ndarray
    """bool, shape (n,); reads that follow leaders, and do not lead."""

    def within(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the numbers of the reads ``[start, stop)`` that lead, that follow, and that do neither."""
        leads, follows = self.leads[start:stop], self.follows[start:stop]
        some = (start + np.flatnonzero(role) for role in (leads, follows, ~leads & ~follows))
        return tuple(some)  # type: ignore[return-value]


def leaders_of(pileups: PileupSource, roles: Roles, wave: int, threads: int) -> np.ndarray:
    """Return the numbers of the leaders of a wave, ascending.

    Parameters
    ----------
    pileups : PileupSource
        All reads on all reads.
    roles : Roles
        Of the waves before.
    wave : int
        From 1 on.
    threads : int
        Changes nothing but the time.
    """
    of_all, undecided = pileups.targets.lengths, ~roles.leads & ~roles.follows

    def are_led(part: RowsOfTargets) -> np.ndarray:
        rows, first, lengths = part
        rows = rows.widened(of_all, of_all)
        counts = roles.leads[rows.read] | (undecided[rows.read] & (rows.read < rows.target))
        return are_covered(first, rows.t_start, rows.t_end, counts, lengths, wave * LEADING, ANY)

    led = map_in_order(are_led, rows_in_parts(pileups), threads)
    return np.flatnonzero(undecided & ~np.concatenate([np.zeros(0, bool), *led]))


def roles_of(leading: np.ndarray, of_leaders: PileupSource, threads: int) -> Roles:
    """Return the roles of all reads.

    Parameters
    ----------
    leading : ndarray of int64
        Numbers of the leaders.
    of_leaders : PileupSource
        Leaders on the reads that are like them.
    threads : int
        Changes nothing but the time.
    """
    leads = np.zeros(len(of_leaders.targets), bool)
    leads[leading] = True

    def are_led(part: RowsOfTargets) -> np.ndarray:
        rows, first, lengths = part
        every = np.ones(len(rows), bool)
        return are_covered(first, rows.t_start, rows.t_end, every, lengths, FOLLOWING, ANY)

    led = map_in_order(are_led, rows_in_parts(of_leaders), threads)
    return Roles(leads, ~leads & np.concatenate([np.zeros(0, bool), *led]))
