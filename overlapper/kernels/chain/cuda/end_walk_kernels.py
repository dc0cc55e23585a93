"""Walks from chains to read ends: the kernels that `end_walks` launches."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32, int64, uint64

from overlapper.kernels.chain.end_walks import PERCENT, SLACK, TILE, slid
from overlapper.kernels.common.cuda.walk_bases import planes_at, walks_from_item
from overlapper.kernels.common.myers import next_column

_ONE, _NONE, _ALL = np.uint64(1), np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)


@cuda.jit(device=True)
def _planes(words, unknown, word_offset, length, origin, up, first):
    """Return 64 steps of a walk as bit planes: lower bits, higher bits, and which bases are known."""
    low, high, without = planes_at(words, unknown, word_offset, length, origin, up, first, True)
    low_2, high_2, without_2 = planes_at(
        words, unknown, word_offset, length, origin, up, int32(first + int32(32)), True
    )
    return (
        uint64(low) | (uint64(low_2) << uint64(32)),
        uint64(high) | (uint64(high_2) << uint64(32)),
        ~(uint64(without) | (uint64(without_2) << uint64(32))),
    )


@cuda.jit
def walk_each(reads, seeds, items, scheme, walked):
    """Walk from an end of a chain; a thread a walk."""
    number = cuda.grid(1)
    if number >= len(items):
        return
    words, unknown, word_offsets, lengths = reads
    q_read, q_origin, q_up, q_steps, t_read, t_origin, t_up, t_steps = walks_from_item(
        lengths, seeds, items[number]
    )
    q_words, t_words = word_offsets[q_read], word_offsets[t_read]
    q_length, t_length = int32(lengths[q_read]), int32(lengths[t_read])
    flip = _ALL if seeds.reverse[items[number] >> 1] else _NONE
    q_done, t_done, left, columns, corner = int32(0), int32(0), int32(0), int32(0), int32(0)
    score, best, q_best, t_best = int64(0), int64(0), int32(0), int32(0)
    # Whether the row above the tile is one more, or one less, than a column before: columns 0 to 63, 64 on.
    low_rises, high_rises, low_falls, high_falls = _NONE, _NONE, _NONE, _NONE
    while q_done < q_steps and t_done < t_steps and score >= best - PERCENT * scheme.drop:
        height = min(int32(TILE), min(int32(q_steps - q_done), int32(t_steps - t_done)))
        by = int32(max(left, int32(t_done - SLACK)) - left)
        rise, low_rises, high_rises, low_falls, high_falls = slid(
            low_rises, high_rises, low_falls, high_falls, by, columns - by
        )
        corner = int32(corner + rise)
        left = int32(left + by)
        columns = int32(min(int32(t_done + height + SLACK), t_steps) - left)
        corner = int32(corner + height)

        q_ones, q_twos, q_known = _planes(words, unknown, q_words, q_length, q_origin, q_up, q_done)
        last = uint64(height - 1)
        edits, least, used = corner, corner, int32(0)
        rises, falls = _ALL, _NONE
        for part in range(2):
            first = int32(64 * part)
            t_ones, t_twos, t_known = _planes(
                words, unknown, t_words, t_length, t_origin, t_up, int32(left + first)
            )
            t_ones, t_twos = t_ones ^ flip, t_twos ^ flip
            above_rises = high_rises if part else low_rises
            above_falls = high_falls if part else low_falls
            below_rises, below_falls = _NONE, _NONE
            for column in range(min(int32(columns - first), int32(64))):
                bit = uint64(column)
                unlike = q_ones ^ (_NONE - ((t_ones >> bit) & _ONE))
                unlike |= q_twos ^ (_NONE - ((t_twos >> bit) & _ONE))
                same = ~unlike & q_known & (_NONE - ((t_known >> bit) & _ONE))
                rise_in, fall_in = (above_rises >> bit) & _ONE, (above_falls >> bit) & _ONE
                rises, falls, up, down = next_column(same, rises, falls, rise_in, fall_in, _ONE)
                more, less = (up >> last) & _ONE, (down >> last) & _ONE
                below_rises |= more << bit
                below_falls |= less << bit
                edits = int32(edits + int32(more) - int32(less))
                if edits < least:
                    least, used = edits, int32(first + column + 1)
            if part:
                high_rises, high_falls = below_rises, below_falls
            else:
                low_rises, low_falls = below_rises, below_falls

        q_done, t_done = int32(q_done + height), int32(left + used)
        score = int64(scheme.edits) * int64(q_done) - int64(PERCENT) * int64(least)
        if score > best:
            best, q_best, t_best = score, q_done, t_done
    walked[number, 0], walked[number, 1] = q_best, t_best
