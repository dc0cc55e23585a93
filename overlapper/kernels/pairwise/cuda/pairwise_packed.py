"""Local alignment of short pairs on a device: score and end, two pairs a register.

A part of `pairwise`, whose twin is ../pairwise.py.

A group of lanes computes two pairs at a time, one in either half of its registers. A lane holds ``rows``
successive rows and moves along the targets a column a step, each lane a column behind the one above it, from
which it gets the row above its own by shuffles. There is no memory traffic but for the bases.

Cells are signed 16-bit numbers. Scores are scaled by a power of two; what is left below them names the row of
a cell, the higher the further up, so that a plain maximum finds the best cell of a column and the first of
equal ones. What a row scores with each of the four bases are four bytes in a register a pair, and one
permutation looks up both pairs' scores. So scores have to fit bytes, scaled
(`pairwise_classes.longest_packed`), and bases have to be known.
"""

from __future__ import annotations

from functools import cache

from numba import cuda, int32, int64, uint32

from overlapper.kernels.common.cuda.half_words import instruction, spread_signs
from overlapper.kernels.pairwise.cuda.pairwise_bases import base_of, sequences_of, sixteen_bases

FULL = 0xFFFFFFFF
SIGNS = 0x80008000
"""The highest bit of either half: it takes the borrow of a half that is subtracted from."""
OUTSIDE = 0x80808080
"""What a row beyond the query scores: the least there is."""

_MODERN = {
    "add": "add.s16x2 $0, $1, $2;",
    "add_max": "{.reg .b32 t; add.s16x2 t, $1, $2; max.s16x2 $0, t, $3;}",
    "add_max_0": "{.reg .b32 t; add.s16x2 t, $1, $2; max.s16x2.relu $0, t, $3;}",
    "max": "max.s16x2 $0, $1, $2;",
}
_OLDER = {
    "add": "{.reg .b32 z; mov.b32 z, 0; vadd2.s32.s32.s32 $0, $1, $2, z;}",
    "add_max": "{.reg .b32 t, z; mov.b32 z, 0; vadd2.s32.s32.s32 t, $1, $2, z; "
    "vmax2.s32.s32.s32 $0, t, $3, z;}",
    "add_max_0": "{.reg .b32 t, z; mov.b32 z, 0; vadd2.s32.s32.s32 t, $1, $2, z; "
    "vmax2.s32.s32.s32 t, t, $3, z; vmax2.s32.s32.s32 $0, t, z, z;}",
    "max": "{.reg .b32 z; mov.b32 z, 0; vmax2.s32.s32.s32 $0, $1, $2, z;}",
}
look_up = instruction("prmt.b32 $0, $1, $2, $3;", 3)
"""Four of the eight bytes of two registers, or copies of their signs, as the third one selects."""
from_lane_above = instruction("shfl.sync.up.b32 $0, $1, 1, $2, 0xffffffff;", 2, together=True)
"""The first argument of the lane before; the second one says where groups begin."""


