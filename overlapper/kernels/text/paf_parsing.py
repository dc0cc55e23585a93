"""PAF text as rows of numbers, with reads looked up by name and the reads of every pair put in order.

The loops over every byte of the columns stand in one function: a call costs more than the number that it
would read. Positions are unsigned: signed ones might count from the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.packed import uncounted
from overlapper.kernels.text.paf_formatting import Names
from overlapper.kernels.text.text_numbers import FAILED, MAX_INTEGER, NINE, ZERO, decimal, integer
from overlapper.kernels.text.text_words import field_end, hash_of, short_number
from overlapper.runtime.compile.cache import njit
from overlapper.tables.cigars import DELETION, EQUAL, INSERTION, UNEQUAL

# Fields of the state.
LINES, ROWS, OPERATIONS, EDITED, MARKED, PROBLEM, COLUMN, EXPECTED = range(8)
"""`LINES` read, the faulty one included; `ROWS` and `OPERATIONS` filled; `EDITED` rows with an ``NM`` tag,
`MARKED` ones with a ``tp`` tag; and what is wrong with which column, counted from 0."""
STATE_FIELDS = 8

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
    BAD_END,
) = range(10)

UNKNOWN_LENGTH = -1
"""Length of a read of which only the name is known."""

# Fields of a line: its columns, then what its tags say.
_QUERY, _QUERY_LENGTH, _QUERY_START, _QUERY_END, _STRAND = range(5)
_TARGET, _TARGET_LENGTH, _TARGET_START, _TARGET_END, _MATCHES, _BLOCK_LENGTH = range(5, 11)
_COLUMNS = 12
_SEEDS, _SCORE, _EDITS, _CLASS, _CIGAR_START, _CIGAR_STOP, _SECONDARY = range(12, 19)
_FIELDS = 19

_TAB, _NEWLINE, _RETURN = 9, 10, 13
_MATCH = 0
_ABSENT = FAILED + 1
_TAG_HEAD = np.uint64(5)
_ONE = np.uint64(1)


def _tag(name: str) -> int:
    return ord(name[0]) << 8 | ord(name[1])


_CM, _S1, _AS, _NM = _tag("cm"), _tag("s1"), _tag("AS"), _tag("NM")
_DV, _DE, _CL, _CG, _TP = _tag("dv"), _tag("de"), _tag("cl"), _tag("cg"), _tag("tp")


INTEGERS = (
    *("query", "target", "reverse", "q_start", "q_end", "t_start", "t_end"),
    *("matches", "block_length", "seeds", "score", "edits", "kind", "secondary"),
)
"""Columns of `overlapper.tables.Overlaps`, in the order of ``Rows.integers``."""


class Rows(NamedTuple):
    """Room for rows."""

    integers: np.ndarray
    """int32, shape (len(INTEGERS), n)."""
    divergence: np.ndarray
    """float32, shape (n,)."""
    cigar: np.ndarray
    """uint32; an operation for every two bytes of text, or none if no line has a CIGAR."""
    cigar_offsets: np.ndarray
    """int64, shape (n + 1,); starts with 0."""


class NameIndex(NamedTuple):
    """Reads by name: `slots` is an open hash table of read numbers, -1 where it is free."""

    slots: np.ndarray
    names: Names


def name_index(names: Names) -> NameIndex:
    """Return the index of the given names."""
    reads = len(names.name_offsets) - 1
    slots = np.full(1 << (2 * reads).bit_length(), -1, np.int32)
    _fill_slots(names.name_bytes, names.name_offsets, slots)
    return NameIndex(slots, names)


@njit(nogil=True, cache=True)
def _fill_slots(name_bytes, name_offsets, slots):
    mask = np.uint64(len(slots) - 1)
    for read in range(len(name_offsets) - 1):
        slot = hash_of(name_bytes, np.uint64(name_offsets[read]), np.uint64(name_offsets[read + 1])) & mask
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
        A row for every line. Updated.

    Returns
    -------
    int
        Start of the line at which the parser stopped.
    """
    return _parse_lines(text, state, index, rows, np.empty(_FIELDS, np.int64), np.empty(1))


