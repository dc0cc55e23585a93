"""PAF text as rows of numbers, with reads looked up by name and the reads of every pair put in order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from overlapper.kernels.cpu.formatting import Names
from overlapper.kernels.cpu.packing import hash_bytes, hash_names

# Fields of the state.
LINES, ROWS, OPERATIONS, EDITED, PROBLEM, COLUMN, EXPECTED = range(7)
"""`LINES` read, the faulty one included; `ROWS` and `OPERATIONS` filled; `EDITED` rows with an ``NM`` tag;
and what is wrong with which column, counted from 0."""
STATE_FIELDS = 7

# What stopped the parser: state[PROBLEM].
(
    NONE,
    FEW_COLUMNS,
    NO_NUMBER,
    BAD_STRAND,
    UNKNOWN_READ,
    OTHER_LENGTH,
    BAD_INTERVAL,
    BAD_TAG,
    BAD_CIGAR,
) = range(9)

UNKNOWN_LENGTH = -1
"""Length of a read of which only the name is known."""

# Fields of a line: its columns, then what its tags say.
_QUERY, _QUERY_LENGTH, _QUERY_START, _QUERY_END, _STRAND = range(5)
_TARGET, _TARGET_LENGTH, _TARGET_START, _TARGET_END, _MATCHES, _BLOCK_LENGTH = range(5, 11)
_COLUMNS = 12
_SEEDS, _SCORE, _EDITS, _CLASS, _CIGAR_START, _CIGAR_STOP = range(12, 18)
_FIELDS = 18

_TAB, _NEWLINE, _RETURN = 9, 10, 13
_MATCH, _INSERTION, _DELETION, _EQUAL, _UNEQUAL = 0, 1, 2, 7, 8
_FAILED = -(2**62)
_ABSENT = _FAILED + 1
_MAX_INTEGER = 2**31 - 1


def _tag(name: str) -> int:
    return ord(name[0]) << 8 | ord(name[1])


_CM, _S1, _AS, _NM = _tag("cm"), _tag("s1"), _tag("AS"), _tag("NM")
_DV, _DE, _CL, _CG = _tag("dv"), _tag("de"), _tag("cl"), _tag("cg")


class NameIndex(NamedTuple):
    """Reads by name: `slots` is an open hash table of read numbers, -1 where it is free."""

    slots: np.ndarray
    names: Names


def name_index(names: Names) -> NameIndex:
    """Return the index of the given names."""
    hashes = hash_names(names.name_bytes, names.name_offsets)
    slots = np.full(1 << (2 * len(hashes)).bit_length(), -1, np.int32)
    _fill_slots(hashes, slots)
    return NameIndex(slots, names)


@njit(nogil=True, cache=True)
def _fill_slots(hashes, slots):
    mask = np.uint64(len(slots) - 1)
    for read in range(len(hashes)):
        slot = hashes[read] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = read


@njit(nogil=True, cache=True)
def parse_paf(text, state, index, rows):
    """Read complete lines.

    Parameters
    ----------
    text : ndarray of uint8
        Ends with a line feed.
    state : ndarray of int64, shape (STATE_FIELDS,)
        Updated; ``state[PROBLEM]`` says why the parser stopped before the end of the text.
    index : NameIndex
        Lengths that are not `UNKNOWN_LENGTH` must be those in the text.
    rows : Rows
        Room for a row of every line, and for an operation of CIGAR for every two bytes of text if there are
        any. Updated.

    Returns
    -------
    int
        Start of the line at which the parser stopped.
    """
    fields = np.empty(_FIELDS, np.int64)
    divergence = np.empty(1)
    state[PROBLEM] = NONE
    i = 0
    while i < len(text):
        end = i
        while text[end] != _NEWLINE:
            end += 1
        following = end + 1
        if end > i and text[end - 1] == _RETURN:
            end -= 1
        state[LINES] += 1
        if end > i:
            tags = _read_columns(text, i, end, fields, index.slots, index.names, state)
            _read_tags(text, tags, end, fields, divergence, state)
            # A read that matches itself is no overlap.
            if state[PROBLEM] == NONE and fields[_QUERY] != fields[_TARGET]:
                _put_row(text, fields, divergence[0], rows, state)
            if state[PROBLEM] != NONE:
                return i
        i = following
    return i


@njit(nogil=True, cache=True)
def _read_columns(text, i, end, fields, slots, names, state):
    """Read the twelve columns of a line; return where its tags start."""
    for column in range(_COLUMNS):
        state[COLUMN] = column
        if i > end:
            state[PROBLEM] = FEW_COLUMNS
            return i
        if column == _QUERY or column == _TARGET:
            stop = _column_end(text, i, end)
            fields[column] = _find_read(text, i, stop, slots, names.name_bytes, names.name_offsets)
            if fields[column] < 0:
                state[PROBLEM] = UNKNOWN_READ
        elif column == _STRAND:
            stop = _column_end(text, i, end)
            fields[column] = text[i] == ord("-")
            if stop - i != 1 or not (text[i] == ord("-") or text[i] == ord("+")):
                state[PROBLEM] = BAD_STRAND
        else:
            fields[column], stop = _integer(text, i, end)
            if fields[column] < 0:
                state[PROBLEM] = NO_NUMBER
        if state[PROBLEM] != NONE:
            return i
        i = stop + 1
    for first in (_QUERY, _TARGET):
        length = names.lengths[fields[first]]
        if length != UNKNOWN_LENGTH and fields[first + 1] != length:
            state[PROBLEM], state[COLUMN], state[EXPECTED] = OTHER_LENGTH, first + 1, length
            return i
        if not fields[first + 2] <= fields[first + 3] <= fields[first + 1]:
            state[PROBLEM], state[COLUMN] = BAD_INTERVAL, first + 2
            return i
    return i


@njit(nogil=True, cache=True)
def _column_end(text, i, end):
    while i < end and text[i] != _TAB:
        i += 1
    return i


@njit(nogil=True, cache=True)
def _find_read(text, start, stop, slots, name_bytes, name_offsets):
    mask = np.uint64(len(slots) - 1)
    slot = hash_bytes(text, start, stop) & mask
    while slots[slot] >= 0:
        read = slots[slot]
        first = name_offsets[read]
        if name_offsets[read + 1] - first == stop - start:
            i = 0
            while i < stop - start and text[start + i] == name_bytes[first + i]:
                i += 1
            if i == stop - start:
                return read
        slot = (slot + np.uint64(1)) & mask
    return -1


@njit(nogil=True, cache=True)
def _read_tags(text, i, end, fields, divergence, state):
    fields[_SEEDS] = fields[_SCORE] = fields[_CLASS] = fields[_CIGAR_START] = fields[_CIGAR_STOP] = 0
    fields[_EDITS] = _ABSENT
    divergence[0] = np.nan
    aligned_score = aligned_divergence = False
    while i < end and state[PROBLEM] == NONE:
        state[COLUMN] += 1
        tag = np.int64(text[i]) << 8 | text[i + 1] if end - i > 5 else 0
        value = i + 5
        field = -1
        if tag == _CM:
            field = _SEEDS
        elif tag == _NM:
            field = _EDITS
        elif tag == _AS or (tag == _S1 and not aligned_score):
            field = _SCORE
            aligned_score = tag == _AS
        if field >= 0:
            fields[field], i = _integer(text, value, end)
            bad = fields[field] == _FAILED
        elif tag == _DE or (tag == _DV and not aligned_divergence):
            divergence[0], i = _decimal(text, value, end)
            aligned_divergence = tag == _DE
            bad = np.isnan(divergence[0])
        else:
            i = _column_end(text, i, end)
            bad = False
            if tag == _CL:
                fields[_CLASS] = _class_of(text[value], fields[_QUERY] > fields[_TARGET])
                bad = i - value != 1 or fields[_CLASS] < 0
            elif tag == _CG:
                fields[_CIGAR_START], fields[_CIGAR_STOP] = value, i
        if bad:
            state[PROBLEM] = BAD_TAG
        i += 1


@njit(nogil=True, cache=True)
def _put_row(text, fields, divergence, rows, state):
    """Fill the next row from the fields; the read of the smaller number is its query."""
    row = state[ROWS]
    query, target = (_QUERY, _TARGET) if fields[_QUERY] < fields[_TARGET] else (_TARGET, _QUERY)
    rows.query[row] = fields[query]
    rows.q_start[row] = fields[query + 2]
    rows.q_end[row] = fields[query + 3]
    rows.target[row] = fields[target]
    rows.t_start[row] = fields[target + 2]
    rows.t_end[row] = fields[target + 3]
    rows.reverse[row] = fields[_STRAND]
    rows.matches[row] = fields[_MATCHES]
    rows.block_length[row] = fields[_BLOCK_LENGTH]
    rows.seeds[row] = fields[_SEEDS]
    rows.score[row] = fields[_SCORE]
    rows.divergence[row] = divergence
    rows.kind[row] = fields[_CLASS]
    edited = fields[_EDITS] != _ABSENT
    rows.edits[row] = fields[_EDITS] if edited else 0
    state[EDITED] += edited
    if fields[_CIGAR_STOP] and not _read_cigar(text, fields, rows.cigar, state):
        state[PROBLEM] = BAD_CIGAR
    rows.cigar_offsets[row + 1] = state[OPERATIONS]
    state[ROWS] += 1


@njit(nogil=True, cache=True)
def _class_of(letter, swapped):
    if letter == ord("i"):
        return 0
    if letter == ord("d"):
        return 1
    if letter == ord("q"):
        return 3 if swapped else 2
    if letter == ord("t"):
        return 2 if swapped else 3
    return -1


@njit(nogil=True, cache=True)
def _read_cigar(text, fields, cigar, state):
    """Append a CIGAR, turned along the query of the row; tell whether it fits the intervals."""
    swapped = fields[_QUERY] > fields[_TARGET]
    first = state[OPERATIONS]
    filled = first
    length = np.int64(0)
    query_bases = np.int64(0)
    target_bases = np.int64(0)
    for i in range(fields[_CIGAR_START], fields[_CIGAR_STOP]):
        letter = text[i]
        if ord("0") <= letter <= ord("9"):
            length = length * 10 + letter - ord("0")
            if length >= 1 << 28:
                return False
            continue
        operation = _operation_of(letter)
        if operation < 0 or length == 0:
            return False
        query_bases += length if operation != _DELETION else 0
        target_bases += length if operation != _INSERTION else 0
        if swapped and (operation == _INSERTION or operation == _DELETION):
            operation = _INSERTION + _DELETION - operation
        cigar[filled] = length << 4 | operation
        filled += 1
        length = np.int64(0)
    state[OPERATIONS] = filled
    # PAF's order is along its target: on the reverse strand that is against its query.
    if fields[_STRAND] and not swapped:
        cigar[first:filled] = cigar[first:filled][::-1].copy()
    return (
        length == 0
        and query_bases == fields[_QUERY_END] - fields[_QUERY_START]
        and target_bases == fields[_TARGET_END] - fields[_TARGET_START]
    )


@njit(nogil=True, cache=True)
def _operation_of(letter):
    if letter == ord("="):
        return _EQUAL
    if letter == ord("X"):
        return _UNEQUAL
    if letter == ord("I"):
        return _INSERTION
    if letter == ord("D"):
        return _DELETION
    if letter == ord("M"):
        return _MATCH
    return -1


@njit(nogil=True, cache=True)
def _integer(text, i, end):
    """Return the 32-bit integer that fills the column at ``i``, or `_FAILED`, and the end of the column."""
    negative = i < end and text[i] == ord("-")
    first = i + negative
    i = first
    number = np.int64(0)
    while i < end:
        digit = np.int64(text[i]) - ord("0")
        if digit < 0 or digit > 9 or number > _MAX_INTEGER:
            break
        number = number * 10 + digit
        i += 1
    if i == first or (i < end and text[i] != _TAB) or number > _MAX_INTEGER:
        return _FAILED, i
    return -number if negative else number, i


@njit(nogil=True, cache=True)
def _decimal(text, i, end):
    """Return the number that fills the column at ``i``, like 0.25 or 2.5e-1, or NaN; and the column's end."""
    mantissa = 0.0
    exponent = np.int64(0)
    digits = 0
    point = 0
    while i < end and (text[i] == ord(".") or ord("0") <= text[i] <= ord("9")):
        if text[i] == ord("."):
            point += 1
        else:
            mantissa = mantissa * 10.0 + (text[i] - ord("0"))
            digits += 1
            exponent -= point
        i += 1
    if digits == 0 or point > 1:
        return np.nan, i
    if i < end and (text[i] == ord("e") or text[i] == ord("E")):
        power, i = _integer(text, i + 1, end)
        exponent += power
    elif i < end and text[i] != _TAB:
        return np.nan, i
    if exponent < -300 or exponent > 300:
        return np.nan, i
    return mantissa * 10.0**exponent if exponent >= 0 else mantissa / 10.0**-exponent, i
