"""Base modifications of reads (tags MM, ML and MN), as the SAM tags specification defines them.

MM lists, for each kind of modification, how many bases of its letter are passed over before each one that is
called, from the first base of the read as it was sequenced; N is any base. ML has a value of each call and
code. MN has the length of the read.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Self

import numpy as np

from overlapper.io.tags import MODIFICATIONS, value_of, without

_KIND = re.compile(rb"([ACGTUN])[-+](?:([0-9]+)|([A-Za-z]+))[.?]?")
_ANY = ord("N")
_CODES = {letter: code for code, letter in enumerate(b"ACGT")} | {ord("U"): 3}


class Calls(NamedTuple):
    """The calls of one kind of modification on a read."""

    kind: bytes
    """Such as ``C+m?``."""
    places: np.ndarray
    """int64, shape (n,); bases that are called, ascending."""
    values: np.ndarray
    """uint8, shape (n, codes); of each code; no columns where the read has no ML."""

    def moved(self, to: np.ndarray) -> Self:
        """Return the calls on another read, given where each base is there; -1 drops those on it."""
        places = to[self.places]
        stay = np.flatnonzero(places >= 0)
        return self._replace(places=places[stay], values=self.values[stay])


def calls_of(tags: bytes, codes: np.ndarray) -> list[Calls] | None:
    """Return the calls of a read; None where there are none, or they do not fit its bases.

    Parameters
    ----------
    codes : ndarray of uint8
        Its bases.
    """
    text, listed = value_of(tags, b"MM"), value_of(tags, b"ML")
    if text is None:
        return None
    values = None if listed is None else np.array(listed.split(b",")[1:], np.int64)
    found, taken = [], 0
    for part in text.split(b";")[:-1]:
        kind, *skips = part.split(b",")
        if not (match := _KIND.fullmatch(kind)):
            return None
        width = 0 if values is None else 1 if match[2] else len(match[3])
        same = _same(kind, codes)
        which = np.cumsum(np.array(skips, np.int64) + 1) - 1
        size = width * len(which)
        if (len(which) and which[-1] >= len(same)) or (values is not None and taken + size > len(values)):
            return None
        own = np.empty(0) if values is None else values[taken : taken + size]
        found.append(Calls(kind, same[which], own.astype(np.uint8).reshape(len(which), width)))
        taken += size
    return found


def with_calls(tags: bytes, calls: list[Calls], codes: np.ndarray) -> bytes:
    """Return the tags of a read of these bases with these calls in place of those that they had."""
    parts, values = [], []
    for kind, places, own in calls:
        which = np.searchsorted(_same(kind, codes), places)
        skips = np.diff(which, prepend=-1) - 1
        parts.append(b",".join([kind, *(b"%d" % skip for skip in skips.tolist())]) + b";")
        values += own.reshape(-1).tolist()
    listed = b",".join([b"ML:B:C", *(b"%d" % value for value in values)])
    made = [b"MM:Z:" + b"".join(parts), *([listed] if value_of(tags, b"ML") is not None else [])]
    others = without(tags, MODIFICATIONS)
    return b"\t".join([*([others] if others else []), *made, b"MN:i:%d" % len(codes)])


def _same(kind: bytes, codes: np.ndarray) -> np.ndarray:
    """Return the places of the bases that a kind of modification counts."""
    return np.arange(len(codes)) if kind[0] == _ANY else np.flatnonzero(codes == _CODES[kind[0]])