@cache
def packed_kernel(lanes: int, rows: int, bits: int, modern: bool):
    """Return the kernel for groups of ``lanes`` lanes of ``rows`` rows.

    ``modern`` tells whether the device has 16-bit arithmetic in pairs, as from compute capability 9.0 on.
    """
    text = _MODERN if modern else _OLDER
    add, largest = instruction(text["add"], 2), instruction(text["max"], 2)
    add_max, add_max_0 = instruction(text["add_max"], 3), instruction(text["add_max_0"], 3)
    groups, scale = 32 // lanes, 1 << bits
    row_names = (scale - 1) * 0x10001
    # shfl.up: lanes that are the first of their group keep their own value.
    clamp = (32 - lanes) << 8

    @cuda.jit(device=True, forceinline=True)
    def profile_of(words, unknown, offset, length, flags, position, by_base):
        if position >= length:
            return uint32(OUTSIDE)
        return by_base[base_of(words, unknown, offset, length, flags, position)]

    @cuda.jit(device=True)
    def settle(found, pair, score_key, column_key, first_row, lane):
        """Reduce the best cells of a group's lanes to the first of the highest ones, and write it."""
        score, column = int32(score_key >> uint32(bits)), int32(column_key)
        row = int32(first_row + int32(scale - 1) - int32(score_key & uint32(scale - 1)))
        best = (int64(score) << 40) | (int64(0xFFFFF - column) << 20) | int64(0xFFFFF - row)
        apart = lanes // 2
        while apart > 0:
            best = max(best, cuda.shfl_xor_sync(FULL, best, apart))
            apart //= 2
        if lane == int32(0):
            score = int32(best >> 40)
            found[0, pair] = score
            found[2, pair] = int32(0xFFFFF - int32(best & 0xFFFFF)) + int32(1) if score else int32(0)
            found[4, pair] = int32(0xFFFFF - int32((best >> 20) & 0xFFFFF)) if score else int32(0)

    @cuda.jit
    def local_ends(chunk, order, by_base, first_gap, next_gap, found):
        """Align pairs ``order``, two after another together; ``found`` gets scores and ends."""
        words, unknown, numbers = chunk
        lane = int32(cuda.laneid & (lanes - 1))
        group = int32(cuda.laneid) // int32(lanes)
        warp = (cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x) // 32
        warps = cuda.gridDim.x * cuda.blockDim.x // 32
        count = len(order)
        h, deletion = cuda.local.array(rows, uint32), cuda.local.array(rows, uint32)
        profile_a, profile_b = cuda.local.array(rows, uint32), cuda.local.array(rows, uint32)
        first_row = int32(lane * int32(rows))
        gap_1, gap_n = uint32(first_gap), uint32(next_gap)

        for base in range(2 * warp * groups, count, 2 * warps * groups):
            a = order[min(base + 2 * group, count - 1)]
            b = order[min(base + 2 * group + 1, count - 1)]
            q_a, n_a, q_flags_a, t_a, m_a, t_flags_a = sequences_of(numbers, a)
            q_b, n_b, q_flags_b, t_b, m_b, t_flags_b = sequences_of(numbers, b)
            for r in range(rows):
                position = int32(first_row + int32(r))
                profile_a[r] = profile_of(words, unknown, q_a, n_a, q_flags_a, position, by_base)
                profile_b[r] = profile_of(words, unknown, q_b, n_b, q_flags_b, position, by_base)
                h[r], deletion[r] = uint32(0), gap_1
            steps = int32(max(m_a, m_b) + int32(lanes - 1))
            apart = lanes
            while apart < 32:
                steps = max(steps, int32(cuda.shfl_xor_sync(FULL, steps, apart)))
                apart *= 2
            lengths = uint32((uint32(m_b) << uint32(16)) | uint32(m_a) | uint32(SIGNS))
            selector, insertion, above, diagonal_0 = uint32(0), gap_1, uint32(0), uint32(0)
            best, columns, column = uint32(0), uint32(0), uint32(0)
            threshold = uint32(row_names | SIGNS)
            bases_a, bases_b = uint32(0), uint32(0)
            for step in range(steps):
                if step & 15 == 0:
                    # The first lane alone makes use of them.
                    bases_a, _ = sixteen_bases(words, unknown, t_a, m_a, t_flags_a, int32(step))
                    bases_b, _ = sixteen_bases(words, unknown, t_b, m_b, t_flags_b, int32(step))
                codes = uint32((bases_a & uint32(3)) | uint32((bases_b & uint32(3)) << uint32(8)))
                bases_a, bases_b = uint32(bases_a >> uint32(2)), uint32(bases_b >> uint32(2))
                selector = from_lane_above(selector, uint32(clamp))
                above = from_lane_above(h[rows - 1], uint32(clamp))
                insertion = from_lane_above(insertion, uint32(clamp))
                if lane == int32(0):
                    selector = uint32(uint32(codes * uint32(0x11)) + uint32(0xC480))
                    above, insertion = uint32(0), gap_1
                if step >= lane:
                    column = uint32(column + uint32(0x10001))
                    diagonal = diagonal_0
                    diagonal_0 = above
                    key = uint32(0)
                    for r in range(rows):
                        pair = look_up(profile_a[r], profile_b[r], selector)
                        cell = largest(add_max_0(diagonal, pair, deletion[r]), insertion)
                        diagonal = h[r]
                        key = add_max(cell, uint32(row_names - r * 0x10001), key)
                        opened = add(cell, gap_1)
                        deletion[r] = add_max(deletion[r], gap_n, opened)
                        insertion = add_max(insertion, gap_n, opened)
                        h[r] = cell
                    # A half keeps what it has unless its score is higher and its target has not ended.
                    not_higher = spread_signs(uint32(threshold - key))
                    inside = spread_signs(uint32(lengths - column))
                    kept = uint32(not_higher | uint32(~inside))
                    best = uint32(uint32(best & kept) | uint32(key & uint32(~kept)))
                    columns = uint32(uint32(columns & kept) | uint32(column & uint32(~kept)))
                    threshold = uint32(best | uint32(row_names | SIGNS))
            settle(found, a, uint32(best & uint32(0xFFFF)), uint32(columns & uint32(0xFFFF)), first_row, lane)
            settle(found, b, uint32(best >> uint32(16)), uint32(columns >> uint32(16)), first_row, lane)

    return local_ends
