"""Trimming of ends of contigs: adapters, and what too few reads cover for polishing or correction.

Reads that end with a molecule agree in an adapter as in the bases before it, so it is laid out with them.

Where few reads cover an end, a contig has the bases of one read, or of two or three that disagree: two such
ends can hold more errors than all that lies between.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from overlapper.assemble.agreement import AGREED
from overlapper.correct.uncovered import intervals_of
from overlapper.sketch.adapters import END, inward_ends
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of

REACH = 5_000
"""Bases of an end that are examined; at most half of the sequence."""
WORSE, HARMLESS = 10, 0.001
"""Ends may have an error rate of this many times that of the contig, or up to this rate in any case."""
SEEN = 12
"""Bases in a row of an adapter that tell it: by chance one of 2,000 ends shares so many with one of 60."""
ERRORS = 5
"""Bases of an adapter for each edit, at least: by chance one of 500 ends has one of 14 bases so, and less
than one of 10,000 ends one of 28."""


def without_adapters(sequences: Reads, adapters: Sequence[str], stays: np.ndarray) -> Reads:
    """Cut adapters off the ends of sequences, with all that is outside of them.

    An end has an adapter where it has all of it, with few edits (`ERRORS`), the innermost one if there are
    several, or where they share `SEEN` bases in a row. Of these the innermost ones of the adapter count: what
    it has further inside goes with them, if that is less than `SEEN` bases.

    Parameters
    ----------
    sequences : Reads
    adapters : sequence of str
        Bases, inwards (`overlapper.sketch.adapters`).
    stays
        As `without_error_prone_ends` takes them.
    """
    letters = inward_ends(sequences, np.arange(len(sequences), dtype=np.int32))
    bounds = offsets_of(np.tile(np.minimum(END, sequences.lengths), 2))
    ends = (letters[a:b] for a, b in itertools.pairwise(bounds.tolist()))
    cut = [max((_bases_with(adapter, end) for adapter in adapters), default=0) for end in ends]
    return _cut_off(sequences, np.where(stays, 0, np.reshape(cut, (2, -1)).T))


def without_error_prone_ends(sequences: Reads, stays: np.ndarray) -> Reads:
    """Cut off both ends of sequences where their error probability is far above that of the rest.

    As in Mott's trimming, every base weighs a limit less the probability that it is wrong, which is 1 where
    no vote was taken. What is cut off is the shortest end that weighs least, if that is below 0. The limit is
    `WORSE` times the mean of the bases that were voted on, and at least `HARMLESS`. Where both ends are more
    than half of a sequence, it is not its ends that are wrong, and it stays as it is.

    Parameters
    ----------
    sequences : Reads
        With qualities, which are 0 where no vote was taken.
    stays : ndarray of bool, shape (n, 2)
        Of each sequence whether the first end stays, and whether the last one does.
    """
    cut = np.zeros((len(sequences), 2), np.int64)
    for number in range(len(sequences)):
        quality = sequences.qualities_of(number)
        if quality is None or not quality.any():
            continue
        wrong = 10.0 ** (-0.1 * quality)
        limit = max(WORSE * float(wrong[quality > 0].mean()), HARMLESS)
        reach = min(REACH, len(wrong) // 2)
        cut[number] = _error_prone(wrong[:reach], limit), _error_prone(wrong[::-1][:reach], limit)
    return _cut_off(sequences, np.where(stays, 0, cut))


def without_shallow_ends(sequences: Reads, stays: np.ndarray) -> Reads:
    """Cut off both ends of sequences laid out by exact overlaps, where few reads agree.

    There they are as they were given. Of `REACH` bases of each end those go before the first that enough
    reads agree in (`overlapper.assemble.agreement`). Where both ends are more than half of a sequence, it
    stays as it is.

    Parameters
    ----------
    sequences, stays
        As `without_error_prone_ends` takes them.
    """
    cut = np.zeros((len(sequences), 2), np.int64)
    for number in range(len(sequences)):
        quality = sequences.qualities_of(number)
        assert quality is not None
        agreed = quality >= AGREED
        cut[number] = [
            end.argmax() if end.any() else len(end) for end in (agreed[:REACH], agreed[::-1][:REACH])
        ]
    return _cut_off(sequences, np.where(stays, 0, cut))


def _cut_off(sequences: Reads, cut: np.ndarray) -> Reads:
    """Cut bases off either end of sequences (shape (n, 2)); a sequence that would lose most stays whole."""
    cut[2 * cut.sum(axis=1) > sequences.lengths] = 0
    if not cut.any():
        return sequences
    return intervals_of(sequences, cut[:, 0], sequences.lengths - cut[:, 1], sequences.names)


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


def _error_prone(wrong: np.ndarray, limit: float) -> int:
    """Return how many bases of an end to cut off, given the error probability of each."""
    weight = np.concatenate([[0.0], np.cumsum(limit - wrong)])
    return int(np.argmin(weight))
