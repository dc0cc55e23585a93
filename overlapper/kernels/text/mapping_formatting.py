"""Mappings as SAM and PAF text: rows of numbers in, bytes out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.oriented import unpack_bases
from overlapper.kernels.text.paf_formatting import (
    put,
    put_four_decimals,
    put_integer,
    put_interval_of_read,
    put_name,
    put_number,
    put_strand,
    text_bytes,
)
from overlapper.runtime.compile.cache import njit
from overlapper.tables import sam_flags
from overlapper.tables.cigars import OPERATIONS

LINE_BYTES = 320
"""No line is longer than this, but for names, bases, qualities, CIGAR and what is given as text."""
OPERATION_BYTES = 10
"""Nor is an operation of a CIGAR, or a clip: 28 bits of length and a letter."""

SECONDARY = 2
"""A value of `overlapper.tables.MappingKind`."""
_KIND_FLAGS = np.array([0, sam_flags.SUPPLEMENTARY, sam_flags.SECONDARY])


_EDITS, _SCORE = text_bytes(b"\tNM:i:"), text_bytes(b"\tAS:i:")
_BEST, _OTHER = text_bytes(b"\ttp:A:P"), text_bytes(b"\ttp:A:S")
_SEEDS, _CHAIN_SCORE, _SECOND_SCORE = text_bytes(b"\tcm:i:"), text_bytes(b"\ts1:i:"), text_bytes(b"\ts2:i:")
_DIVERGENCE, _CIGAR = text_bytes(b"\tde:f:"), text_bytes(b"\tcg:Z:")
_NO_MATE, _NO_PLACE = text_bytes(b"\t*\t0\t0\t"), text_bytes(b"\t*\t0\t0\t*\t*\t0\t0\t")
_LETTERS, _OPERATIONS = text_bytes(b"ACGTN"), text_bytes(OPERATIONS.encode())
_COMPLEMENTS = np.arange(256, dtype=np.uint8)
_COMPLEMENTS[text_bytes(b"RYKMBDHV")] = text_bytes(b"YRMKVHDB")
_TAB, _NEWLINE, _STAR, _LETTER_S, _PHRED = 9, 10, 42, 83, 33
_PAIRED = 7


class Rows(NamedTuple):
    """Columns of `overlapper.tables.Mappings`, and where the rows of each read start."""

    starts: np.ndarray
    target: np.ndarray
    reverse: np.ndarray
    q_start: np.ndarray
    q_end: np.ndarray
    t_start: np.ndarray
    t_end: np.ndarray
    matches: np.ndarray
    block_length: np.ndarray
    edits: np.ndarray
    divergence: np.ndarray
    score: np.ndarray
    chain_score: np.ndarray
    second_score: np.ndarray
    seeds: np.ndarray
    quality: np.ndarray
    kind: np.ndarray
    cigar: np.ndarray
    cigar_offsets: np.ndarray


class Texts(NamedTuple):
    """Text that lines end with: of every row; in SAM of every read that has bases there; of all lines."""

    of_rows: np.ndarray
    offsets: np.ndarray
    of_reads: np.ndarray
    read_offsets: np.ndarray
    of_all: np.ndarray


class OfBases(NamedTuple):
    """Values of bases and where those of each read start, as `overlapper.tables.Reads` has them."""

    values: np.ndarray
    offsets: np.ndarray


def of_bases(values: np.ndarray | None, offsets: np.ndarray | None) -> OfBases:
    """Return the columns, empty where there are none."""
    return OfBases(
        np.empty(0, np.uint8) if values is None else values,
        np.empty(0, np.int64) if offsets is None else offsets,
    )


@njit(nogil=True, cache=True)
def format_sam(rows, reads, names, qualities, letters, targets, texts, distinguish, out):
    """Write the lines of all reads; one without a mapping has a line that says so.

    Parameters
    ----------
    rows : Rows
    reads : PackedReads
    names, targets : overlapper.kernels.text.paf_formatting.Names
        Of the reads and of the reference sequences.
    qualities, letters : OfBases
        The letters are those of unknown bases.
    texts : Texts
    distinguish : bool
        Write = and X for equal and unequal pairs, not M for both.
    out : ndarray of uint8
        Room for the lines.

    Returns
    -------
    int
        Bytes written.
    """
    at, longest = 0, 0
    for read in range(len(rows.starts) - 1):
        longest = max(longest, reads.lengths[read])
    codes = np.empty(longest, np.uint8)
    for read in range(len(rows.starts) - 1):
        if rows.starts[read] == rows.starts[read + 1]:
            at = put_name(out, at, read, names)
            at = put_number(out, at, sam_flags.UNMAPPED)
            at = put(out, at, _NO_PLACE)
            at = _put_bases(out, at, reads, read, False, qualities, letters, codes)
            at = put(out, at, _text_of(texts.of_reads, texts.read_offsets, read))
            at = put(out, at, texts.of_all)
            out[at] = _NEWLINE
            at += 1
        for row in range(rows.starts[read], rows.starts[read + 1]):
            reverse = rows.reverse[row]
            at = put_name(out, at, read, names)
            at = put_number(out, at, _KIND_FLAGS[rows.kind[row]] + (sam_flags.REVERSE if reverse else 0))
            out[at] = _TAB
            at = put_name(out, at + 1, rows.target[row], targets)
            at = put_number(out, at, rows.t_start[row] + 1)
            at = put_number(out, at, rows.quality[row])
            out[at] = _TAB
            before, after = rows.q_start[row], reads.lengths[read] - rows.q_end[row]
            if reverse:
                before, after = after, before
            at = _put_clip(out, at + 1, before)
            at = _put_cigar(out, at, rows, row, distinguish)
            at = _put_clip(out, at, after)
            at = put(out, at, _NO_MATE)
            if rows.kind[row] == SECONDARY:
                out[at], out[at + 1], out[at + 2] = _STAR, _TAB, _STAR
                at += 3
            else:
                at = _put_bases(out, at, reads, read, reverse, qualities, letters, codes)
            at = _put_tags(out, at, rows, row)
            at = put(out, at, _text_of(texts.of_rows, texts.offsets, row))
            if rows.kind[row] != SECONDARY:
                at = put(out, at, _text_of(texts.of_reads, texts.read_offsets, read))
            at = put(out, at, texts.of_all)
            out[at] = _NEWLINE
            at += 1
    return at


@njit(nogil=True, cache=True)
def format_paf(rows, names, targets, texts, distinguish, out):
    """Write the lines of all mappings; the arguments are those of `format_sam`."""
    at = 0
    for read in range(len(rows.starts) - 1):
        for row in range(rows.starts[read], rows.starts[read + 1]):
            at = put_interval_of_read(out, at, read, rows.q_start[row], rows.q_end[row], names)
            at = put_strand(out, at, rows.reverse[row])
            at = put_interval_of_read(out, at, rows.target[row], rows.t_start[row], rows.t_end[row], targets)
            at = put_number(out, at, rows.matches[row])
            at = put_number(out, at, rows.block_length[row])
            at = put_number(out, at, rows.quality[row])
            at = _put_tags(out, at, rows, row)
            at = put(out, at, _CIGAR)
            at = _put_cigar(out, at, rows, row, distinguish)
            at = put(out, at, _text_of(texts.of_rows, texts.offsets, row))
            at = put(out, at, texts.of_all)
            out[at] = _NEWLINE
            at += 1
    return at


@njit(nogil=True, cache=True)
def _put_bases(out, at, reads, read, reverse, qualities, letters, codes):
    """Write bases and qualities on the strand of the mapping; what a read does not have is a star."""
    n = reads.lengths[read]
    unpack_bases(reads, read, 0, n, reverse, 4, codes)
    for i in range(n):
        out[at + i] = _LETTERS[codes[i]]
    if len(letters.offsets):
        next_letter = letters.offsets[read]
        for run in range(reads.unknown_offsets[read], reads.unknown_offsets[read + 1]):
            for i in range(reads.unknown_start[run], reads.unknown_end[run]):
                letter = letters.values[next_letter]
                out[at + (n - 1 - i if reverse else i)] = _COMPLEMENTS[letter] if reverse else letter
                next_letter += 1
    if n == 0:
        out[at] = _STAR
    at += max(n, 1)
    out[at] = _TAB
    at += 1
    first = qualities.offsets[read] if len(qualities.offsets) else 0
    if n == 0 or len(qualities.offsets) == 0 or qualities.offsets[read + 1] == first:
        out[at] = _STAR
        return at + 1
    for i in range(n):
        out[at + i] = qualities.values[first + (n - 1 - i if reverse else i)] + _PHRED
    return at + n


@njit(nogil=True, cache=True)
def _put_clip(out, at, bases):
    if bases == 0:
        return at
    at = put_integer(out, at, np.int64(bases))
    out[at] = _LETTER_S
    return at + 1


@njit(nogil=True, cache=True)
def _put_cigar(out, at, rows, row, distinguish):
    i, last = rows.cigar_offsets[row], rows.cigar_offsets[row + 1]
    while i < last:
        run, kind = np.int64(rows.cigar[i] >> 4), int(rows.cigar[i] & 15)
        i += 1
        if kind >= _PAIRED and not distinguish:
            kind = 0
            while i < last and rows.cigar[i] & 15 >= _PAIRED:
                run += rows.cigar[i] >> 4
                i += 1
        at = put_integer(out, at, run)
        out[at] = _OPERATIONS[kind]
        at += 1
    return at


@njit(nogil=True, cache=True)
def _put_tags(out, at, rows, row):
    at = put_integer(out, put(out, at, _EDITS), np.int64(rows.edits[row]))
    at = put_integer(out, put(out, at, _SCORE), np.int64(rows.score[row]))
    at = put(out, at, _OTHER if rows.kind[row] == SECONDARY else _BEST)
    at = put_integer(out, put(out, at, _SEEDS), np.int64(rows.seeds[row]))
    at = put_integer(out, put(out, at, _CHAIN_SCORE), np.int64(rows.chain_score[row]))
    at = put_integer(out, put(out, at, _SECOND_SCORE), np.int64(rows.second_score[row]))
    return put_four_decimals(out, put(out, at, _DIVERGENCE), rows.divergence[row])


@njit(nogil=True, cache=True)
def _text_of(texts, offsets, number):
    return texts[offsets[number] : offsets[number + 1]]
