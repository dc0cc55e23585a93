"""From the operations of both extensions to intervals, scores and CIGARs, one alignment a thread.

A part of `gact`, whose twin is ../gact.py.

An alignment's operations are those of the extension before the anchor, the last one first, and of the one
after it. Runs have to be counted before there is a place for them, so this takes two kernels.
"""

from __future__ import annotations

from numba import cuda, int32, int64, uint32

from overlapper.kernels.common.cuda.paths import DELETION, EQUAL, INSERTION, packed_run
from overlapper.kernels.gact.cuda.gact_layout import OPERATIONS


@cuda.jit(device=True, forceinline=True)
def _operation(paths, path, column):
    return uint32(paths[path + column // OPERATIONS] >> uint32(2 * (column & (OPERATIONS - 1)))) & uint32(3)


@cuda.jit(device=True, forceinline=True)
def _joined_operation(paths, path_before, before, path_after, column):
    """Return an operation of an alignment, of which ``before`` ones lie before the anchor."""
    if column < before:
        return _operation(paths, path_before, before - 1 - column)
    return _operation(paths, path_after, column - before)


@cuda.jit(device=True)
def _leading(paths, path, kept):
    """Return how many operations precede the first equal pair, and how many query and target bases."""
    columns, q, t = int64(0), int64(0), int64(0)
    while columns < kept:
        operation = _operation(paths, path, columns)
        if operation == uint32(EQUAL):
            break
        q += operation != uint32(DELETION)
        t += operation != uint32(INSERTION)
        columns += 1
    return columns, q, t


@cuda.jit
def measure(
    paths, path_offsets, kept_columns, anchors, lengths, match, mismatch, gap_open, gap_extend, rows, columns,
    runs,
):  # fmt: skip
    """Find the interval and score of every alignment, and how many runs it has.

    Parameters
    ----------
    paths, path_offsets, kept_columns : device array
        As `gact_path` leaves them.
    anchors : Seeds
        Of no length.
    lengths : device array of int64
        Of reads.
    match, mismatch, gap_open, gap_extend : int64
    rows : device array of int64, shape (n, 7)
        Gets query start and end, target start and end (on the query's strand), score, equal pairs, columns.
    columns : device array of int64, shape (n, 2)
        Gets which operations, joined, are the alignment's: if nothing lies on one side of the anchor, those
        beside it that are no equal pairs are not.
    runs : device array of int64, shape (n,)
    """
    for row in range(cuda.grid(1), len(rows), cuda.gridsize(1)):
        path_before, path_after = path_offsets[2 * row], path_offsets[2 * row + 1]
        before, after = kept_columns[2 * row], kept_columns[2 * row + 1]
        first, last = int64(0), before + after
        q_start, t_start = int64(anchors.query_pos[row]), int64(anchors.target_pos[row])
        if anchors.reverse[row]:
            t_start = lengths[anchors.target[row]] - t_start
        if after == 0:
            dropped, q_dropped, t_dropped = _leading(paths, path_before, before)
            last -= dropped
            q_start -= q_dropped
            t_start -= t_dropped
        if before == 0:
            dropped, q_dropped, t_dropped = _leading(paths, path_after, after)
            first += dropped
            q_start += q_dropped
            t_start += t_dropped

        equal, insertions, deletions, gaps, changes = int64(0), int64(0), int64(0), int64(0), int64(0)
        q_before, t_before = int64(0), int64(0)
        previous = uint32(4)
        for column in range(first, last):
            operation = _joined_operation(paths, path_before, before, path_after, column)
            inserts, deletes = operation == uint32(INSERTION), operation == uint32(DELETION)
            equal += operation == uint32(EQUAL)
            insertions += inserts
            deletions += deletes
            if column < before:
                q_before += not deletes
                t_before += not inserts
            if operation != previous:
                changes += 1
                gaps += inserts or deletes
            previous = operation

        length = last - first
        unequal = length - equal - insertions - deletions
        rows[row, 0] = q_start - q_before
        rows[row, 1] = q_start - q_before + length - deletions
        rows[row, 2] = t_start - t_before
        rows[row, 3] = t_start - t_before + length - insertions
        rows[row, 4] = (
            equal * match + unequal * mismatch + gaps * gap_open + (insertions + deletions) * gap_extend
        )
        rows[row, 5], rows[row, 6] = equal, length
        columns[row, 0], columns[row, 1] = first, last
        runs[row] = changes


@cuda.jit
def write_runs(paths, path_offsets, kept_columns, columns, cigar_offsets, cigar):
    """Write the runs of every alignment, in BAM's packing, from ``cigar_offsets[row]`` on."""
    for row in range(cuda.grid(1), len(columns), cuda.gridsize(1)):
        path_before, path_after = path_offsets[2 * row], path_offsets[2 * row + 1]
        before = kept_columns[2 * row]
        at = cigar_offsets[row]
        previous, length = uint32(4), int32(0)
        for column in range(columns[row, 0], columns[row, 1]):
            operation = _joined_operation(paths, path_before, before, path_after, column)
            if operation != previous and length > int32(0):
                cigar[at] = packed_run(length, previous)
                at += 1
                length = int32(0)
            length = int32(length + int32(1))
            previous = operation
        if length > int32(0):
            cigar[at] = packed_run(length, previous)
