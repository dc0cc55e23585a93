"""Members carried over from drafts to the next ones, and unknown bases filled; see kernels/cpu/pile.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int64

from overlapper.kernels.cpu.edit_paths import TARGET_UNKNOWN
from overlapper.kernels.cpu.pile import MIN_RUN, RUN_ENDS
from overlapper.kernels.cuda.edit_paths import SIZES, Pairs, add_pair, align_all
from overlapper.kernels.cuda.launch import launch
from overlapper.kernels.cuda.memory import Arena
from overlapper.kernels.cuda.offsets import owner
from overlapper.kernels.cuda.pile import Draft, Members, moved_draft
from overlapper.kernels.cuda.scan import exclusive_sums, last_of

_LONGEST = SIZES[-1][0]


def carry_over(
    members: Members, starts: Any, before: Draft, after: Draft, place: Any, moving: Any, arena: Arena
) -> Any:
    """Carry the members of pieces over to their next drafts; return the paths of all members there.

    Parameters
    ----------
    members : Members
        Gets the columns that paths cover, where they are, and which members are lost.
    starts : device array of int32
        Paths over the drafts before.
    before, after : Draft
    place : device array of int64
        As in `overlapper.kernels.cuda.pile.Voted`.
    moving : device array of uint8, shape (pieces,)
        Which pieces; paths of the others stay as they are.
    arena : Arena
    """
    n = len(members.piece)
    sizes = arena.array(n, np.int32)
    of_members = (members.member_first, members.piece, members.start, members.end, members.used)
    launch(count_rows, n, arena, *of_members, before.first, place, moving, sizes)
    new_at = exclusive_sums(sizes, arena)
    rows = last_of(new_at, arena)
    carried = arena.array(rows, np.int32)
    mark = arena.mark()
    # Runs that part two pairs have MIN_RUN columns and more.
    pairs = Pairs.room_for(rows // MIN_RUN + n, rows + len(members.bases), arena)
    launch(
        carry, n, arena, *of_members, members.first, members.bases, members.at, starts,
        before.first, after.codes, place, moving, new_at, carried, *pairs,
    )  # fmt: skip
    align_all(pairs, after.codes, after.first, members, carried, arena)
    arena.release(mark)
    return carried


@cuda.jit(cache=True)
def count_rows(member_first, piece, start, end, used, draft_first, place, moving, sizes):
    """Count the rows of every member's path over the next draft, none where it is lost; a thread a member."""
    m = cuda.grid(1)
    if m >= len(piece):
        return
    p = piece[m]
    if used[m] == 0 and m + 1 != member_first[p + 1]:
        sizes[m] = 0
    elif moving[p]:
        low = draft_first[p]
        sizes[m] = place[low + end[m]] - place[low + start[m]] + 1
    else:
        sizes[m] = end[m] - start[m] + 1


@cuda.jit(cache=True)
def carry(
    member_first, piece, start, end, used, first, bases, at, starts,
    draft_first, codes, place, moving, new_at, carried, small, medium, large, counts,
):  # fmt: skip
    """Carry the paths of members over, and list what is to be aligned anew; a thread a member."""
    m = cuda.grid(1)
    if m >= len(piece):
        return
    p = piece[m]
    own = m + 1 == member_first[p + 1]
    if used[m] == 0 and not own:
        return
    old_start, old_end, old_at = int64(start[m]), int64(end[m]), at[m]
    if not moving[p]:
        for row in range(old_end - old_start + 1):
            carried[new_at[m] + row] = starts[old_at + old_start + row]
        at[m] = new_at[m] - old_start
        return
    low, member = draft_first[p], first[m]
    origin = place[low]
    new_start, new_end = place[low + old_start] - origin, place[low + old_end] - origin
    to = new_at[m] - new_start
    column, base = new_start, int64(starts[old_at + old_start])
    run, run_column, run_base = int64(0), int64(0), int64(0)
    whole = True
    for c in range(old_start, old_end):
        b, d = int64(starts[old_at + c]), place[low + c] - origin
        if starts[old_at + c + 1] <= b or place[low + c + 1] - origin <= d:
            continue
        if codes[origin + d] != bases[member + b]:
            continue
        if run > 0 and run_column + run == d and run_base + run == b:
            run += 1
            continue
        if run >= MIN_RUN:
            whole &= _align_up_to(
                small, medium, large, counts, m, column, run_column, base, run_base, run, carried, to
            )
            column, base = run_column + run - RUN_ENDS, run_base + run - RUN_ENDS
        run, run_column, run_base = int64(1), d, b
    if run >= MIN_RUN:
        whole &= _align_up_to(
            small, medium, large, counts, m, column, run_column, base, run_base, run, carried, to
        )
        column, base = run_column + run - RUN_ENDS, run_base + run - RUN_ENDS
    last = int64(starts[old_at + old_end])
    whole &= _align(small, medium, large, counts, m, column, new_end, base, last, carried, to)
    carried[to + new_end] = last
    start[m], end[m], at[m] = new_start, new_end, to
    if not own and (not whole or new_end == new_start):
        used[m] = 0


