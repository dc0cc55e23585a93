"""Colinear chaining of seeds: coordinates without base-level alignment.

Definition
----------
The seeds of a candidate are anchors ``(x, y)``: first base on the query and on the target, the target on the
query's strand, ascending by x, then y. The score of the best chain that ends at anchor i is, in 256ths of a
base::

    f(i) = max(256 k, max over j of f(j) + gain(j, i))
    gain(j, i) = 256 min(k, dx, dy) - gap_cost |dx - dy| - distance_cost min(dx, dy)

over the ``look_back`` anchors j before i with ``0 < dx, dy <= max_gap``; of equal predecessors the nearest
wins, of equal ends the first (after Li 2018, section 2.1, with integer costs).

The agreement of a chain is its seeds over those that the accuracy of the two reads lets expect: the longer
interval, times the share of the query's bases that start a seeding k-mer, times the share of the target's
sketched k-mers that seed. What is typical depends on coverage and errors, so it is measured on a sample.

The best chain is kept when it has ``min_seeds`` seeds, scores ``min_score`` bases, and agrees at least
``min_agreement`` percent as well as is typical. Two copies of a repeat that differ more than the reads do
fall below.

An end that stops short of the nearer read end by at most ``max_reach`` bases is carried on to it along the
diagonal, unless seeds are missing there. Missing are the seeding k-mers of the query in that stretch, times
the share of those within the chain that the chain has, seeds that overlap each other counted once; or the
same for the target, whichever is less. More than ``reach`` of them say that the overlap ends; fewer, that the
chain could not get there: minimizers are as rare near the end of a read as anywhere, and bad stretches and
masked repeats have none.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.errors import ParameterError
from overlapper.kernels.cpu import chain as kernel
from overlapper.kernels.cpu.walks import PackedReads, Seeds
from overlapper.kernels.cpu.xdrop import Scheme, extend_items
from overlapper.params import ChainParams
from overlapper.tables import Candidates, OverlapClass, Overlaps, Reads

AGREEMENT_UNKNOWN = 400
FEWEST_CHAINS = 20


def extend(
    reads: Reads, candidates: Candidates, params: ChainParams, threads: int
) -> tuple[Overlaps, dict[str, int]]:
    """Chain the seeds of candidates.

    Parameters
    ----------
    reads : Reads
    candidates : Candidates
        With seeds (``hit_offsets``).
    params : ChainParams

    Returns
    -------
    overlaps : Overlaps
        By candidate, not classified.
    dropped : dict of str to int
        Chains dropped, by reason.

    Raises
    ------
    ParameterError
        When the candidates carry no seeds.
    """
    chains, n_few, n_disagree = _chains(reads, candidates, params)
    seeding = candidates.seeding
    source = candidates.take(chains[:, kernel.CANDIDATE])
    q_length, t_length = reads.lengths[source.query], reads.lengths[source.target]
    x0, y0, x1, y1 = _settle_ends(reads, source, chains, params)
    seeds = chains[:, kernel.SEEDS]
    span = np.maximum(x1 - x0, y1 - y0)
    overlaps = Overlaps(
        query=source.query,
        target=source.target,
        reverse=source.reverse,
        q_start=x0,
        q_end=x1,
        t_start=np.where(source.reverse, t_length - y1, y0),
        t_end=np.where(source.reverse, t_length - y0, y1),
        matches=chains[:, kernel.COVERED],
        block_length=span,
        score=chains[:, kernel.SCORE],
        seeds=seeds,
        divergence=_divergence(
            seeds, span * (seeding.sketched[source.query] / q_length), candidates.seed_length
        ),
        kind=np.full(len(chains), OverlapClass.INTERNAL),
    )
    return overlaps, {"few seeds": n_few, "disagreement": n_disagree}


def fit(reads: Reads, sample: Candidates, params: ChainParams) -> ChainParams:
    """Measure what agreement is typical, unless the parameters say.

    Parameters
    ----------
    reads : Reads
    sample : Candidates
        Of queries from all over the read set.
    params : ChainParams

    Returns
    -------
    ChainParams
        With the median agreement of the sample's chains, or `AGREEMENT_UNKNOWN` where there are few.
    """
    if params.typical_agreement:
        return params
    chains, _, _ = _chains(reads, sample, dataclasses.replace(params, min_agreement=0))
    source = sample.take(chains[:, kernel.CANDIDATE])
    seeding = source.seeding
    span = source.seed_length + np.maximum(
        chains[:, kernel.LAST_X] - chains[:, kernel.FIRST_X],
        chains[:, kernel.LAST_Y] - chains[:, kernel.FIRST_Y],
    )
    n_seeds = np.diff(seeding.starts)
    expected = span * (n_seeds[source.query] / reads.lengths[source.query])
    expected *= n_seeds[source.target] / seeding.sketched[source.target]
    typical = AGREEMENT_UNKNOWN
    if len(chains) >= FEWEST_CHAINS:
        typical = max(1, round(1000 * float(np.median(chains[:, kernel.SEEDS] / expected))))
    return dataclasses.replace(params, typical_agreement=typical)


def _chains(reads: Reads, candidates: Candidates, params: ChainParams) -> tuple[np.ndarray, int, int]:
    seeding = candidates.seeding
    if candidates.hit_offsets is None or seeding is None:
        raise ParameterError(
            "the chain extender needs candidates that carry their seeds (hit_offsets, seeding)"
        )
    p = params
    return kernel.chain_candidates(
        candidates.query, candidates.target, candidates.reverse,
        candidates.hit_offsets, candidates.hit_query_pos, candidates.hit_target_pos,
        reads.lengths, candidates.seed_length, seeding.sketched, seeding.positions, seeding.starts,
        p.look_back, p.max_gap, p.gap_cost, p.distance_cost,
        p.min_seeds, p.min_score, p.min_agreement, p.typical_agreement,
    )  # fmt: skip


def _settle_ends(
    reads: Reads, source: Candidates, chains: np.ndarray, params: ChainParams
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the interval of each chain on either read, the target on the query's strand, ends carried on."""
    q_length, t_length = reads.lengths[source.query], reads.lengths[source.target]
    k = source.seed_length
    first_x, first_y = chains[:, kernel.FIRST_X].astype(np.int64), chains[:, kernel.FIRST_Y].astype(np.int64)
    last_x, last_y = chains[:, kernel.LAST_X].astype(np.int64), chains[:, kernel.LAST_Y].astype(np.int64)
    left, right = np.minimum(first_x, first_y), np.minimum(q_length - last_x - k, t_length - last_y - k)
    sure_left = (chains[:, kernel.LEFT_MISSING] <= params.reach) & (left <= params.max_reach)
    sure_right = (chains[:, kernel.RIGHT_MISSING] <= params.reach) & (right <= params.max_reach)
    open_left, open_right = np.flatnonzero(~sure_left), np.flatnonzero(~sure_right)
    x = np.concatenate([first_x[open_left], last_x[open_right]])
    y = np.concatenate([first_y[open_left], last_y[open_right]])
    rows = np.concatenate([open_left, open_right])
    seeds = Seeds(
        source.query[rows],
        source.target[rows],
        source.reverse[rows],
        x.astype(np.int32),
        np.where(source.reverse[rows], t_length[rows] - k - y, y).astype(np.int32),
        k,
    )
    packed = PackedReads(
        reads.words, reads.word_offsets, reads.lengths,
        reads.unknown_start, reads.unknown_end, reads.unknown_offsets,
    )  # fmt: skip
    items = 2 * np.arange(len(rows)) + (np.arange(len(rows)) >= len(open_left))
    extensions = extend_items(packed, seeds, Scheme(**vars(params.ends)), items)
    q_far, t_far = np.zeros((2, len(chains)), np.int64), np.zeros((2, len(chains)), np.int64)
    q_far[0, open_left], t_far[0, open_left] = extensions[: len(open_left), 1:].T
    q_far[1, open_right], t_far[1, open_right] = extensions[len(open_left) :, 1:].T
    x0, y0, x1, y1 = first_x - q_far[0], first_y - t_far[0], last_x + k + q_far[1], last_y + k + t_far[1]
    left, right = np.minimum(x0, y0), np.minimum(q_length - x1, t_length - y1)
    carry_left, carry_right = (
        np.where(sure_left | (left <= CARRY), left, 0),
        np.where(sure_right | (right <= CARRY), right, 0),
    )
    return x0 - carry_left, y0 - carry_left, x1 + carry_right, y1 + carry_right


CARRY = 50


def _divergence(seeds: np.ndarray, sketched: np.ndarray, k: int) -> np.ndarray:
    """Estimate differences a base from the share of sketched k-mers that match (Li 2018, section 2.1)."""
    return 1 - np.minimum(1, seeds / np.maximum(sketched, 1)) ** (1 / k)
