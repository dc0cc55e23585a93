"""Homopolymer compression, straight from the definition."""

from itertools import groupby


def compress(sequence):
    """The compressed sequence, and where each run starts, and the length."""
    letters, starts, at = [], [], 0
    for letter, run in groupby(sequence):
        letters.append(letter)
        starts.append(at)
        at += len(list(run))
    return "".join(letters), [*starts, at]
