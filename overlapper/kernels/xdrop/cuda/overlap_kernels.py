"""From candidates to seeds, and from their extensions to overlaps: the kernels that `overlaps` launches."""

from __future__ import annotations

import math

from numba import cuda, float64, int32, int64

from overlapper.kernels.xdrop.cuda.xdrop_groups import COLUMNS, FEW, KEPT, LIKELY, LOW, OUT_OF_REACH, SHORT


@cuda.jit
def list_seeds(heads, seeds_a_base, score_a_base, query_pos, target_pos, least, likely):
    """Write the seed that each candidate starts from, and what `Needs` has of it; a thread each.

    Parameters
    ----------
    heads : device array of int32, shape (n, HEAD)
        As `Found` has them.
    seeds_a_base : float64
        Bases that seeds must cover, of the estimated overlap.
    score_a_base : float64
        Of the same. What is needed is not below 0; as scores are whole numbers, it is the next.
    query_pos, target_pos, least : device array of int32, shape (n,)
    likely : device array of bool, shape (n,)
        Out.
    """
    i = cuda.grid(1)
    if i < len(heads):
        query_pos[i], target_pos[i] = heads[i, 0], heads[i, 1]
        threshold = max(float64(0), float64(score_a_base * float64(heads[i, 3])))
        least[i] = int32(min(int64(math.ceil(threshold)), int64(OUT_OF_REACH)))
        if float64(heads[i, 2]) < float64(seeds_a_base * float64(heads[i, 3])):
            least[i] = int32(OUT_OF_REACH)
        likely[i] = int64(heads[i, 2]) * LIKELY >= heads[i, 3]


@cuda.jit
def judge_extensions(extensions, seed_length, match, least, min_overlap, kept, counts):
    """Flag the overlaps whose score and length are enough, and count each verdict; a thread each."""
    i = cuda.grid(1)
    if i >= len(least):
        return
    score = int64(extensions[2 * i, 0]) + extensions[2 * i + 1, 0] + seed_length * match
    q_bases = int64(extensions[2 * i, 1]) + extensions[2 * i + 1, 1] + seed_length
    t_bases = int64(extensions[2 * i, 2]) + extensions[2 * i + 1, 2] + seed_length
    verdict = int32(KEPT)
    if least[i] == OUT_OF_REACH:
        verdict = int32(FEW)
    elif score < least[i]:
        verdict = int32(LOW)
    elif min(q_bases, t_bases) < min_overlap:
        verdict = int32(SHORT)
    kept[i] = int32(verdict == KEPT)
    cuda.atomic.add(counts, verdict, int32(1))


@cuda.jit
def gather_overlaps(query, target, reverse, heads, extensions, seed_length, match, kept, ranks, rows):
    """Write the overlaps that are kept, one after the other, as `Scored` has them; a thread each."""
    i = cuda.grid(1)
    if i >= len(kept) or not kept[i]:
        return
    before, after = extensions[2 * i], extensions[2 * i + 1]
    below, above = (after[2], before[2]) if reverse[i] else (before[2], after[2])
    row = rows[ranks[i]]
    row[0], row[1], row[2] = query[i], target[i], int32(reverse[i])
    row[3], row[4] = heads[i, 0] - before[1], heads[i, 0] + seed_length + after[1]
    row[5], row[6] = heads[i, 1] - below, heads[i, 1] + seed_length + above
    row[7] = before[0] + after[0] + seed_length * match
    row[COLUMNS - 1] = heads[i, 2]
