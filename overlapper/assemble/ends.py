"""Trimming of ends of contigs: adapters, and what too few reads have for their errors to be corrected.

Reads that end with a molecule agree in an adapter as in the bases before it, so it is laid out with them.

Reads taper off at the end of a contig, and what one or two of them have there is true as often as reads are.
So the ends of accurate reads stay; of those that err more, one can hold more errors than all that lies
between. Where contigs are of corrected reads, these say which bases were confirmed; polished contigs do.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from overlapper.correct.uncovered import intervals_of
from overlapper.sketch.adapters import END, SEEN, inward_ends
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of

ERRORS = 5
"""Bases of an adapter for each edit, at least: by chance one of 500 ends has one of 14 bases so, and less
than one of 10,000 ends one of 28."""


class CutOff(NamedTuple):
    """Bases that were cut off ends of contigs.

    Attributes
    ----------
    adapters : int
        Of adapters, and what was outside of them.
    errors : int
        That too few reads have for their errors to be corrected.
    """

    adapters: int
    errors: int


def without_adapters(sequences: Reads, adapters: Sequence[str], stays: np.ndarray) -> Reads:
    """Return sequences without what `adapter_ends` tells of both ends."""
    return without_ends(sequences, adapter_ends(sequences, adapters, stays))


def adapter_ends(sequences: Reads, adapters: Sequence[str], stays: np.ndarray) -> np.ndarray:
    """Return the bases of adapters at both ends of sequences (shape (n, 2)), and of all outside of them.

    An end has an adapter where it has all of it, with few edits (`ERRORS`), the innermost one if there are
    several, or where they share `SEEN` bases in a row. Of these the innermost ones of the adapter count: what
    it has further inside goes with them, if that is less than `SEEN` bases.

    Parameters
    ----------
    sequences : Reads
    adapters : sequence of str
        Bases, inwards (`overlapper.sketch.adapters`).
    stays
        Of each sequence whether the first end stays, and whether the last one does (shape (n, 2)).
    """
    letters = inward_ends(sequences, np.arange(len(sequences), dtype=np.int32))
    bounds = offsets_of(np.tile(np.minimum(END, sequences.lengths), 2))
    ends = (letters[a:b] for a, b in itertools.pairwise(bounds.tolist()))
    cut = [max((_bases_with(adapter, end) for adapter in adapters), default=0) for end in ends]
    return _allowed(np.reshape(cut, (2, -1)).T, sequences.lengths, stays)


def without_ends(sequences: Reads, cut: np.ndarray) -> Reads:
    """Return sequences without some bases of both ends (shape (n, 2))."""
    if not cut.any():
        return sequences
    return intervals_of(sequences, cut[:, 0], sequences.lengths - cut[:, 1], sequences.names)


def unconfirmed_ends(lengths: np.ndarray, confirmed: np.ndarray, stays: np.ndarray) -> np.ndarray:
    """Return the bases of both ends of contigs (shape (n, 2)) of which most are not confirmed.

    Parameters
    ----------
    lengths : ndarray of int64, shape (n,)
    confirmed : ndarray of bool
        Of each base of all contigs whether enough reads confirm it.
    stays : ndarray of bool, shape (n, 2)
        Of each contig whether the first end stays, and whether the last one does.
    """
    of_contigs = np.split(confirmed, np.cumsum(lengths)[:-1])
    cut = [(_mostly_unconfirmed(one), _mostly_unconfirmed(one[::-1])) for one in of_contigs]
    return _allowed(np.array(cut, np.int64).reshape(-1, 2), lengths, stays)


def _mostly_unconfirmed(confirmed: np.ndarray) -> int:
    """Return how long the shortest end is that has the most unconfirmed bases more than others."""
    more = np.cumsum(np.where(confirmed, -1, 1))
    return int(more.argmax()) + 1 if more.max(initial=0) > 0 else 0


def _allowed(cut: np.ndarray, lengths: np.ndarray, stays: np.ndarray) -> np.ndarray:
    """Return what may be cut off: nothing of ends that stay, nor of a sequence that would lose most."""
    cut = np.where(stays, 0, cut.clip(0))
    cut[2 * cut.sum(axis=1) > lengths] = 0
    return cut


def _bases_with(adapter: str, end: np.ndarray) -> int:
    """Return how many bases of an end, inwards, an adapter takes with all before it; 0 if it is not there."""
    edits = _edits(adapter, end)
    few = np.flatnonzero(ERRORS * edits <= len(adapter))
    if len(few):
        innermost = np.split(few, np.flatnonzero(np.diff(few) > 1) + 1)[-1]
        return int(innermost[edits[innermost].argmin()])
    text = end.tobytes().decode()
    for place in range(len(adapter) - SEEN, -1, -1):
        found = text.rfind(adapter[place : place + SEEN])
        if found >= 0:
            inside = len(adapter) - place - SEEN
            return found + SEEN + (inside if inside < SEEN else 0)
    return 0


def _edits(adapter: str, end: np.ndarray) -> np.ndarray:
    """Return the least edits by which an adapter ends before the first base of an end, and behind each."""
    places = np.arange(len(end) + 1)
    edits = np.zeros(len(end) + 1, np.int64)
    for taken, base in enumerate(adapter.encode(), 1):
        edits = np.append(taken, np.minimum(edits[:-1] + (end != base), edits[1:] + 1))
        edits = np.minimum.accumulate(edits - places) + places  # bases of the end that the adapter lacks
    return edits
