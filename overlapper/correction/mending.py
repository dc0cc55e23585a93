"""Contigs that are not polished, mended where reads contradict them that were laid out nowhere.

Reads that are laid out by exact overlaps are the contig, each in its place. So where enough of them agree
nothing can contradict it. Where too few do (quality 0, as `overlapper.assembly.agreement` gives it) those can
that no contig has: each lies on the contig that it fits best. What a place is, what is put in its stead, and
what a break is, is defined as for contigs that are polished (``docs/algorithms/correction.md``, section 8).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from overlapper.correction.contradictions import CONTRADICTED, with_places
from overlapper.correction.crossings import DEPTH, SURE, Compared, Crossings, Instead, shortest_anchor
from overlapper.correction.doubt import Doubt, Reason
from overlapper.correction.own_reads import OwnReads, rows_of_own
from overlapper.correction.packed_reads import pack_reads
from overlapper.correction.pileup_source import PileupSource
from overlapper.correction.pileups import Pileups, Rows
from overlapper.correction.polish import Unitigs, Voted
from overlapper.correction.read_placement import rows_on
from overlapper.correction.rounds import Round
from overlapper.correction.unitig_windows import UnitigWindows
from overlapper.io.arrays import load_arrays, save_arrays
from overlapper.io.artifacts import Artifact
from overlapper.io.read_store import ReadStore
from overlapper.kernels.consensus.layers import Sequences
from overlapper.overlap.presets import ErrorRate
from overlapper.runtime.threads import map_in_order


class _Place(NamedTuple):
    """A place of a unitig: to be mended, or without bases to put there a break."""

    unitig: int
    start: int
    end: int
    codes: np.ndarray | None
    reason: Reason
    reads: int


def mend(unitigs: Unitigs, store: ReadStore, own: OwnReads, rate: ErrorRate, round_: Round) -> Voted:
    """Return unitigs mended, and what was mended or is broken.

    Parameters
    ----------
    unitigs : Unitigs
        With qualities.
    store : ReadStore
        The reads as they were given.
    own : OwnReads
        Where those of the layout lie.
    rate : ErrorRate
        Of the reads.
    round_ : Round
    """

    def write(artifact: Artifact, beside: Path) -> dict[str, Any]:
        weak = _Weak(unitigs)
        windows = UnitigWindows(unitigs.sequences, unitigs.circular)
        some = np.flatnonzero([weak.on(*core) for core in weak.cores(windows)])
        nowhere = np.setdiff1d(np.arange(len(store)), own.read)
        found: list[_Place] = []
        if len(some) and len(nowhere):
            room = round_.resources.room(len(store), unitigs.sequences.total_bases)
            rows = rows_on(
                windows.reads, ReadStore.of(store.take(nowhere).bases_alone()), rate, round_, room, beside
            )
            rows = _best(dataclasses.replace(rows, read=nowhere[rows.read].astype(np.int32)), windows)
            rows = Rows.concat([rows_of_own(own, windows.intervals, store.lengths, rate.value), rows])
            pileups = PileupSource.of_rows(ReadStore.of(windows.reads), store, rows, room, targets_vote=False)
            for block in pileups.blocks(some):
                found += _examined(block.load(), weak, windows, some[block.first :], round_.threads)
        made = _mended(unitigs, found)
        save_arrays(artifact, made)
        return {CONTRADICTED: len(made.doubt)}

    return load_arrays(round_.stages.write("mended", [], write)[0], Voted)


class _Weak:
    """Where too few reads agree, without `SURE` bases at ends of lines."""

    def __init__(self, unitigs: Unitigs) -> None:
        sequences = unitigs.sequences
        self._sums = []
        for unitig, circular in enumerate(unitigs.circular):
            quality = sequences.qualities_of(unitig)
            assert quality is not None
            weak = quality == 0
            if not circular:
                weak[:SURE], weak[len(weak) - min(SURE, len(weak)) :] = False, False
            self._sums.append(np.append(0, np.cumsum(weak)))

    def on(self, unitig: int, start: int, end: int) -> bool:
        """Return whether a base of a stretch is weak, or one next to it."""
        sums = self._sums[unitig]
        low, high = max(start - 1, 0), min(end + 1, len(sums) - 1)
        return bool(sums[high] > sums[low])

    def cores(self, windows: UnitigWindows) -> Iterator[tuple[int, int, int]]:
        """Yield unitig, start and end of each window without margins."""
        on = windows.intervals
        cores = (on.unitig, on.start + windows.first, on.start + windows.last)
        return zip(*(column.tolist() for column in cores), strict=True)


def _best(rows: Rows, windows: UnitigWindows) -> Rows:
    """Return the rows of each read on the unitig of its best one."""
    order = np.lexsort((rows.target, -rows.score, rows.read))
    read, first = np.unique(rows.read[order], return_index=True)
    unitig = windows.intervals.unitig
    best = np.zeros(int(read.max(initial=-1)) + 1, np.int64)
    best[read] = unitig[rows.target[order[first]]]
    return rows.take(np.flatnonzero(unitig[rows.target] == best[rows.read]))


def _examined(
    block: Pileups, weak: _Weak, windows: UnitigWindows, numbers: np.ndarray, threads: int
) -> list[_Place]:
    """Return the places of windows, of these numbers, that their reads contradict where too few agree."""
    rows, reads, cores = Compared.of(block, DEPTH), Sequences.of(block.reads), [*weak.cores(windows)]

    def examine(target: int) -> list[_Place]:
        k = shortest_anchor(block.targets.codes(target), block.typical_divergence)
        crossed = Crossings(block.targets, target, reads, rows, target, k)
        unitig, low, high = cores[numbers[target]]
        before = int(windows.intervals.start[numbers[target]])
        breaks = zip(*(column.tolist() for column in crossed.breaks()), strict=True)
        found = [
            *(_Place(unitig, *one[:3], Reason.MENDED, one.reads) for one in crossed.instead(block.reads)),
            *(
                _Place(unitig, start, end, None, Reason.BROKEN if across else Reason.UNCROSSED, ends)
                for start, end, ends, across in breaks
            ),
        ]
        found = [one._replace(start=one.start + before, end=one.end + before) for one in found]
        return [one for one in found if low <= one.start < high and weak.on(unitig, one.start, one.end)]

    return [*itertools.chain.from_iterable(map_in_order(examine, range(len(block.targets)), threads))]


def _mended(unitigs: Unitigs, found: list[_Place]) -> Voted:
    """Return unitigs with what reads have at places, of quality 0."""
    sequences = unitigs.sequences
    codes, quality, doubt = [np.zeros(0, np.uint8)], [np.zeros(0, np.uint8)], [Doubt.empty()]
    for unitig in range(len(sequences)):
        of_unitig = sorted((one for one in found if one.unitig == unitig), key=lambda one: one.start)
        places, here = list[Instead](), list[_Place]()
        for one in of_unitig:
            done = places[-1].end if places else 0  # places of two windows may be the same
            if one.codes is not None and done <= one.start and one.end <= sequences.lengths[unitig]:
                places.append(Instead(one.start, one.end, one.codes, one.reads))
                here.append(one)
        for one in of_unitig:
            if one.codes is None and not any(at.start <= one.end and one.start <= at.end for at in places):
                here.append(one)  # what was mended is no break
        here.sort(key=lambda one: one.start)
        none = [place._replace(codes=np.zeros(len(place.codes), np.uint8)) for place in places]
        codes.append(with_places(sequences.codes(unitig), places))
        given = sequences.qualities_of(unitig)
        assert given is not None
        quality.append(with_places(given, none))
        longer = 0
        for one in here:
            size = one.end - one.start if one.codes is None else len(one.codes)
            row = (unitig, one.start + longer, one.start + longer + max(size, 1), one.reason, one.reads)
            doubt.append(Doubt(*(np.array([value]) for value in row)))
            longer += size - (one.end - one.start)
    lengths = np.array([len(part) for part in codes[1:]], np.int64)
    made = pack_reads(np.concatenate(codes), lengths, np.concatenate(quality), sequences.names)
    return Voted(Unitigs(made, unitigs.circular), Doubt.concat(doubt))
