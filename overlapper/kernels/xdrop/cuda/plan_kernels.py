"""Which extensions are worth it, and with which group each starts: the kernels that `xdrop` plans with.

A part of `xdrop`, whose twin is ../xdrop.py.
"""

from __future__ import annotations

from numba import cuda, int32, int64

from overlapper.kernels.common.cuda.walk_bases import walks_from_item
from overlapper.kernels.xdrop.cuda.xdrop_groups import FIRST, RANKS

LOWEST = -(2**31)


@cuda.jit
def plan_extensions(
    lengths, seeds, match, number_of_round, usual_rows, usable, longest, longest_read, needs, extensions,
    needed, numbers,
):  # fmt: skip
    """Write a number for each extension that tells the group it starts with and its length; a thread each.

    Reads that differ in one base of seven were seen to have .82 X live rows for a gap of 1. No anti-diagonal
    has more cells than the shorter sequence has bases, and one.

    Parameters
    ----------
    lengths : device array of int64, shape (reads,)
    seeds : Seeds
    match : int
    number_of_round : int
        In the first one are the longer extension of each seed (of equal ones, that before it), and both of
        those that are likely; in the second one the others.
    usual_rows : int
        Rows that extensions usually need.
    usable : device array of int64, shape (groups,)
        Rows that each group holds, rising.
    longest : int
        No group holds an extension with this many bases before it on both sides together.
    longest_read : int
    needs : Needs
    extensions : device array of int32, shape (2 * seeds, 3)
        What was found in the first round.
    needed : device array of int32, shape (2 * seeds,)
        Out: score that each extension needs, where it is planned.
    numbers : device array of int32, shape (2 * seeds,)
        Out: 0 for those that are not planned, or cannot reach the score. The narrowest group has the highest
        numbers, and of these the longest extension.
    """
    item = cuda.grid(1)
    if item >= len(numbers):
        return
    seed, other = item >> 1, item ^ 1
    _, _, _, q_steps, _, _, _, t_steps = walks_from_item(lengths, seeds, item)
    _, _, _, q_others, _, _, _, t_others = walks_from_item(lengths, seeds, other)
    steps, others = int64(min(q_steps, t_steps)), int64(min(q_others, t_others))
    is_longer = steps > others or (steps == others and item & 1 == 0)
    planned = (is_longer or needs.likely[seed]) == (number_of_round == FIRST)
    of_other = others * match if number_of_round == FIRST else int64(extensions[other, 0])
    lacking = int64(needs.least[seed]) - seeds.length * match - of_other
    if not planned or steps * match < lacking:
        numbers[item] = int32(0)
        return
    needed[item] = int32(max(lacking, int64(LOWEST)))
    rows = min(int64(usual_rows), int64(min(q_steps, t_steps)) + 1)
    group = int64(0)
    while group < len(usable) and usable[group] < rows:
        group += 1
    if int64(q_steps) + int64(t_steps) >= longest:
        group = int64(len(usable))
    rank = steps * (RANKS - 1) // longest_read
    numbers[item] = int32(1 + (len(usable) - group) * RANKS + rank)
