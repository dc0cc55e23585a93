"""Windows of unitigs, on which reads are laid and vote, and unitigs joined from their consensus."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from overlapper.correction.consensus import Consensus
from overlapper.correction.doubt import Doubt, Reason
from overlapper.correction.own_reads import Windows
from overlapper.correction.packed_reads import pack_reads
from overlapper.correction.windows import windows_of
from overlapper.tables import Reads
from overlapper.tables.growing import GrowingArray
from overlapper.tables.ragged import offsets_of

WINDOW_BASES, MARGIN = 80_000, 4_000


class UnitigWindows:
    """Windows of unitigs, which reads are laid on as if the windows were reads.

    Parameters
    ----------
    sequences : Reads
        The unitigs.
    circular : ndarray of bool
    turned : bool
        Whether the first window of a circular unitig begins in the middle of it. Windows are joined at a base
        that both have alike, or are mended alike: not always where a unitig begins, with what two reads end
        with.

    Attributes
    ----------
    reads : Reads
        The windows.
    unitigs : Reads
    turn : ndarray of int64, shape (unitigs,)
        Where the first window of each begins.
    intervals : Windows
    first, last : ndarray of int64, shape (windows,)
        Bases without margins, half open. Those inserted behind the end of a linear unitig belong to its last
        window.
    """

    def __init__(self, sequences: Reads, circular: np.ndarray, turned: bool = False) -> None:
        self.unitigs, self.turn = sequences, np.where(circular & turned, sequences.lengths // 2, 0)
        bounds = windows_of(sequences.lengths, WINDOW_BASES, MARGIN, circular)
        unitig, turn = bounds.target, self.turn[bounds.target]
        low, high = bounds.start_with_margin + turn, bounds.end_with_margin + turn
        length = sequences.lengths[unitig]
        parts = [np.empty(0, np.uint8)]
        for u, windows in enumerate(itertools.pairwise(np.searchsorted(unitig, range(len(sequences) + 1)))):
            codes = sequences.codes(u)
            for window in range(*windows):
                parts.append(codes.take(np.arange(low[window], high[window]), mode="wrap"))
        self.reads = pack_reads(np.concatenate(parts), high - low, None, [*map(str, range(len(low)))])
        self.intervals = Windows(unitig, low, high, length)
        self.first, self.last = bounds.start + turn - low, bounds.end + turn - low
        self.last += (bounds.end == length) & (bounds.end_with_margin == length)

    def on_windows(self, doubt: Doubt) -> Doubt:
        """Return what is in doubt of unitigs as that of the windows where it begins."""
        before, on = offsets_of(self.unitigs.lengths), self.intervals
        begin = before[on.unitig] + on.start + self.first - self.turn[on.unitig]
        turn = self.turn[doubt.contig]
        place = np.where(turn, (doubt.start - turn) % self.unitigs.lengths[doubt.contig], doubt.start)
        window = np.searchsorted(begin, before[doubt.contig] + place, "right") - 1
        start, end = (at + place + turn - doubt.start - on.start[window] for at in (doubt.start, doubt.end))
        return dataclasses.replace(doubt, contig=window, start=start, end=end)


class Joined:
    """The consensus of unitigs, joined from that of their windows.

    Parameters
    ----------
    windows : UnitigWindows
    doubt : Doubt
        About the unitigs; what was mended of them is taken along.
    """

    def __init__(self, windows: UnitigWindows, doubt: Doubt) -> None:
        self._windows, self._done = windows, 0
        self._lengths = np.zeros(len(windows.unitigs), np.int64)
        self._codes, self._quality = GrowingArray(np.dtype(np.uint8)), GrowingArray(np.dtype(np.uint8))
        self._mended = windows.on_windows(doubt.take(np.flatnonzero(doubt.reason == Reason.MENDED)))
        self._doubt = [Doubt.empty()]

    def add(self, made: Consensus, doubt: Doubt) -> np.ndarray:
        """Append the consensus of the next windows without margins; return a mask of the bases taken.

        With it goes what is in doubt of these windows, at their bases as they were given.
        """
        window = self._done + np.repeat(np.arange(len(made)), np.diff(made.offsets))
        first, last = self._windows.first[window], self._windows.last[window]
        inside: np.ndarray = (made.origin >= first) & (made.origin < last)
        self._locate(made, inside, doubt)
        self._done += len(made)
        unitig = self._windows.intervals.unitig[window[inside]]
        self._lengths += np.bincount(unitig, minlength=len(self._lengths))
        self._codes.append(made.codes[inside])
        self._quality.append(made.quality[inside])
        return inside

    def _locate(self, made: Consensus, inside: np.ndarray, doubt: Doubt) -> None:
        """Keep what is in doubt of the next windows, as bases of all unitigs numbered through."""
        mended = self._mended
        mended = mended.take((mended.contig >= self._done) & (mended.contig < self._done + len(made)))
        doubt = Doubt.concat([mended, doubt])
        first, last = self._windows.first[doubt.contig], self._windows.last[doubt.contig]
        doubt = doubt.take((first <= doubt.start) & (doubt.start < last))
        before = offsets_of(inside) + int(self._lengths.sum())

        def located(places: np.ndarray) -> np.ndarray:
            found = np.zeros(len(doubt), np.int64)
            for row, (window, place) in enumerate(zip(doubt.contig - self._done, places, strict=True)):
                begin, stop = made.offsets[window : window + 2]
                found[row] = before[begin + np.searchsorted(made.origin[begin:stop], place)]
            return found

        unitig = self._windows.intervals.unitig[doubt.contig]
        start, end = located(doubt.start), located(doubt.end)
        self._doubt.append(dataclasses.replace(doubt, contig=unitig, start=start, end=end))

    def taken(self) -> tuple[Reads, Doubt]:
        """Return the unitigs, and what is in doubt of them."""
        windows, offsets, doubt = self._windows, offsets_of(self._lengths), Doubt.concat(self._doubt)
        codes, quality, lengths = self._codes.taken(), self._quality.taken(), self._lengths
        before = offsets[doubt.contig]
        doubt = dataclasses.replace(doubt, start=doubt.start - before, end=doubt.end - before)
        if windows.turn.any():
            first = lengths - windows.turn * lengths // np.maximum(1, windows.unitigs.lengths)
            first = np.where(windows.turn, first, 0)
            for unitig in np.flatnonzero(first).tolist():
                own = slice(*offsets[unitig : unitig + 2].tolist())
                for values in (codes, quality):
                    values[own] = np.roll(values[own], -first[unitig])
            doubt = doubt.turned(first, np.zeros(len(first), np.bool_), lengths)
            doubt = dataclasses.replace(doubt, end=np.minimum(doubt.end, lengths[doubt.contig]))
        return pack_reads(codes, lengths, quality, windows.unitigs.names), doubt
