"""Reads out of FASTA and FASTQ text, packed two bits a base, in one pass over blocks of bytes.

The text, as `overlapper.io.fastx` defines it, is read by an automaton whose whole memory is the array
``state``, so a block may end anywhere, in the middle of a record too. Each helper below reads on from byte
``i`` in one place of the text and returns where it stopped; bases go straight to the columns of
`overlapper.tables.Reads`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.text.text_words import hash_of, load_8
from overlapper.runtime.compile.cache import njit

# Where the automaton stands: state[PLACE].
BETWEEN, NAME, HEADER, BASES, PLUS, QUALITY, COMPLETE = range(7)
"""Between records; in a name; behind the name; in the bases; in the ``+`` line; in the qualities; at the end
of a record that is still to be closed."""

# Fields of the state.
PLACE, PROBLEM, FASTQ, NAME_LENGTH, LENGTH, LINES, LINE_START, FRESH_LINE, WORD, RUN_START, SCORED = range(11)
"""Of the open read: `NAME_LENGTH` bytes of name, `LENGTH` bases so far on `LINES` finished lines,
`LINE_START` bases before this line, `FRESH_LINE` when nothing of this line was read, `WORD` the unfinished
word, `RUN_START` where the open run of unknown bases starts or -1, `SCORED` qualities so far."""
READS, WORDS, RUNS, NAME_BYTES, QUALITIES, COMMENT_BYTES, LETTERS = range(11, 18)
"""How much of each column is filled."""
STATE_FIELDS = 18

# What stopped the automaton: state[PROBLEM].
NONE, FULL, NO_HEADER, NO_NAME, BAD_NAME, BAD_LETTER, NO_PLUS, SHORT_QUALITY, LONG_QUALITY, BAD_QUALITY = (
    range(10)
)
"""`FULL` says that the columns have no room for another read; parse on from there once they have."""

_UNKNOWN, _BLANK, _LINE_END, _OTHER = 4, 5, 6, 7
_UPPER_CASE = 0xDF
_CLASS = np.full(256, _OTHER, np.uint8)
for _class, _letters in enumerate(
    (b"Aa", b"Cc", b"Gg", b"TtUu", b"RYSWKMBDHVNXryswkmbdhvnx", b" \t", b"\r\n")
):
    _CLASS[np.frombuffer(_letters, np.uint8)] = _class

_EACH_BYTE = np.uint64(0x0101010101010101)
_LOWEST_QUALITY, _HIGHEST_QUALITY = 33, 126


class Columns(NamedTuple):
    """Room for reads: the columns of `overlapper.tables.Reads`, filled as far as the state says.

    A block of ``b`` bytes needs room for ``b // 32 + 2`` words beside one for each read that there is room
    for, ``b // 2 + 1`` runs, ``b`` bytes of names and, where they are kept, ``b`` qualities, letters of
    unknown bases and bytes of comments: what follows names on their line, with the blank before it.
    """

    lengths: np.ndarray
    words: np.ndarray
    unknown_start: np.ndarray
    unknown_end: np.ndarray
    unknown_offsets: np.ndarray
    name_bytes: np.ndarray
    name_offsets: np.ndarray
    qualities: np.ndarray
    quality_offsets: np.ndarray
    comment_bytes: np.ndarray
    comment_offsets: np.ndarray
    letters: np.ndarray
    letter_offsets: np.ndarray


def new_state() -> np.ndarray:
    """Return the state before the first byte of the first file."""
    state = np.zeros(STATE_FIELDS, np.int64)
    state[RUN_START] = -1
    return state


@njit(nogil=True, cache=True)
def parse(text, start, state, columns, keep_qualities, keep_comments):
    """Read ``text`` from byte ``start`` on.

    Parameters
    ----------
    text : ndarray of uint8
    start : int
    state : ndarray of int64, shape (STATE_FIELDS,)
        Updated; ``state[PROBLEM]`` says why the parser stopped before the end of the text.
    columns : Columns
        Updated.
    keep_qualities, keep_comments : bool
        Letters of unknown bases are kept with the qualities.

    Returns
    -------
    int
        The byte at which the parser stopped.
    """
    i = start
    state[PROBLEM] = NONE
    while i < len(text) and state[PROBLEM] == NONE:
        place = state[PLACE]
        if place == BETWEEN:
            if state[READS] == len(columns.lengths):
                state[PROBLEM] = FULL
                return i
            i = _read_start(text, i, state)
        elif place == NAME:
            i = _read_name(text, i, state, columns.name_bytes)
        elif place == HEADER or place == PLUS:
            i = _read_line(text, i, state, columns.comment_bytes, keep_comments and place == HEADER)
        elif place == BASES:
            i = _read_bases(text, i, state, columns, keep_qualities)
        elif place == QUALITY:
            i = _read_qualities(text, i, state, columns.qualities, keep_qualities)
        if state[PLACE] == COMPLETE:
            close_read(state, columns)
    return i


@njit(nogil=True, cache=True)
def close_read(state, columns):
    """End the open read: what is unfinished goes to the columns."""
    read = state[READS]
    _end_run(state, state[LENGTH], columns.unknown_start, columns.unknown_end)
    if state[LENGTH] % 32:
        columns.words[state[WORDS]] = np.uint64(state[WORD])
        state[WORDS] += 1
    columns.lengths[read] = state[LENGTH]
    columns.unknown_offsets[read + 1] = state[RUNS]
    columns.name_offsets[read + 1] = state[NAME_BYTES]
    columns.quality_offsets[read + 1] = state[QUALITIES]
    columns.comment_offsets[read + 1] = state[COMMENT_BYTES]
    columns.letter_offsets[read + 1] = state[LETTERS]
    state[READS] += 1
    state[NAME_LENGTH] = state[LENGTH] = state[LINES] = state[WORD] = state[SCORED] = 0
    state[PLACE] = BETWEEN


@njit(nogil=True, cache=True)
def _read_start(text, i, state):
    while i < len(text) and (_CLASS[text[i]] == _BLANK or _CLASS[text[i]] == _LINE_END):
        i += 1
    if i < len(text):
        if text[i] == ord(">") or text[i] == ord("@"):
            state[FASTQ] = text[i] == ord("@")
            state[PLACE] = NAME
            i += 1
        else:
            state[PROBLEM] = NO_HEADER
    return i


@njit(nogil=True, cache=True)
def _read_name(text, i, state, name_bytes):
    while i < len(text):
        letter = text[i]
        if _CLASS[letter] == _BLANK or _CLASS[letter] == _LINE_END:
            if state[NAME_LENGTH] == 0:
                state[PROBLEM] = NO_NAME
            else:
                state[PLACE] = HEADER
            return i
        if letter < 32 or letter == 127:
            state[PROBLEM] = BAD_NAME
            return i
        name_bytes[state[NAME_BYTES]] = letter
        state[NAME_BYTES] += 1
        state[NAME_LENGTH] += 1
        i += 1
    return i


@njit(nogil=True, cache=True)
def _read_line(text, i, state, comment_bytes, keep):
    before = i
    while i < len(text) and _CLASS[text[i]] != _LINE_END:
        i += 1
    if keep:
        filled = state[COMMENT_BYTES]
        for j in range(i - before):
            comment_bytes[filled + j] = text[before + j]
        state[COMMENT_BYTES] = filled + i - before
    if i == len(text):
        return i
    if state[PLACE] == HEADER:
        state[PLACE] = BASES
        state[LINE_START] = 0
        state[FRESH_LINE] = 1
    else:
        state[PLACE] = QUALITY if state[LENGTH] else COMPLETE
    return i + 1


@njit(nogil=True, cache=True)
def _read_bases(text, i, state, columns, keep_letters):
    words = columns.words
    length, word, filled = state[LENGTH], np.uint64(state[WORD]), state[WORDS]
    in_run = state[RUN_START] >= 0
    fresh_line = state[FRESH_LINE] != 0
    while i < len(text):
        if fresh_line and _ends_bases(text[i], state):
            break
        # 32 known bases at a time, at any distance from the border of a word.
        while i + 32 <= len(text) and not in_run:
            packed, known = _pack_32(text, i)
            if not known:
                break
            phase = np.uint64(2 * (length % 32))
            words[filled] = word | packed << phase
            word = packed >> (np.uint64(64) - phase) if phase else np.uint64(0)
            filled += 1
            length += 32
            i += 32
            fresh_line = False
        # Up to 32 bytes one by one: what ends a line, unknown bases, blanks.
        stop = min(i + 32, len(text))
        while i < stop:
            code = _CLASS[text[i]]
            if code > _UNKNOWN:
                break
            if (code == _UNKNOWN) != in_run:
                in_run = not in_run
                if in_run:
                    state[RUN_START] = length
                else:
                    _end_run(state, length, columns.unknown_start, columns.unknown_end)
            if not in_run:
                word |= np.uint64(code) << np.uint64(2 * (length % 32))
            elif keep_letters:
                columns.letters[state[LETTERS]] = text[i] & _UPPER_CASE
                state[LETTERS] += 1
            length += 1
            if length % 32 == 0:
                words[filled] = word
                word = np.uint64(0)
                filled += 1
            i += 1
            fresh_line = False
        if i < stop:
            if code == _OTHER:
                state[PROBLEM] = BAD_LETTER
                break
            if code == _LINE_END:
                state[LINES] += length > state[LINE_START]
                state[LINE_START] = length
            fresh_line = code == _LINE_END
            i += 1
    state[LENGTH], state[WORD], state[WORDS], state[FRESH_LINE] = length, np.int64(word), filled, fresh_line
    return i


@njit(nogil=True, cache=True)
def _ends_bases(letter, state):
    """Tell whether the first byte of a line ends the bases, and put down what follows."""
    if letter == ord(">") or letter == ord("@"):
        if state[FASTQ]:
            state[PROBLEM] = NO_PLUS
        else:
            state[PLACE] = COMPLETE
        return True
    if letter == ord("+") and state[FASTQ]:
        state[PLACE] = PLUS
        return True
    return False


@njit(nogil=True, cache=True)
def _end_run(state, end, unknown_start, unknown_end):
    if state[RUN_START] >= 0:
        unknown_start[state[RUNS]] = state[RUN_START]
        unknown_end[state[RUNS]] = end
        state[RUNS] += 1
        state[RUN_START] = -1


@njit(nogil=True, cache=True)
def _read_qualities(text, i, state, qualities, keep_qualities):
    before = i
    stop = min(len(text), i + state[LENGTH] - state[SCORED])
    while i < stop and _LOWEST_QUALITY <= text[i] <= _HIGHEST_QUALITY:
        i += 1
    if keep_qualities:
        filled = state[QUALITIES]
        for j in range(i - before):
            qualities[filled + j] = text[before + j] - _LOWEST_QUALITY
        state[QUALITIES] = filled + i - before
    state[SCORED] += i - before
    if i == len(text):
        return i
    complete = state[SCORED] == state[LENGTH]
    if _CLASS[text[i]] == _LINE_END:
        # Bases on one line have their qualities on one line; this tells a short line from a wrapped one.
        if complete:
            state[PLACE] = COMPLETE
        elif state[SCORED] > 0 and state[LINES] == 1:
            state[PROBLEM] = SHORT_QUALITY
            return i
    elif _CLASS[text[i]] != _BLANK:
        state[PROBLEM] = LONG_QUALITY if complete else BAD_QUALITY
        return i
    return i + 1


@njit(nogil=True, cache=True)
def _pack_32(text, i):
    """Return the word of the 32 letters from ``i`` on, and whether all are ACGTU in either case.

    Eight letters at a time in one register. Bits 4 to 0 of the letters are A 00001, C 00011, G 00111, T
    10100, U 10101: a letter is one of them when bits 7, 6 and 3 are 010, bit 4 is bit 2 without bit 1, and
    bit 0 or bit 4 is set. Bits 2 and 1 give the code: 00, 01, 11 and 10 for A, C, G and T.
    """
    others = np.uint64(0)
    word = np.uint64(0)
    for j in range(4):
        x = load_8(text, np.uint64(i + 8 * j))
        bit1, bit2, bit4 = x >> np.uint64(1), x >> np.uint64(2), x >> np.uint64(4)
        others |= (x ^ np.uint64(0x4040404040404040)) & np.uint64(0xC8C8C8C8C8C8C8C8)
        others |= ((bit4 ^ (bit2 & ~bit1)) | ~(x | bit4)) & _EACH_BYTE
        codes = bit1 & np.uint64(0x0303030303030303)
        codes ^= (codes >> np.uint64(1)) & _EACH_BYTE
        codes = (codes | codes >> np.uint64(6)) & np.uint64(0x000F000F000F000F)
        codes = (codes | codes >> np.uint64(12)) & np.uint64(0x000000FF000000FF)
        codes = (codes | codes >> np.uint64(24)) & np.uint64(0xFFFF)
        word |= codes << np.uint64(16 * j)
    return word, others == np.uint64(0)


@njit(nogil=True, cache=True)
def hash_names(name_bytes, name_offsets):
    """Return a 64-bit hash of every name.

    Parameters
    ----------
    name_bytes : ndarray of uint8
    name_offsets : ndarray of int64, shape (n + 1,)

    Returns
    -------
    ndarray of uint64, shape (n,)
    """
    hashes = np.empty(len(name_offsets) - 1, np.uint64)
    for read in range(len(hashes)):
        hashes[read] = hash_of(name_bytes, np.uint64(name_offsets[read]), np.uint64(name_offsets[read + 1]))
    return hashes
