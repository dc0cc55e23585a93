"""GACT extensions on a CUDA device, one a thread: tile after tile, each path followed and kept as operations.

A part of `gact`, whose twin is ../gact.py.

A thread takes an extension off a counter, and the next one when that has ended; the longest come first. The
32 threads of a warp fill their tiles in step, and then follow their paths in step, so it does not matter that
a path is followed one column at a time. What they store at a step lies side by side in memory.

The operations of an extension, as `gact_tile` numbers them, are written from the anchor outward, 16 to a
word, to a place of their own with room for as many as there are bases before the extension.
"""

from __future__ import annotations

from numba import cuda, int32, int64, uint32, uint64

from overlapper.kernels.common.cuda.paths import DELETION, EQUAL, INSERTION
from overlapper.kernels.common.cuda.walk_bases import walks_from_item
from overlapper.kernels.gact.cuda.gact_layout import OPERATIONS, direction_words
from overlapper.kernels.gact.cuda.gact_tile import filler
from overlapper.kernels.pairwise.cuda.bit_slices import arithmetic


def _follower(affine: bool):
    """Return the function that follows the path of a tile."""
    words = direction_words(affine)

    @cuda.jit(device=True, forceinline=True)
    def follow(
        directions, lane, lanes, first_stripe, first_block, stored_blocks, height, width, step, gain, loss,
        paths, path, columns, kept, behind, word,
    ):  # fmt: skip
        """Return the rows and columns left of the tile, and what came of the last four arguments.

        These are the operations of the path, up to which of them it is best trimmed, what it has gained since
        (never above 0), and the word of operations that is not full yet.
        """
        i, j = int32(height - int32(1)), int32(width - int32(1))
        last_i, last_j = int32(i - step), int32(j - step)
        steps, first_step = uint32(stored_blocks * uint32(32)), uint32(first_block * uint32(32))
        operation = uint32(EQUAL)
        while i >= int32(0) and j >= int32(0):
            row = uint32(i & int32(31))
            stripe, cell = uint32(uint32(i >> int32(5)) - first_stripe), uint32(uint32(j) + row)
            at = uint32(stripe * steps + uint32(cell - first_step))
            at = uint32(uint32(at * uint32(words)) * lanes + lane)
            in_gap = False
            if affine:
                goes_on = uint64(directions[uint32(at + lanes)] >> uint64(row))
                if operation == uint32(INSERTION):
                    in_gap = (goes_on & uint64(1)) != uint64(0)
                if operation == uint32(DELETION):
                    in_gap = ((goes_on >> uint64(32)) & uint64(1)) != uint64(0)
            if not in_gap:
                if i <= last_i or j <= last_j:
                    break
                bits = uint64(directions[at] >> uint64(row))
                operation = uint32(uint32(bits & uint64(1)) | uint32((bits >> uint64(31)) & uint64(2)))
            if operation != uint32(DELETION):
                i = int32(i - int32(1))
            if operation != uint32(INSERTION):
                j = int32(j - int32(1))

            place = uint32(columns & uint32(OPERATIONS - 1))
            word = uint32(word | uint32(operation << uint32(place * uint32(2))))
            if place == uint32(OPERATIONS - 1):
                paths[uint64(path + uint64(columns >> uint32(4)))] = word
                word = uint32(0)
            columns = uint32(columns + uint32(1))
            behind += gain if operation == uint32(EQUAL) else -loss
            if behind > 0:
                kept, behind = columns, int64(0)
        return int32(i + int32(1)), int32(j + int32(1)), columns, kept, behind, word

    return follow


