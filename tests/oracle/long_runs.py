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
