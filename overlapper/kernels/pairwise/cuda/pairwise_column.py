"""Pairwise alignment on a device, what all 32-bit kernels share: edges, bands, and a column of a few rows.

A part of `pairwise`, whose twin is ../pairwise.py.

Rows in registers move along the target, a column at a time. A column leaves a 64-bit word, four times its
rows, of what a path needs to know of each (`TRACE`).
"""

from __future__ import annotations

from functools import cache

from numba import cuda, int32, uint32, uint64

from overlapper.kernels.common.cuda.half_words import instruction
from overlapper.kernels.pairwise.cuda.pairwise_bases import code_in
from overlapper.kernels.pairwise.cuda.pairwise_packed import look_up

TRACE = ("not the pair's", "not the insertion's", "an insertion goes on", "a deletion goes on")
"""Flags of a cell, 16 bits of the word each, the lowest 16 first; row r is bit ``rows - 1 - r``."""
OUTSIDE = 5
"""Code of rows beyond the query, in the tables of scores."""
NEVER = -(2**30)
"""Less than any cell."""
NEVER_LOCAL = -(2**27)
"""Less than any pair of bases makes up for, and times 16 it still fits 32 bits."""

push_sign = instruction("shf.l.wrap.b32 $0, $2, $1, 1;", 2)
"""The first argument moved up by a bit, the sign of the second one below it."""


@cuda.jit(device=True, forceinline=True)
def band_limits(n, m, band):
    """Return the lowest and the highest diagonal, column less row, of the band of a pair, -1 being none."""
    if band < int32(0):
        return int32(-n), int32(m)
    apart = int32(m - n)
    return int32(min(int32(0), apart) - band), int32(max(int32(0), apart) + band)


@cuda.jit(device=True, forceinline=True)
def first_column(row, low):
    """Return the first column, in a band from ``low`` on, of the row below ``row`` and of all below it."""
    return max(int32(1), int32(row + int32(1) + low))


@cuda.jit(device=True, forceinline=True)
def last_column(row, high, columns):
    """Return the last column, in a band up to ``high``, of ``row`` and of all above it."""
    return min(columns, int32(row + high))


@cache
def edge_of(local: bool, banded: bool):
    """Return the device function of H of row 0 and column 0."""
    never = NEVER_LOCAL if local else NEVER

    @cuda.jit(device=True, forceinline=True)
    def edge(free, length, reach, gap_open, gap_extend):
        """Return H of ``length`` bases without partners, ``reach`` at most being in the band."""
        if banded and length > reach:
            return int32(never)
        if local or free or length == int32(0):
            return int32(0)
        return int32(gap_open + length * gap_extend)

    return edge


@cuda.jit(device=True, forceinline=True)
def selector_of(bases, known, position, bytes_fit):
    """Return what selects the scores of rows with one of sixteen bases, from registers or from the table."""
    selector = uint32(code_in(bases, known, position))
    return uint32(uint32(selector * uint32(0x1111)) + uint32(0x8880)) if bytes_fit else selector


@cache
def column_filler(rows: int, local: bool, traced: bool, bytes_fit: bool, banded: bool):
    """Return the device function that computes a column of ``rows`` rows.

    ``bytes_fit`` tells whether a row's scores are bytes in two registers, and not a place in a table.
    """
    never = NEVER_LOCAL if local else NEVER

    @cuda.jit(device=True, forceinline=True)
    def fill_column(
        h, deletion, profile, profile_2, table, selector, diagonal, insertion, gap_1, gap_n, outside, inside
    ):
        """Move rows on by a column.

        Parameters
        ----------
        h, deletion : local array of int32
            H of the column before, and the deletions that enter this one; replaced by those that follow.
        profile, profile_2, table, selector
            Where scores are.
        diagonal, insertion : int32
            H of the column before in the row above, and the insertion that enters the first row.
        gap_1, gap_n : int32
            What the first base of a gap scores, and every other one.
        outside, inside : int32
            Rows above the band, and rows in it.

        Returns
        -------
        insertion : int32
            The one that leaves the last row.
        word : uint64
            Flags, if they are asked for.
        key : int32
            The highest cell times 16, and 15 less its row; of local alignments only.
        """
        not_pair, not_insertion = uint32(0), uint32(0)
        more_insertion, more_deletion = uint32(0), uint32(0)
        key = int32(never)
        for r in range(rows):
            if bytes_fit:
                score = int32(look_up(profile[r], profile_2[r], selector))
            else:
                score = table[profile[r] + selector]
            paired = int32(diagonal + score)
            cell = max(max(paired, deletion[r]), insertion)
            if local:
                cell = max(cell, int32(0))
            if banded:
                cell = cell if uint32(int32(r) - outside) < uint32(inside) else int32(never)
            if local:
                key = max(key, int32(cell * int32(16) + int32(15 - r)))
            diagonal = h[r]
            h[r] = cell
            opened = int32(cell + gap_1)
            longer_insertion = int32(insertion + gap_n)
            longer_deletion = int32(deletion[r] + gap_n)
            if traced:
                not_pair = push_sign(not_pair, uint32(paired - cell))
                not_insertion = push_sign(not_insertion, uint32(insertion - cell))
                more_insertion = push_sign(more_insertion, uint32(opened - longer_insertion))
                more_deletion = push_sign(more_deletion, uint32(opened - longer_deletion))
            insertion = max(longer_insertion, opened)
            deletion[r] = max(longer_deletion, opened)
        low = uint32(not_pair | uint32(not_insertion << uint32(16)))
        high = uint32(more_insertion | uint32(more_deletion << uint32(16)))
        return insertion, uint64((uint64(high) << uint64(32)) | uint64(low)), key

    return fill_column


@cache
def row_setter(bytes_fit: bool):
    """Return the device function that sets where a row's scores are."""

    @cuda.jit(device=True, forceinline=True)
    def set_row(profile, profile_2, r, code, profile_known, profile_n):
        if bytes_fit:
            profile[r], profile_2[r] = profile_known[code], profile_n[code]
        else:
            profile[r] = uint32(code * int32(5))

    return set_row
