"""Paths through directions on a device, one a thread, and their CIGARs; the twin of ../pairwise_path.py.

A path is followed from its end; its operations are kept two bits each, 16 to a word, in room for as many as
it has bases. Runs are counted on the way, and written when it is known where each CIGAR starts.
"""

from __future__ import annotations

from functools import cache

from numba import cuda, int32, uint32, uint64

from overlapper.kernels.common.cuda.paths import DELETION, EQUAL, INSERTION, UNEQUAL, packed_run
from overlapper.kernels.pairwise.cuda.pairwise_bases import base_of, sequences_of
from overlapper.kernels.pairwise.pairwise_chunks import OFFSET
from overlapper.kernels.pairwise.pairwise_layout import QUERY_START, TARGET_START

DELETE, INSERT = DELETION + 1, INSERTION + 1
"""What kind of gap a path is in; 0 is none."""
COLUMNS, RUNS = 6, 7
"""Rows of what is found: those of the CPU's kernels, and the number of runs."""


@cuda.jit(device=True, forceinline=True)
def _kept(word, columns, operation, keep, paths, path):
    """Add an operation to the word that holds the last ones; return it, a new one when it is full."""
    word = uint32(word | uint32(uint32(operation) << uint32(2 * (columns & int32(15)))))
    if columns & int32(15) != int32(15):
        return word
    if keep:
        paths[path + (columns >> int32(4))] = word
    return uint32(0)


@cache
def follower(local: bool, word_at):
    """Return the device function that follows a path.

    ``word_at(directions, at, a, b, row, column)`` returns the flags of a cell (`pairwise_column.TRACE`), each
    the lowest of its 16 bits.
    """

    @cuda.jit(device=True)
    def follow(chunk, scores, directions, at, a, b, found, pair, keep, paths):
        """Follow the path that ends where ``found`` says, and set there where it starts and what it has.

        ``paths`` gets its operations, the last one first, from twice the word on where its query is, if
        ``keep`` says so.
        """
        words, unknown, numbers = chunk
        q_at, n, q_flags, t_at, m, t_flags = sequences_of(numbers, pair)
        path = int32(int32(2) * q_at)
        score, row, column = found[0, pair], found[2, pair], found[4, pair]
        gap, matches, columns, changes = int32(0), int32(0), int32(0), int32(0)
        last, word = int32(-1), uint32(0)
        # One way through the loop, as threads of a warp that part would go on one after another.
        inside = row > int32(0) and column > int32(0)
        while inside:
            flags = word_at(directions, at, a, b, row, column)
            goes_on = uint32(flags >> uint64(48)) if gap == int32(DELETE) else uint32(flags >> uint64(32))
            if gap != int32(0) and not goes_on & uint32(1):
                gap, score = int32(0), int32(score - scores.gap_open)
            if local and gap == int32(0) and score == int32(0):
                inside = False
            else:
                if gap == int32(0) and flags & uint64(1):
                    gap = int32(DELETE) if (flags >> uint64(16)) & uint64(1) else int32(INSERT)
                operation, change = int32(gap - int32(1)), scores.gap_extend
                if gap == int32(0):
                    q_code = base_of(words, unknown, q_at, n, q_flags, int32(row - int32(1)))
                    t_code = base_of(words, unknown, t_at, m, t_flags, int32(column - int32(1)))
                    change = scores.table[q_code * int32(5) + t_code]
                    equal = q_code == t_code and q_code < int32(4)
                    operation = int32(EQUAL) if equal else int32(UNEQUAL)
                score = int32(score - change)
                matches = int32(matches + int32(operation == int32(EQUAL)))
                changes = int32(changes + int32(operation != last))
                last = operation
                word = _kept(word, columns, operation, keep, paths, path)
                columns = int32(columns + int32(1))
                row = int32(row - int32(operation != int32(DELETION)))
                column = int32(column - int32(operation != int32(INSERTION)))
                inside = row > int32(0) and column > int32(0)
        if not local and not scores.free & QUERY_START and row > int32(0):
            changes = int32(changes + int32(last != int32(INSERTION)))
            while row > int32(0):
                word = _kept(word, columns, int32(INSERTION), keep, paths, path)
                columns, row = int32(columns + int32(1)), int32(row - int32(1))
        if not local and not scores.free & TARGET_START and column > int32(0):
            changes = int32(changes + int32(last != int32(DELETION)))
            while column > int32(0):
                word = _kept(word, columns, int32(DELETION), keep, paths, path)
                columns, column = int32(columns + int32(1)), int32(column - int32(1))
        if keep and columns & int32(15):
            paths[path + (columns >> int32(4))] = word
        found[1, pair], found[3, pair] = row, column
        found[5, pair], found[COLUMNS, pair] = matches, columns
        found[RUNS, pair] = changes

    return follow


@cuda.jit
def write_runs(paths, numbers, found, cigar_offsets, first, last, cigar):
    """Write the CIGARs of the pairs ``[first, last)``, the first of them to the begin of ``cigar``."""
    for pair in range(first + cuda.grid(1), last, cuda.gridsize(1)):
        at, path = cigar_offsets[pair] - cigar_offsets[first], int32(int32(2) * numbers[OFFSET, pair])
        previous, length, word = uint32(4), uint32(0), uint32(0)
        left = found[COLUMNS, pair]
        if left > int32(0) and left & int32(15):
            word = uint32(paths[path + (left >> int32(4))])
        while left > int32(0):
            if left & int32(15) == int32(0):
                word = uint32(paths[path + (left >> int32(4)) - 1])
            left = int32(left - int32(1))
            operation = uint32(uint32(word >> uint32(2 * (left & int32(15)))) & uint32(3))
            if operation != previous:
                if length > uint32(0):
                    cigar[at] = packed_run(length, previous)
                    at += 1
                previous, length = operation, uint32(0)
            length = uint32(length + uint32(1))
        if length > uint32(0):
            cigar[at] = packed_run(length, previous)