@njit(nogil=True, cache=True)
def _parse_lines(text, state, index, rows, fields, divergence):
    text, state = uncounted(text), uncounted(state)
    fields, divergence = uncounted(fields), uncounted(divergence)
    slots, lengths = uncounted(index.slots), uncounted(index.names.lengths)
    name_bytes, name_offsets = uncounted(index.names.name_bytes), uncounted(index.names.name_offsets)
    integers, divergences = uncounted(rows.integers), uncounted(rows.divergence)
    cigar_offsets = uncounted(rows.cigar_offsets)
    state[PROBLEM] = NONE
    i = np.uint64(0)
    while i < np.uint64(len(text)):
        line = i
        state[LINES] += 1
        if not (text[i] == _NEWLINE or (text[i] == _RETURN and text[i + _ONE] == _NEWLINE)):
            i = _read_columns(text, i, fields, slots, name_bytes, name_offsets, lengths, state)
            if state[PROBLEM] == NONE:
                i = _read_tags(text, i, fields, divergence, state)
            # A read that matches itself is no overlap.
            if state[PROBLEM] == NONE and fields[_QUERY] != fields[_TARGET]:
                row = state[ROWS]
                _put_row(fields, integers, row)
                divergences[row] = divergence[0]
                state[EDITED] += fields[_EDITS] != _ABSENT
                state[MARKED] += fields[_SECONDARY] != _ABSENT
                if fields[_CIGAR_STOP] and not _read_cigar(text, fields, rows.cigar, state):
                    state[PROBLEM] = BAD_CIGAR
                cigar_offsets[row + 1] = state[OPERATIONS]
                state[ROWS] += 1
        if state[PROBLEM] == NONE:
            i += np.uint64(text[i] == _RETURN)
            if text[i] != _NEWLINE:
                state[PROBLEM] = BAD_END
        if state[PROBLEM] != NONE:
            return np.int64(line)
        i += _ONE
    return np.int64(i)


@njit(nogil=True, cache=True)
def _read_columns(text, i, fields, slots, name_bytes, name_offsets, lengths, state):
    """Read the twelve columns of a line; return where they end."""
    problem = NONE
    for column in range(_COLUMNS):
        if column > 0:
            if text[i] != _TAB:
                problem = FEW_COLUMNS
                break
            i += _ONE
        first = i
        if column == _QUERY or column == _TARGET:
            i = field_end(text, i)
            mask = np.uint64(len(slots) - 1)
            slot = hash_of(text, first, i) & mask
            found = -1
            while found < 0 and slots[slot] >= 0:
                name = np.uint64(name_offsets[slots[slot]])
                size = np.uint64(name_offsets[slots[slot] + 1]) - name
                if size == i - first:
                    same = np.uint64(0)
                    while same < size and text[first + same] == name_bytes[name + same]:
                        same += _ONE
                    if same == size:
                        found = slots[slot]
                slot = (slot + _ONE) & mask
            fields[column] = found
            if found < 0:
                problem = UNKNOWN_READ
        elif column == _STRAND:
            fields[column] = text[i] == ord("-")
            if text[i] == ord("+") or text[i] == ord("-"):
                i += _ONE
            if i == first or text[i] > _RETURN:
                problem = BAD_STRAND
        else:
            number, i = short_number(text, i)
            while ZERO <= text[i] <= NINE and number <= MAX_INTEGER:
                number = number * 10 + (np.int64(text[i]) - ZERO)
                i += _ONE
            fields[column] = number
            if i == first or text[i] > _RETURN or number > MAX_INTEGER:
                problem = NO_NUMBER
        if problem != NONE:
            break
    if problem == NONE:
        problem, column = _check_columns(fields, lengths, state)
    state[PROBLEM], state[COLUMN] = problem, column
    return i


