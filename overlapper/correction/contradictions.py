"""Places of unitigs that their reads contradict, mended from these; votes that make unitigs worse, undone.

The definition is in ``docs/algorithms/correction.md``, section 8.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from overlapper.correction.consensus import Consensus
from overlapper.correction.crossings import (
    DEPTH,
    FEWEST,
    STRETCH,
    Compared,
    Crossings,
    Instead,
    shortest_anchor,
)
from overlapper.correction.doubt import Doubt, Reason
from overlapper.correction.packed_reads import pack_reads
from overlapper.correction.pileups import Pileups, Rows
from overlapper.kernels.consensus.layers import Sequences
from overlapper.runtime.threads import map_in_order
from overlapper.tables import Reads

CONTRADICTED = "places that most reads contradict"
"""Name of their count in the funnel."""
SHOWN = 5
"""Places that a warning names."""
WORSE, MORE_EDITS = 1.1, 3
"""What a vote made of a stretch that `FEWEST` reads cross stays, unless less than half of these still do, or
they have more than `WORSE` times their edits, and `MORE_EDITS` more each."""


class Mended:
    """Pileups whose targets are mended where most of their reads contradict them.

    Attributes
    ----------
    pileups : Pileups
        Rows on targets that were mended have the intervals of their chains.
    """

    def __init__(self, given: Pileups, threads: int) -> None:
        self._threads, self._reads = threads, Sequences.of(given.reads)
        self._k = [
            shortest_anchor(given.targets.codes(target), given.typical_divergence)
            for target in range(len(given.targets))
        ]
        self._left: dict[int, Doubt] = {}
        rows = Compared.of(given, DEPTH)

        def examine(target: int) -> Any:
            crossed = self._crossings(given.targets, target, rows, target)
            places = crossed.instead(given.reads)
            return places, None if places else self._edits_before(crossed, given.targets, target)

        examined = list(map_in_order(examine, range(len(given.targets)), threads))
        self._places = [places for places, _ in examined]
        self._before = [before for _, before in examined]
        self.pileups, self._rows = given, rows
        changed = [target for target, places in enumerate(self._places) if places]
        if changed:
            self._mend(given, changed)

    def _crossings(self, targets: Reads, target: int, rows: Compared, number: int) -> Crossings:
        return Crossings(targets, target, self._reads, rows, number, self._k[number])

    def _edits_before(self, crossed: Crossings, targets: Reads, target: int) -> Any:
        length = int(targets.lengths[target])
        return crossed.edits(np.arange(length + 1), -(-length // STRETCH), 0)

    def _mend(self, given: Pileups, changed: list[int]) -> None:
        parts = [with_places(given.targets.codes(t), places) for t, places in enumerate(self._places)]
        targets = pack_reads(
            np.concatenate(parts), np.array([len(part) for part in parts]), None, given.targets.names
        )
        everything = Compared.of(given, len(given.rows))

        def lay(target: int) -> Rows:
            crossed = self._crossings(targets, target, everything, target)
            return crossed.as_rows(given.rows.take(everything.number[crossed.rows]))

        new = list(map_in_order(lay, changed, self._threads))
        rows = [given.rows.take(np.flatnonzero(~np.isin(given.rows.target, changed))), *new]
        self.pileups = dataclasses.replace(given, targets=targets, rows=Rows.concat(rows))
        self._rows = Compared.of(self.pileups, DEPTH)

        def examine(target: int) -> Any:
            return self._edits_before(self._crossings(targets, target, self._rows, target), targets, target)

        for target, before in zip(changed, map_in_order(examine, changed, self._threads), strict=True):
            self._before[target] = before

    def better(self, made: Consensus, first: int) -> Consensus:
        """Undo a vote where reads have more edits than before; of successive targets, from ``first`` on."""
        lengths = np.diff(made.offsets)
        voted = pack_reads(made.codes, lengths, None, [""] * len(made))

        def examine(number: int) -> tuple[np.ndarray, Doubt]:
            target = first + number
            edits, crossed = self._before[target]
            self._before[target] = None
            origin = made.origin[made.offsets[number] : made.offsets[number + 1]].astype(np.int64)
            now = self._crossings(voted, number, self._rows, target)
            behind = self.pileups.targets.lengths[target]
            edits_now, crossed_now = now.edits(np.append(origin, behind), edits.shape[1], STRETCH // 2)
            both = crossed & crossed_now
            before, after = (edits * both).sum(axis=0), (edits_now * both).sum(axis=0)
            rows, had = both.sum(axis=0), crossed.sum(axis=0)
            worse = (after > WORSE * before + MORE_EDITS * rows) | (2 * rows < had)
            *breaks, crossed = now.breaks()
            left = [
                _doubt(target, Reason.CONTRADICTED, *now.places()),
                _doubt(target, np.where(crossed, Reason.BROKEN, Reason.UNCROSSED), *breaks),
            ]
            return np.flatnonzero(worse & (had >= FEWEST)), self._as_given(Doubt.concat(left), origin)

        examined = list(map_in_order(examine, range(len(made)), self._threads))
        self._left |= {target: left for target, (_, left) in enumerate(examined, first)}
        undone = [
            (number, stretch) for number, (worse, _) in enumerate(examined) for stretch in worse.tolist()
        ]
        for number, stretch in reversed(undone):
            made = self._undo(made, number, first + number, stretch)
        return made

    def _undo(self, made: Consensus, number: int, target: int, stretch: int) -> Consensus:
        """Return a consensus with a stretch as it was before."""
        codes = self.pileups.targets.codes(target)[stretch * STRETCH : (stretch + 1) * STRETCH]
        begin, end = made.offsets[number : number + 2].tolist()
        low, high = begin + np.searchsorted(
            made.origin[begin:end], stretch * STRETCH + np.array([0, len(codes)])
        )
        none = np.zeros(len(codes), np.uint8)
        instead = {
            "codes": codes, "quality": none, "depth": none,
            "origin": np.arange(stretch * STRETCH, stretch * STRETCH + len(codes), dtype=np.int32),
        }  # fmt: skip
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(made, name)[:low], values, getattr(made, name)[high:]])
            for name, values in instead.items()
        }
        offsets = made.offsets.copy()
        offsets[number + 1 :] += len(codes) - (high - low)
        return dataclasses.replace(made, offsets=offsets, **columns)

    def doubt(self, first: int, stop: int) -> Doubt:
        """Return what was mended, and what reads contradict after the vote.

        Of targets ``[first, stop)``, on the bases that they have as they were given.
        """
        mended = [
            _doubt(target, Reason.MENDED, *(np.array([one[x]]) for x in (0, 1, 3)))
            for target in range(first, stop)
            for one in self._places[target]
        ]
        return Doubt.concat(
            [Doubt.empty(), *mended, *(self._left.pop(target) for target in range(first, stop))]
        )

    def _as_given(self, doubt: Doubt, origin: np.ndarray) -> Doubt:
        """Return doubt about the consensus of a target, at its bases as it was given."""
        if not len(doubt):
            return doubt
        start, end = (
            self._given(int(doubt.contig[0]), origin[at.clip(0, len(origin) - 1)])
            for at in (doubt.start, doubt.end - 1)
        )
        return dataclasses.replace(doubt, start=start, end=end + 1)

    def as_given(self, made: Consensus, first: int) -> Consensus:
        """Return a consensus with origins on the targets that were given."""
        parts = [
            self._given(first + number, made.origin[begin:end])
            for number, (begin, end) in enumerate(itertools.pairwise(made.offsets.tolist()))
        ]
        return dataclasses.replace(made, origin=np.concatenate(parts).astype(np.int32))

    def _given(self, target: int, origin: np.ndarray) -> np.ndarray:
        """Return the bases of a target as it was given that bases of the mended one stand for."""
        if not self._places[target]:
            return origin
        return _origins(int(self.pileups.targets.lengths[target]), self._places[target])[origin]


def warning(names: Sequence[str], doubt: Doubt) -> list[str]:
    """Return a warning of one line, or none, about places of unitigs that most reads contradict."""
    places = doubt.contradicted()
    if not len(places):
        return []
    named = ", ".join(f"{names[place.contig]} near {place.start:,}" for place in places[:SHOWN])
    more = f" and {len(places) - SHOWN:,} more" if len(places) > SHOWN else ""
    return [f"warning: most reads disagree with {named}{more}"]


def _doubt(
    target: int, reason: int | np.ndarray, start: np.ndarray, end: np.ndarray, reads: np.ndarray
) -> Doubt:
    return Doubt(np.full(len(start), target), start, end, np.broadcast_to(reason, start.shape), reads)


def with_places(values: np.ndarray, places: list[Instead]) -> np.ndarray:
    """Return codes of bases, or something else of each, with stretches replaced."""
    parts, done = [], 0
    for start, end, instead, _ in places:
        parts += [values[done:start], instead]
        done = end
    return np.concatenate([*parts, values[done:]])


def _origins(length: int, places: list[Instead]) -> np.ndarray:
    """Return the given base that each of ``length`` bases stands for, and one behind.

    New bases stand for the first one that they replace.
    """
    parts, done, size = [], 0, 0
    for start, end, instead, _ in places:
        parts += [np.arange(done, start), np.full(len(instead), start)]
        size += start - done + len(instead)
        done = end
    return np.concatenate([*parts, np.arange(done, done + length - size + 1)])
