"""One GACT tile by one thread, 32 rows at a time in the bits of words; the twin of ../gact_tile.py.

As there, row 0 and column 0 are the far corner of a tile, the last row and column the anchor, what is found
is the way out of every cell, and what is carried are differences of scores. In its words, ``g`` being the
score of the first base of a gap and ``o`` what opening one costs, with ``x, e`` taken from row i-1 and
``y, f`` from column j-1 ::

    a = x + e,   b = y + f,   z = max(s - 2g, a, b)
    x = z - y,   y = z - x,   e = max(a + o - z, 0),   f = max(b + o - z, 0)

None is negative, none is above ``match - 2g``: with +1 -1 -1 two bits hold each, with +2 -4 -4-2n (that is,
+1 -2 -2-n) three. So numbers are sliced (`bit_slices`), and 32 cells take some 40 instructions, or 110.

Rows are worked on in stripes of 32, columns in blocks of 32. Bit ``r`` at step ``t`` is row ``r`` of the
stripe and column ``t - r``: 32 cells of one anti-diagonal. At every step the slices of x and e move by a bit
to reach the next row; what leaves at the last row is kept for the first row of the next stripe. ::

              columns  0 1 2 3 ...
       row 0           0 1 2 3 ...          the step at which a cell is computed
       row 1           1 2 3 4 ...
       row 2           2 3 4 5 ...

Cells outside the tile hold anything: none inside depends on them, once y and f are held at their values on
the edge until column 0.

Of each cell two bits are stored, its operation (`UNEQUAL` ...) unless a gap goes on; with affine gaps two
more, ``e > 0`` and ``f > 0``: whether a gap that comes from the row or column after goes on here.
"""

from __future__ import annotations

from numba import cuda, int32, uint32, uint64

from overlapper.kernels.common.cuda.half_words import shift_left
from overlapper.kernels.common.cuda.walk_bases import planes_at
from overlapper.kernels.gact.cuda.gact_layout import BASE_PLANES, border_planes, direction_words
from overlapper.kernels.pairwise.cuda.bit_slices import arithmetic, select


def _stepper(bits: int, affine: bool, at_edge: bool):
    """Return the function for the 32 steps of a block; ``at_edge`` is that of columns 0 to 31."""
    numbers = arithmetic(bits)
    words = direction_words(affine)

    @cuda.jit(device=True, forceinline=True)
    def advance(
        q_low, q_high, q_unknown, before, here, x, y, e, f, border, scores, substitutes,
        directions, at, lanes, store,
    ):  # fmt: skip
        """Compute 32 steps; ``before`` and ``here`` are the columns of the last block and of this one."""
        equal_extra, unequal, edge, opening = scores
        a, b = cuda.local.array(bits, uint32), cuda.local.array(bits, uint32)
        largest, z = cuda.local.array(bits, uint32), cuda.local.array(bits, uint32)
        turn = uint32(0)
        while turn < uint32(32):
            turn = uint32(turn + uint32(1))
            low = uint32(q_low ^ shift_left(here[0], before[0], turn))
            high = uint32(q_high ^ shift_left(here[1], before[1], turn))
            without = uint32(q_unknown | shift_left(here[2], before[2], turn))
            equal = uint32(~uint32(low | high | without))

            # x and e come from the row before: the highest bit of the border moves into row 0.
            for k in range(bits):
                x[k] = shift_left(border[k], x[k], uint32(1))
                a[k], b[k] = x[k], y[k]
            if affine:
                for k in range(bits):
                    e[k] = shift_left(border[bits + k], e[k], uint32(1))
                numbers.add(a, x, e)
                numbers.add(b, y, f)
            from_column = numbers.less(a, b)
            numbers.choose(largest, from_column, b, a)
            for k in range(bits):
                z[k] = uint32(uint32(equal & equal_extra[k]) ^ unequal[k])
            pair = uint32(uint32(~numbers.less(z, largest)) & uint32(equal | substitutes))
            numbers.choose(z, pair, z, largest)

            if affine:
                numbers.subtract(a, z, a)
                numbers.subtract(b, z, b)
                numbers.keep(e, uint32(~numbers.subtract(e, opening, a)))
                numbers.keep(f, uint32(~numbers.subtract(f, opening, b)))
            numbers.subtract(a, z, y)
            numbers.subtract(y, z, x)
            # Row 31 moves into the lowest bit of the border.
            for k in range(bits):
                x[k] = a[k]
                border[k] = shift_left(x[k], border[k], uint32(1))
            if affine:
                for k in range(bits):
                    border[bits + k] = shift_left(e[k], border[bits + k], uint32(1))
            if at_edge:
                # Rows that have reached column 0; the others wait with what y and f are on the edge.
                begun = shift_left(uint32(0xFFFFFFFF), uint32(0), turn)
                numbers.choose(y, begun, y, edge)
                if affine:
                    numbers.keep(f, begun)

            if store:
                operation = uint64(pair) << uint64(32) | uint64(select(pair, equal, uint32(~from_column)))
                if affine:
                    inserts_on, deletes_on = uint32(0), uint32(0)
                    for k in range(bits):
                        inserts_on, deletes_on = uint32(inserts_on | e[k]), uint32(deletes_on | f[k])
                    directions[uint32(at + lanes)] = uint64(deletes_on) << uint64(32) | uint64(inserts_on)
                directions[at] = operation
                at = uint32(at + uint32(lanes * uint32(words)))

    return advance


