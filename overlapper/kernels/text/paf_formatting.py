"""Overlaps as PAF text: rows of numbers in, bytes out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.runtime.compile.cache import njit
from overlapper.tables.cigars import OPERATIONS

ROW_BYTES = 256
"""No row is longer than this, but for its names and its CIGAR."""
OPERATION_BYTES = 10
"""Nor is an operation of a CIGAR: 28 bits of length and a letter."""


def text_bytes(text: bytes) -> np.ndarray:
    """Return text as an array, for `put`."""
    return np.frombuffer(text, np.uint8)


_BEST, _FURTHER = text_bytes(b"\ttp:A:P"), text_bytes(b"\ttp:A:S")
_SEEDS = text_bytes(b"\tcm:i:")
_CHAIN_SCORE = text_bytes(b"\ts1:i:")
_CHAIN_DIVERGENCE = text_bytes(b"\tdv:f:")
_SCORE = text_bytes(b"\tAS:i:")
_EDITS = text_bytes(b"\tNM:i:")
_DIVERGENCE = text_bytes(b"\tde:f:")
_CLASS = text_bytes(b"\tcl:A:")
_COPY_DIFFERENCES = text_bytes(b"\tcd:i:")
_CIGAR = text_bytes(b"\tcg:Z:")
_NO_MAPPING_QUALITY = text_bytes(b"\t255")
_CLASS_LETTERS = text_bytes(b"idqt")
"""By `overlapper.tables.OverlapClass`."""
_OPERATIONS = text_bytes(OPERATIONS.encode())
_TAB, _NEWLINE, _PLUS, _MINUS, _ZERO, _POINT = 9, 10, 43, 45, 48, 46


class Names(NamedTuple):
    """Names and lengths, columns of `overlapper.tables.Reads`."""

    name_bytes: np.ndarray
    name_offsets: np.ndarray
    lengths: np.ndarray


class Rows(NamedTuple):
    """Columns of `overlapper.tables.Overlaps`; what a table does not have is empty."""

    query: np.ndarray
    target: np.ndarray
    reverse: np.ndarray
    q_start: np.ndarray
    q_end: np.ndarray
    t_start: np.ndarray
    t_end: np.ndarray
    matches: np.ndarray
    block_length: np.ndarray
    score: np.ndarray
    seeds: np.ndarray
    divergence: np.ndarray
    kind: np.ndarray
    edits: np.ndarray
    copy_differences: np.ndarray
    secondary: np.ndarray
    cigar: np.ndarray
    cigar_offsets: np.ndarray


@njit(nogil=True, cache=True)
def format_paf(rows, names, start, stop, out):
    """Write rows ``[start, stop)`` as lines of PAF.

    Parameters
    ----------
    rows : Rows
    names : Names
    start, stop : int
    out : ndarray of uint8
        Room for the lines: `ROW_BYTES` each, the names, and `OPERATION_BYTES` an operation.

    Returns
    -------
    int
        Bytes written.
    """
    at = np.int64(0)  # a literal would have what it is handed to compiled for it, too
    aligned = len(rows.edits) > 0
    marked = len(rows.secondary) > 0
    for row in range(start, stop):
        at = put_interval_of_read(out, at, rows.query[row], rows.q_start[row], rows.q_end[row], names)
        at = put_strand(out, at, rows.reverse[row])
        at = put_interval_of_read(out, at, rows.target[row], rows.t_start[row], rows.t_end[row], names)
        at = put_number(out, at, rows.matches[row])
        at = put_number(out, at, rows.block_length[row])
        at = put(out, at, _NO_MAPPING_QUALITY)
        further = rows.secondary[row] if marked else not _is_best_of_pair(rows, row)
        at = put(out, at, _FURTHER if further else _BEST)
        at = put_integer(out, put(out, at, _SEEDS), np.int64(rows.seeds[row]))
        at = put(out, at, _SCORE if aligned else _CHAIN_SCORE)
        at = put_integer(out, at, np.int64(rows.score[row]))
        if aligned:
            at = put_integer(out, put(out, at, _EDITS), np.int64(rows.edits[row]))
        if not np.isnan(rows.divergence[row]):
            at = put(out, at, _DIVERGENCE if aligned else _CHAIN_DIVERGENCE)
            at = put_four_decimals(out, at, rows.divergence[row])
        at = put(out, at, _CLASS)
        out[at] = _CLASS_LETTERS[rows.kind[row]]
        at += 1
        if len(rows.copy_differences):
            at = put_integer(out, put(out, at, _COPY_DIFFERENCES), np.int64(rows.copy_differences[row]))
        if len(rows.cigar_offsets):
            at = _put_cigar(out, at, rows, row)
        out[at] = _NEWLINE
        at += 1
    return at


@njit(nogil=True, cache=True)
def mark_secondary(rows, secondary):
    """Work out which rows are not the best of those of their pair that lie next to each other.

    Parameters
    ----------
    rows : Rows
    secondary : ndarray of bool
        Updated.
    """
    for row in range(len(secondary)):
        secondary[row] = not _is_best_of_pair(rows, row)


@inner
def _is_best_of_pair(rows, row):
    """Return whether no other overlap of the pair is better, of those that lie next to each other."""
    for step in (-1, 1):
        other = row + step
        while 0 <= other < len(rows.query):
            if rows.query[other] != rows.query[row] or rows.target[other] != rows.target[row]:
                break
            if _how_much_better(rows, other, row) > 0:
                return False
            other += step
    return True


@inner
def _how_much_better(rows, one, other):
    """Return a number above 0 if one overlap of a pair is better than another one, 0 if they are the same.

    The higher score is better, then the forward strand, then what begins earlier on the read of the smaller
    number, on the other read, ends earlier on the first, on the other.
    """
    worth = 2 * (np.int64(rows.score[one]) - rows.score[other])
    worth += np.int64(rows.reverse[other]) - np.int64(rows.reverse[one])
    starts = np.int64(rows.q_start[other]) - rows.q_start[one]
    ends = np.int64(rows.q_end[other]) - rows.q_end[one]
    other_starts = np.int64(rows.t_start[other]) - rows.t_start[one]
    other_ends = np.int64(rows.t_end[other]) - rows.t_end[one]
    if rows.query[one] > rows.target[one]:  # so that the same one is the best, from whichever read
        starts, other_starts, ends, other_ends = other_starts, starts, other_ends, ends
    return worth or starts or other_starts or ends or other_ends


@inner
def put_name(out, at, read, names):
    """Write the name of a read, or of a reference sequence; ``names`` is `Names`."""
    for i in range(names.name_offsets[read], names.name_offsets[read + 1]):
        out[at] = names.name_bytes[i]
        at += 1
    return at


@inner
def put_strand(out, at, reverse):
    """Write the strand, and the tab before the name that follows."""
    out[at] = _TAB
    out[at + 1] = _MINUS if reverse else _PLUS
    out[at + 2] = _TAB
    return at + 3


@inner
def put_interval_of_read(out, at, read, start, end, names):
    """Write name and length of a read and an interval of it, as PAF has them."""
    at = put_name(out, at, read, names)
    at = put_number(out, at, names.lengths[read])
    at = put_number(out, at, start)
    return put_number(out, at, end)


@inner
def _put_cigar(out, at, rows, row):
    """Write a CIGAR along the target's forward strand, as PAF has it; the table has it along the query's."""
    first, last = rows.cigar_offsets[row], rows.cigar_offsets[row + 1] - 1
    if last < first:
        return at
    at = put(out, at, _CIGAR)
    for i in range(last - first + 1):
        operation = rows.cigar[last - i if rows.reverse[row] else first + i]
        at = put_integer(out, at, np.int64(operation >> 4))
        out[at] = _OPERATIONS[operation & 15]
        at += 1
    return at


@inner
def put(out, at, text):
    """Write bytes, and return where they end; as all that follow."""
    for i in range(len(text)):
        out[at + i] = text[i]
    return at + len(text)


@inner
def put_number(out, at, value):
    """Write the next column of numbers."""
    out[at] = _TAB
    return put_integer(out, at + 1, np.int64(value))


@inner
def put_integer(out, at, value):
    """Write a number below 2^32."""
    if value < 0:
        out[at] = _MINUS
        at += 1
        value = -value
    rest = np.uint32(value)  # 32-bit division is faster; no number here has more bits
    digits = 1
    power = 10
    while value >= power:
        power *= 10
        digits += 1
    for i in range(at + digits - 1, at - 1, -1):
        tenth = rest // np.uint32(10)
        out[i] = _ZERO + rest - tenth * np.uint32(10)
        rest = tenth
    return at + digits


@inner
def put_four_decimals(out, at, value):
    """Write a share, rounded half up to four decimals."""
    scaled = np.int64(np.floor(np.float64(value) * 10000.0 + 0.5))
    at = put_integer(out, at, scaled // 10000)
    out[at] = _POINT
    rest = scaled % 10000
    for i in range(at + 4, at, -1):
        out[i] = _ZERO + rest % 10
        rest //= 10
    return at + 5