@cuda.jit(device=True)
def _align_up_to(small, medium, large, counts, m, column, run_column, base, run_base, run, carried, to):
    """Have what lies before a run aligned, and pair the run but for its last bases."""
    whole = _align(
        small, medium, large, counts, m, column, run_column + RUN_ENDS, base, run_base + RUN_ENDS, carried, to
    )
    for x in range(RUN_ENDS, run - RUN_ENDS):
        carried[to + run_column + x] = run_base + x
    return whole


@cuda.jit(device=True)
def _align(small, medium, large, counts, m, column, column_end, base, base_end, carried, to):
    """Have a piece aligned; where it is too long, pair bases side by side, and return False."""
    if max(column_end - column, base_end - base) <= _LONGEST:
        add_pair(small, medium, large, counts, m, column, column_end, base, base_end, carried, to)
        return True
    for c in range(column, column_end):
        carried[to + c] = min(base + c - column, base_end)
    return False


def fill_unknown(draft: Draft, members: Members, starts: Any, moving: Any, arena: Arena) -> tuple[Draft, Any]:
    """Give every run of unknown columns the bases of the first member that spans it; return ``place`` too.

    Parameters
    ----------
    draft : Draft
    members : Members
    starts : device array of int32
    moving : device array of uint8, shape (pieces,)
        Gets which pieces have unknown bases and members, and so are to be carried over.
    arena : Arena
    """
    n = len(draft.codes)
    sizes, giver = arena.array(n, np.int32), arena.array(n, np.int32)
    of_members = (
        members.member_first, members.first, members.bases, members.start, members.end, members.at,
        members.used,
    )  # fmt: skip
    launch(count_filled, n, arena, *draft, *of_members, starts, moving, sizes, giver)
    filled, place = moved_draft(draft, sizes, arena)
    launch(
        write_filled, n, arena, *draft, members.first, members.bases, members.at, starts, giver, place,
        filled.codes,
    )  # fmt: skip
    return filled, place


@cuda.jit(cache=True)
def count_filled(
    draft_first, codes, member_first, first, bases, start, end, at, used, starts, moving, sizes, giver
):
    """Count the bases that take the place of every column; a thread a column, for a run its first one.

    ``giver`` gets the member that gives them at the first column of a run, -1 elsewhere.
    """
    x = cuda.grid(1)
    if x >= len(codes):
        return
    if codes[x] != TARGET_UNKNOWN:
        sizes[x], giver[x] = 1, -1
        return
    p = owner(draft_first, x)
    low = draft_first[p]
    if x > low and codes[x - 1] == TARGET_UNKNOWN:
        return
    stop = int64(x)
    while stop < draft_first[p + 1] and codes[stop] == TARGET_UNKNOWN:
        stop += 1
    given = int64(-1)
    for m in range(member_first[p], member_first[p + 1] - 1):
        if used[m] == 0:
            continue
        moving[p] = 1
        if given < 0 and start[m] < x - low and end[m] > stop - low:
            b, last = int64(starts[at[m] + x - low]), int64(starts[at[m] + stop - low])
            known = last - b <= _LONGEST
            while known and b < last:
                known = bases[first[m] + b] < 4
                b += 1
            if known:
                given = int64(m)
    for y in range(x, stop):
        sizes[y], giver[y] = 1 if given < 0 else 0, -1
    giver[x] = given
    if given >= 0:
        row = at[given] + x - low
        sizes[x] = starts[row + stop - x] - starts[row]


@cuda.jit(cache=True)
def write_filled(draft_first, codes, first, bases, at, starts, giver, place, filled):
    """Write the bases that take the place of every column; a thread a column."""
    x = cuda.grid(1)
    if x >= len(codes):
        return
    m, to, size = giver[x], place[x], place[x + 1] - place[x]
    if m < 0:
        if size:
            filled[to] = codes[x]
        return
    b = starts[at[m] + x - draft_first[owner(draft_first, x)]]
    for y in range(size):
        filled[to + y] = bases[first[m] + b + y]
