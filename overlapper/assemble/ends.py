"""Trimming of ends of contigs: adapters, and what is often wrong, as noisy reads disagree or are too few.

Reads that end with a molecule agree in an adapter as in the bases before it, so it is laid out with them.

Reads taper off at the end of a molecule, and what one of them has there is true as often as reads are. So the
ends of accurate reads stay, however few they are; of those that err more, two can hold more errors than all
that lies between.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from overlapper.correct.uncovered import intervals_of
from overlapper.sketch.adapters import END, SEEN, inward_ends
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of

REACH = 5_000
"""Bases of an end that are examined; at most half of the sequence."""
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


def without_error_prone_ends(
    sequences: Reads, stays: np.ndarray, error_rate: float, most_errors: float
) -> Reads:
    """Cut off both ends of sequences where they are expected to err too often.

    As in Mott's trimming, every base weighs the errors a base that are allowed, less the probability that it
    is wrong: where too few reads confirm it, that of a base of a read. What is cut off is the shortest end
    that weighs least, if that is below 0. Where both ends are more than half of a sequence, it is not its
    ends that are wrong, and it stays as it is.

    Parameters
    ----------
    sequences : Reads
        With qualities, which are 0 where too few reads confirm a base.
    stays : ndarray of bool, shape (n, 2)
        Of each sequence whether the first end stays, and whether the last one does.
    error_rate : float
        Of the reads.
    most_errors : float
        Errors a base that an end may have; 1 cuts nothing off.
    """
    cut = np.zeros((len(sequences), 2), np.int64)
    for number in range(len(sequences)):
        quality = sequences.qualities_of(number)
        if quality is None or not quality.any():
            continue
        wrong = np.where(quality, 10.0 ** (-0.1 * quality), error_rate)
        reach = min(REACH, len(wrong) // 2)
        cut[number] = _error_prone(wrong[:reach], most_errors), _error_prone(wrong[::-1][:reach], most_errors)
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
