"""Votes of layers of the target's haplotype; the twin of ../known_votes.py, which defines them."""

from __future__ import annotations

from typing import Any

from numba import cuda, int32, int64

from overlapper.kernels.common.cuda.offsets import owner
from overlapper.kernels.consensus.cuda.votes import (
    INSERTED,
    STANDING,
    Draft,
    Layers,
    Votes,
    add_votes,
    clear_votes,
    write_votes,
)
from overlapper.kernels.consensus.haplotype_filter import MIN_LAYERS, OTHER, SAME
from overlapper.kernels.consensus.known_votes import MIN_KNOWN, differ
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena


def let_known_decide(
    draft: Draft,
    layers: Layers,
    starts: Any,
    votes: Votes,
    left_out: Any,
    sides: Any,
    decided: Any,
    arena: Arena,
) -> None:
    """Take the vote from layers that may be of either haplotype, where haplotypes differ.

    Parameters
    ----------
    draft : Draft
    layers : Layers
    starts : device array of int32
    votes : Votes
        Of these layers; their weights change.
    left_out : device array of int64, shape (windows,)
    sides : device array of uint8, shape (layers,)
        As `kernels.consensus.cuda.haplotype_filter.leave_out` fills them.
    decided : device array of uint8, shape (columns,)
        Columns on which they alone vote become 1.
    arena : Arena
    """
    launch(
        vote_again, len(draft.codes), arena, draft.first, draft.codes, layers.layer_first, layers.first,
        layers.bases, layers.weights, layers.start, layers.end, layers.at, layers.used, starts, left_out,
        sides, votes.column, votes.inserted, votes.passing, decided,
    )  # fmt: skip


@cuda.jit
def vote_again(
    draft_first, codes, layer_first, first, bases, weights, start, end, at, used, starts, left_out, sides,
    column, inserted, passing, decided,
):  # fmt: skip
    """Let the target and layers of its side vote alone on a column where sides differ; a thread a column."""
    x = cuda.grid(1)
    if x >= draft_first[len(draft_first) - 1]:
        return
    p = owner(draft_first, x)
    if left_out[p] == 0:
        return
    c = x - draft_first[p]
    own = layer_first[p + 1] - 1
    differing, gaining = 0, 0
    same, same_unlike, same_behind = int64(0), int64(0), int64(0)
    other, other_unlike, other_behind = int64(0), int64(0), int64(0)
    for m in range(layer_first[p], layer_first[p + 1]):
        if c < start[m] or c >= end[m]:
            continue
        here, behind = int64(starts[at[m] + c]), int64(starts[at[m] + c + 1])
        unlike = behind == here or bases[first[m] + here] != codes[x]
        inserts = behind > here + 1
        if used[m]:
            differing += unlike
            gaining += inserts and bases[first[m] + here + 1] < 4
        if sides[m] == SAME:
            same += 1
            same_unlike += unlike
            same_behind += inserts
        elif sides[m] == OTHER:
            other += 1
            other_unlike += unlike
            other_behind += inserts
    if same < MIN_KNOWN or max(differing, gaining) < MIN_LAYERS:
        return
    if not (differ(same, same_unlike, other, other_unlike) or differ(same, same_behind, other, other_behind)):
        return
    decided[x] = 1
    standing, behind_it = cuda.local.array(STANDING, int32), cuda.local.array(INSERTED, int32)
    clear_votes(standing, behind_it)
    going_on = int32(0)
    for m in range(layer_first[p], layer_first[p + 1]):
        if used[m] and c >= start[m] and c < end[m] and (sides[m] == SAME or m == own):
            going_on += add_votes(m, c, first, bases, weights, end, at, starts, standing, behind_it)
    write_votes(x, standing, behind_it, going_on, column, inserted, passing)
