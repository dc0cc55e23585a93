"""Reads with long runs cut short, straight from the definition (`overlapper.sketch.long_runs`)."""

from itertools import groupby


def cut(sequence, longest):
    """The cut sequence, and the place in the sequence of each of its bases, and of its end.

    A base behind a run that was cut lies behind the whole run, and so does the end.
    """
    letters, places, at = [], [0], 0
    for letter, run in groupby(sequence):
        count = len(list(run))
        kept = count if "N" in sequence else min(count, longest)
        letters += [letter] * kept
        places += [*range(at + 1, at + kept), at + count]
        at += count
    return "".join(letters), places


def part(sequence, start, end, longest):
    """Where the cut part lies on the cut sequence; None where both its ends lie within one run."""
    at = placed = 0
    found = []
    for _, run in groupby(sequence):
        count = len(list(run))
        kept = min(count, longest)
        if at <= start < at + count and start < end <= at + count:
            return None
        if at <= start < at + count:
            found.append(placed + kept - min(at + count - start, kept))
        if at < end <= at + count:
            found.append(placed + min(end - at, kept))
        at += count
        placed += kept
    return tuple(found)