def extension_kernel(bits: int, affine: bool):
    """Return the kernel for scores whose ``TileScores.equal`` has ``bits`` bits."""
    numbers = arithmetic(bits)
    fill = filler(bits, affine)
    follow = _follower(affine)

    @cuda.jit
    def extend(
        reads, anchors, items, tile_scores, tile, step, gain, loss, give_up, stored_blocks, lanes, counter,
        columns_room, borders_room, directions_room, paths, path_offsets, kept_columns, tiles,
    ):  # fmt: skip
        """Extend ``items`` in their order.

        Parameters
        ----------
        reads : DeviceColumns
        anchors : Seeds
            Of no length.
        items : device array of int64
            Extensions: twice the anchor, one more if it runs after the anchor.
        tile_scores : TileScores
            Of uint32.
        tile, step : int32
        gain, loss, give_up : int64
        stored_blocks : uint32
            As `stored_part` returns it.
        lanes : uint32
            Threads of a group.
        counter : device array of int32, shape (1,)
        columns_room, borders_room, directions_room : device array, shape (groups, words * lanes)
            Room for as many tiles at once; threads beyond have nothing to do.
        paths : device array of uint32
            Gets the operations of extension ``item`` from ``path_offsets[item]`` on.
        kept_columns : device array of int64
            Gets how many of them are worth keeping.
        tiles : device array of int32
            Gets of how many tiles they are.
        """
        base_words, unknown, word_offsets, lengths = reads
        equal, unequal, edge, opening, substitutes = tile_scores
        thread = uint32(cuda.grid(1))
        group = uint32(thread // lanes)
        lane = uint32(thread - uint32(group * lanes))
        if group >= len(directions_room):
            return
        columns_here, borders_here = columns_room[group], borders_room[group]
        directions = directions_room[group]
        difference, mismatch = cuda.local.array(bits, uint32), cuda.local.array(bits, uint32)
        on_edge, to_open = cuda.local.array(bits, uint32), cuda.local.array(bits, uint32)
        numbers.spread(difference, uint32(equal ^ unequal))
        numbers.spread(mismatch, unequal)
        numbers.spread(on_edge, edge)
        numbers.spread(to_open, opening)
        scores = (difference, mismatch, on_edge, to_open)

        working, item, done = False, int64(0), int32(0)
        q_offset, q_bases, q_at, q_up, q_left = int64(0), int32(0), int32(0), False, int32(0)
        t_offset, t_bases, t_at, t_up, t_left = int64(0), int32(0), int32(0), False, int32(0)
        complement, word = uint32(0), uint32(0)
        path, columns, kept, behind = uint64(0), uint32(0), uint32(0), int64(0)
        while True:
            if not working:
                number = cuda.atomic.add(counter, 0, 1)
                if number >= len(items):
                    break
                item = items[number]
                q_read, q_at, q_up, q_left, t_read, t_at, t_up, t_left = walks_from_item(
                    lengths, anchors, item
                )
                q_offset, t_offset = word_offsets[q_read], word_offsets[t_read]
                q_bases, t_bases = int32(lengths[q_read]), int32(lengths[t_read])
                complement = uint32(0xFFFFFFFF) if q_up != t_up else uint32(0)
                path, columns, kept, behind = uint64(path_offsets[item]), uint32(0), uint32(0), int64(0)
                word, done = uint32(0), int32(0)

            working = q_left > int32(0) and t_left > int32(0)
            if working:
                height, width = min(tile, q_left), min(tile, t_left)
                first_stripe, first_block = uint32(0), uint32(0)
                if not affine:
                    first_stripe = uint32(max(int32(height - step), int32(0)) >> int32(5))
                    first_block = uint32(max(int32(width - step), int32(0)) >> int32(5))
                fill(
                    base_words, unknown, q_offset, q_bases, q_at, q_up, height,
                    t_offset, t_bases, t_at, t_up, width, complement, scores, substitutes,
                    columns_here, borders_here, directions, lane, lanes,
                    first_stripe, first_block, stored_blocks,
                )  # fmt: skip
                rows_left, columns_left, columns, kept, behind, word = follow(
                    directions, lane, lanes, first_stripe, first_block, stored_blocks,
                    height, width, step, gain, loss, paths, path, columns, kept, behind, word,
                )  # fmt: skip
                q_used, t_used = int32(height - rows_left), int32(width - columns_left)
                q_at = int32(q_at + q_used) if q_up else int32(q_at - q_used)
                t_at = int32(t_at + t_used) if t_up else int32(t_at - t_used)
                q_left, t_left = int32(q_left - q_used), int32(t_left - t_used)
                done = int32(done + int32(1))
                working = q_left > int32(0) and t_left > int32(0) and int64(columns - kept) < give_up
            if not working:
                if columns & uint32(OPERATIONS - 1):
                    paths[uint64(path + uint64(columns >> uint32(4)))] = word
                kept_columns[item] = kept
                tiles[item] = done

    return extend