def filler(bits: int, affine: bool):
    """Return the device function that fills a tile, for scores whose ``equal`` has ``bits`` bits."""
    advance_at_edge, advance = _stepper(bits, affine, True), _stepper(bits, affine, False)
    planes, words = border_planes(bits, affine), direction_words(affine)

    @cuda.jit(device=True, forceinline=True)
    def fill(
        base_words, unknown, q_offset, q_length, q_at, q_up, height,
        t_offset, t_length, t_at, t_up, width, complement, scores, substitutes,
        columns, borders, directions, lane, lanes, first_stripe, first_block, stored_blocks,
    ):  # fmt: skip
        """Store the operations of the stripes from ``first_stripe`` on, of blocks from ``first_block`` on.

        Parameters
        ----------
        base_words, unknown : device array of uint32
            As in `DeviceReads`.
        q_offset, q_length, q_at, q_up, height, t_offset, t_length, t_at, t_up, width : int
            Of query and target: the read in the words and its length, the anchor of the tile on it, whether
            positions rise from there, and the bases of the tile.
        complement : uint32
            Ones if the target's bases are to be complemented.
        scores : tuple of slices
            Bits in which equal and unequal pairs differ, unequal pairs, the edge, opening.
        substitutes : uint32
            As in `TileScores`.
        columns, borders, directions : device array of uint32, uint32, uint64
            The group's room to work in, lane by lane; what follows is in words of a lane: ``BASE_PLANES`` a
            block; `border_planes` a block and one block more; `direction_words` a step. Step ``((stripe -
            first_stripe) * stored_blocks + block - first_block) * 32 + step`` gets the lower bits of
            operations and, in its high half, the higher ones; with affine gaps then ``e > 0`` and ``f > 0``.
        lane, lanes : uint32
        first_stripe, first_block, stored_blocks : uint32
        """
        edge = scores[2]
        x, y = cuda.local.array(bits, uint32), cuda.local.array(bits, uint32)
        e, f = cuda.local.array(bits, uint32), cuda.local.array(bits, uint32)
        border, border_before = cuda.local.array(planes, uint32), cuda.local.array(planes, uint32)
        blocks = uint32(uint32(width + int32(62)) >> uint32(5))
        block = uint32(0)
        while block <= blocks:
            low, high, without = planes_at(
                base_words, unknown, t_offset, t_length, t_at, t_up,
                int32(width - int32(32) - int32(uint32(32) * block)), True,
            )  # fmt: skip
            if block < blocks:
                at = uint32(uint32(block * uint32(BASE_PLANES)) * lanes + lane)
                columns[at] = uint32(low ^ complement)
                columns[uint32(at + lanes)] = uint32(high ^ complement)
                columns[uint32(at + uint32(lanes * uint32(2)))] = without
            at = uint32(uint32(block * uint32(planes)) * lanes + lane)
            for k in range(planes):
                borders[at] = edge[k] if k < bits else uint32(0)
                at = uint32(at + lanes)
            block = uint32(block + uint32(1))

        stripe, stripes = uint32(0), uint32(uint32(height + int32(31)) >> uint32(5))
        while stripe < stripes:
            q_low, q_high, q_unknown = planes_at(
                base_words, unknown, q_offset, q_length, q_at, q_up,
                int32(height - int32(32) - int32(uint32(32) * stripe)), False,
            )  # fmt: skip
            before = (uint32(0), uint32(0), uint32(0))
            for k in range(bits):
                x[k], y[k], e[k], f[k] = uint32(0), edge[k], uint32(0), uint32(0)
            at_border, at_columns = lane, lane
            for k in range(planes):
                border_before[k] = borders[at_border]
                at_border = uint32(at_border + lanes)
            block = uint32(0)
            while block < blocks:
                here = (
                    columns[at_columns],
                    columns[uint32(at_columns + lanes)],
                    columns[uint32(at_columns + uint32(lanes * uint32(2)))],
                )
                at_columns = uint32(at_columns + uint32(lanes * uint32(BASE_PLANES)))
                # A block's word of the border ends with its column 0, as the last row lags by 31 columns.
                for k in range(planes):
                    following = borders[at_border]
                    border[k] = shift_left(following, border_before[k], uint32(31))
                    border_before[k] = following
                    at_border = uint32(at_border + lanes)
                store = stripe >= first_stripe and block >= first_block
                step = uint32(uint32(stripe - first_stripe) * stored_blocks + uint32(block - first_block))
                at = uint32(uint32(step * uint32(32 * words)) * lanes + lane)
                if block == uint32(0):
                    advance_at_edge(
                        q_low, q_high, q_unknown, before, here, x, y, e, f, border, scores, substitutes,
                        directions, at, lanes, store,
                    )  # fmt: skip
                else:
                    advance(
                        q_low, q_high, q_unknown, before, here, x, y, e, f, border, scores, substitutes,
                        directions, at, lanes, store,
                    )  # fmt: skip
                at = uint32(uint32(block * uint32(planes)) * lanes + lane)
                for k in range(planes):
                    borders[at] = border[k]
                    at = uint32(at + lanes)
                before = here
                block = uint32(block + uint32(1))
            stripe = uint32(stripe + uint32(1))

    return fill
