"""Which bases of corrected reads are wrong, by where the reads come from.

A base is wrong that is another one or one too many; a missing base is the fault of the one before it. Where
an error may stand at several places of a repeat of one base, it stands at the last, where votes put gaps.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import edlib
import numpy as np
from numba import njit

from overlapper.tables.reads import UNKNOWN

ENDS = 100
"""Bases at either end of a read that are not looked at: they may lie beyond the alignment."""
REACH = 200
"""Bases of the reference on either side of a placement that belong to it, perhaps."""
MISPLACED = 0.05
"""Reads with more differences than this are not corrected ones of their place."""
OPERATIONS = "=XID"
INSERTED, DELETED = 2, 3
SAME_PLACE = 15
"""Errors of several reads at most so many bases of the reference apart are one that they share."""


class Differences(NamedTuple):
    """A read beside its place on the reference.

    Attributes
    ----------
    wrong : ndarray of int64, shape (n,)
        Bases that are not true at each base of the read: itself, or more in its homopolymer run.
    missing : ndarray of int64, shape (n + 1,)
        Bases that are missing before each, and at the end.
    inside : ndarray of bool, shape (n,)
        Bases that are looked at.
    position : ndarray of int64, shape (n,)
        About where on the reference each base is.
    """

    wrong: np.ndarray
    missing: np.ndarray
    inside: np.ndarray
    position: np.ndarray

    @property
    def at_fault(self) -> np.ndarray:
        """Which bases are wrong or have one missing behind them."""
        missing = np.concatenate([self.missing[1:-1], [0]])[: len(self.wrong)]
        return (self.wrong + missing > 0) & self.inside


def differences(codes, row, reference):
    """Return the differences of a read, by its row of the truth; None if it is not where it should be.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n,)
    row : TruthRow
    reference : ndarray of uint8
        Codes of the sequence that the row names.
    """
    n = len(codes)
    low, high = max(0, row.start - REACH), min(len(reference), row.end + REACH)
    origin = reference[low:high]
    if row.strand == "-":
        origin = np.ascontiguousarray(3 - origin[::-1])
    path = edlib.align(_text(codes), _text(origin), mode="HW", task="path", k=int(MISPLACED * n))
    if path["editDistance"] < 0:
        return None
    inside = np.zeros(n, bool)
    inside[max(0, row.qstart) + ENDS : max(0, n - max(0, row.read_len - row.qend) - ENDS)] = True
    kinds, lengths = _runs(path["cigar"])
    wrong, missing = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)
    _mark(codes, origin, kinds, lengths, path["locations"][0][0], wrong, missing)
    along = np.linspace(row.start, row.end, n).astype(np.int64)
    return Differences(wrong, missing, inside, along if row.strand == "+" else along[::-1])


def predicted(before, after):
    """Return which bases of a corrected read stand where an unknown base was.

    Parameters
    ----------
    before, after : ndarray of uint8
        Codes of the read, and of the corrected one.
    """
    kinds, lengths = _runs(edlib.align(_text(before), _text(after), task="path")["cigar"])
    there, at = np.zeros(len(after), bool), np.repeat(kinds, lengths)
    i, j = np.cumsum(at != DELETED), np.cumsum(at != INSERTED)
    paired = at < INSERTED
    there[j[paired] - 1] = before[i[paired] - 1] == UNKNOWN
    return there


def _text(codes):
    return np.frombuffer(b"ACGTN", np.uint8)[codes].tobytes().decode()


def _runs(cigar):
    """Return the operations of a path, as in `OPERATIONS`, and how often each is repeated."""
    runs = re.findall(r"(\d+)([=XID])", cigar)
    kinds = np.array([OPERATIONS.index(kind) for _, kind in runs], np.int64)
    return kinds, np.array([int(length) for length, _ in runs], np.int64)


@njit(cache=True)
def _mark(codes, origin, kinds, lengths, j, wrong, missing):
    """Count wrong and missing bases, each as far right as it may stand."""
    i, n = 0, len(codes)
    for run in range(len(kinds)):
        for _ in range(lengths[run]):
            if kinds[run] < 2:
                wrong[i] += kinds[run]
                i, j = i + 1, j + 1
            elif kinds[run] == 2:
                at = i
                while at + 1 < n and codes[at + 1] == codes[at]:
                    at += 1
                wrong[at] += 1
                i += 1
            else:
                at = i
                while at < n and codes[at] == origin[j]:
                    at += 1
                missing[at] += 1
                j += 1


def count_places(positions):
    """Return how many places errors are at, given where on the reference they are."""
    return int(np.count_nonzero(np.diff(np.sort(positions)) > SAME_PLACE)) + (len(positions) > 0)