@njit(nogil=True, cache=True)
def _check_columns(fields, lengths, state):
    """Return what is wrong with the lengths and intervals, and with which column."""
    for first in (_QUERY, _TARGET):
        length = lengths[fields[first]]
        if length != UNKNOWN_LENGTH and fields[first + 1] != length:
            state[EXPECTED] = length
            return OTHER_LENGTH, first + 1
        if not fields[first + 2] <= fields[first + 3] <= fields[first + 1]:
            return BAD_INTERVAL, first + 2
    return NONE, _COLUMNS - 1


@njit(nogil=True, cache=True)
def _read_tags(text, i, fields, divergence, state):
    """Read the tags of a line; return where they end."""
    fields[_SEEDS] = fields[_SCORE] = fields[_CLASS] = fields[_CIGAR_START] = fields[_CIGAR_STOP] = 0
    fields[_EDITS] = fields[_SECONDARY] = _ABSENT
    divergence[0] = np.nan
    aligned_score = aligned_divergence = bad = False
    column = _COLUMNS - 1
    while text[i] == _TAB and not bad:
        column += 1
        first = i + _ONE
        i = field_end(text, first)
        value = first + _TAG_HEAD
        if i <= value:
            continue
        tag = np.int64(text[first]) << 8 | np.int64(text[first + _ONE])
        field = -1
        if tag == _CM:
            field = _SEEDS
        elif tag == _NM:
            field = _EDITS
        elif tag == _AS or (tag == _S1 and not aligned_score):
            field = _SCORE
            aligned_score = tag == _AS
        if field >= 0:
            fields[field] = integer(text, value, i)
            bad = fields[field] == FAILED
        elif tag == _DE or (tag == _DV and not aligned_divergence):
            divergence[0] = decimal(text, value, i)
            aligned_divergence = tag == _DE
            bad = np.isnan(divergence[0])
        elif tag == _CL:
            fields[_CLASS] = _class_of(text[value], fields[_QUERY] > fields[_TARGET])
            bad = i - value != _ONE or fields[_CLASS] < 0
        elif tag == _CG:
            fields[_CIGAR_START], fields[_CIGAR_STOP] = value, i
        elif tag == _TP:
            fields[_SECONDARY] = text[value] == ord("S")
    state[COLUMN] = column
    if bad:
        state[PROBLEM] = BAD_TAG
    return i


@njit(nogil=True, cache=True)
def _put_row(fields, integers, row):
    """Fill a row from the fields; the read of the smaller number is its query."""
    query, target = (_QUERY, _TARGET) if fields[_QUERY] < fields[_TARGET] else (_TARGET, _QUERY)
    integers[0, row], integers[1, row] = fields[query], fields[target]
    integers[2, row] = fields[_STRAND]
    integers[3, row], integers[4, row] = fields[query + 2], fields[query + 3]
    integers[5, row], integers[6, row] = fields[target + 2], fields[target + 3]
    integers[7, row], integers[8, row] = fields[_MATCHES], fields[_BLOCK_LENGTH]
    integers[9, row], integers[10, row] = fields[_SEEDS], fields[_SCORE]
    integers[11, row] = fields[_EDITS] if fields[_EDITS] != _ABSENT else 0
    integers[12, row] = fields[_CLASS]
    integers[13, row] = fields[_SECONDARY] == 1


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
        query_bases += length if operation != DELETION else 0
        target_bases += length if operation != INSERTION else 0
        if swapped and (operation == INSERTION or operation == DELETION):
            operation = INSERTION + DELETION - operation
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
        return EQUAL
    if letter == ord("X"):
        return UNEQUAL
    if letter == ord("I"):
        return INSERTION
    if letter == ord("D"):
        return DELETION
    if letter == ord("M"):
        return _MATCH
    return -1
