"""Chains aligned as far as it pays, and what their alignments leave out aligned in turn.

docs/algorithms/mapping.md has the definitions.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.kernels.mapping import cuts
from overlapper.kernels.mapping.mapping_groups import best_others, covered_parts, room_for, uncovered
from overlapper.mapping.chains import Chains
from overlapper.mapping.choice import Groups, worth_extending
from overlapper.mapping.extenders import MapExtender, Paths
from overlapper.params.mapping import MapParams
from overlapper.sketch.read_parts import cut_out
from overlapper.tables import Reads
from overlapper.tables.strands import forward_intervals


@dataclasses.dataclass(frozen=True)
class Parts:
    """Alignments that pay, by read, and all chains of the reads."""

    chains: Chains
    """What lies in each alignment of its chain."""
    paths: Paths
    score: np.ndarray
    """int64, shape (n,)."""
    other_score: np.ndarray
    """int64, shape (n,); the best score that another chain has for the same part of the read, 0 if there is
    none."""
    extended: int
    failed: int
    """`extended`, `failed`: chains that were extended, and those of which nothing pays."""

    def with_more(self, chains: Chains, paths: Paths, score: np.ndarray) -> Parts:
        """Return these alignments and others."""
        if not len(self.chains):
            return Parts(chains, paths, score, _NO_SCORES, 0, 0)
        chains, paths = Chains.concat([self.chains, chains]), Paths.concat([self.paths, paths])
        order = np.argsort(chains.read, kind="stable")
        score = np.append(self.score, score)[order]
        return Parts(chains.take(order), paths.take(order), score, _NO_SCORES, 0, 0)

    def once(self) -> Parts:
        """Return the best of the alignments that begin, or end, with the same pair of bases."""
        return self._once("q_start", "t_start")._once("q_end", "t_end")

    def _once(self, q: str, t: str) -> Parts:
        chains, paths = self.chains, self.paths
        place = np.stack([chains.read, chains.target, chains.reverse, getattr(paths, q), getattr(paths, t)])
        order = np.lexsort((-self.score, *place[::-1]))
        firsts = np.flatnonzero(np.append(True, (np.diff(place[:, order]) != 0).any(axis=0)))
        if len(firsts) >= len(order):
            return self
        joined = {name: np.add.reduceat(getattr(chains, name)[order], firsts) for name in ("score", "seeds")}
        for name in ("q_start", "q_end", "t_start", "t_end"):
            farthest = np.minimum if name.endswith("start") else np.maximum
            joined[name] = farthest.reduceat(getattr(chains, name)[order], firsts)
        kept = order[firsts]
        rows = np.argsort(kept)
        chains = dataclasses.replace(chains.take(kept), **joined).take(rows)
        return dataclasses.replace(
            self, chains=chains, paths=paths.take(kept[rows]), score=self.score[kept[rows]]
        )

    def intervals(self, reads: Reads) -> tuple[np.ndarray, np.ndarray]:
        """Return what is aligned, on the forward strands of the reads."""
        paths, chains = self.paths, self.chains
        return forward_intervals(paths.q_start, paths.q_end, chains.reverse, reads.lengths[chains.read])


def align_chains(
    reads: Reads, reference: Reads, found: Chains, extend: MapExtender, params: MapParams
) -> Parts:
    """Extend chains round by round, until what is left of them lies where others are aligned."""
    pool, state, share = found, np.full(len(found), _WAITING), params.choice.mask_level
    done = Parts(Chains.empty(), Paths.empty(), _NO_SCORES, _NO_SCORES, 0, 0)
    while True:
        start, end = pool.forward_intervals(reads.lengths)
        free = np.flatnonzero(state <= _WAITING)
        covering = _covering(done, pool, np.flatnonzero(state == _FAILED), reads, share)
        free = free[uncovered(pool.read[free], start[free], end[free], covering, share)]
        groups = Groups.of(pool.read[free], start[free], end[free], pool.score[free], share)
        rows = free[worth_extending(pool.score[free], groups, params.choice)]
        if not len(rows):
            kept, left = _cut_by(covering, pool, state, reads, params)
            if not len(left):
                break
            pool, state = _with_waiting(pool.take(kept), state[kept], left)
            continue
        chosen = pool.take(rows).straight(params.scoring)
        first = state[rows] == _WAITING
        state[rows] = _ALIGNED
        low, high = np.zeros(len(rows), np.int64), reads.lengths[chosen.read].astype(np.int64)
        if not first.all():
            room = room_for(chosen.read, start[rows], end[rows], covering, reads.lengths.astype(np.int64))
            low, high = np.where(first, low, room[0]), np.where(first, high, room[1])
        paths = _extended(reads, reference, chosen, low, high, extend, params)
        parts = paths.parts(reads, chosen, pool, np.flatnonzero(state <= _WAITING), params)
        pieces = chosen.pieces(parts, params.chain)
        aligned = pieces[pieces[:, cuts.PART] >= 0]
        has_part = np.bincount(aligned[:, cuts.CHAIN], minlength=len(rows)) > 0
        elsewhere = np.bincount(parts[:, cuts.PATH], minlength=len(rows)) > 0
        state[rows[~has_part]] = np.where(elsewhere & first, _AGAIN, _FAILED)[~has_part]
        parts = parts[aligned[:, cuts.PART]]
        done = done.with_more(chosen.cut(aligned), paths.cut(parts), parts[:, cuts.SCORE])
        left = chosen.cut(pieces[(pieces[:, cuts.PART] < 0) & has_part[pieces[:, cuts.CHAIN]]])
        pool, state = _with_waiting(pool, state, left)
    done = done.once()
    others = _other_scores(done.chains, pool, np.flatnonzero(state != _ALIGNED), reads, share)
    return dataclasses.replace(
        done, other_score=others, extended=int((state > 0).sum()), failed=int((state == _FAILED).sum())
    )


_AGAIN, _WAITING, _ALIGNED, _FAILED = range(-1, 3)
"""A chain whose alignment pays, but not where its seeds are, is extended again in the room that is left."""
_NO_SCORES = np.empty(0, np.int64)


def _extended(
    reads: Reads, reference: Reads, chains: Chains, low: np.ndarray, high: np.ndarray,
    extend: MapExtender, params: MapParams,
) -> Paths:  # fmt: skip
    """Extend chains within parts of their reads, of which ``low`` and ``high`` are the forward intervals."""
    lengths = reads.lengths[chains.read]
    if (high - low == lengths).all():
        paths = extend(reads, reference, chains, params)
    else:
        before = np.where(chains.reverse, lengths - high, low)
        within = dataclasses.replace(
            chains,
            read=np.arange(len(chains)),
            q_start=chains.q_start - before,
            q_end=chains.q_end - before,
            x=chains.x - np.repeat(before, np.diff(chains.starts)),
        )
        paths = extend(cut_out(reads, chains.read, low, high), reference, within, params)
        paths = dataclasses.replace(paths, q_start=paths.q_start + before, q_end=paths.q_end + before)
    return paths.with_gaps_left(reads, reference, chains)


def _with_waiting(pool: Chains, state: np.ndarray, left: Chains) -> tuple[Chains, np.ndarray]:
    """Return chains and their states with others, which wait."""
    pool = Chains.concat([pool, left])
    order = np.argsort(pool.read, kind="stable")
    return pool.take(order), np.append(state, np.full(len(left), _WAITING))[order]


def _cut_by(
    covering: np.ndarray, pool: Chains, state: np.ndarray, reads: Reads, params: MapParams
) -> tuple[np.ndarray, Chains]:
    """Cut chains that wait where others lie; return which stay whole, and the pieces of those that do not."""
    rows = np.flatnonzero(state == _WAITING)
    waiting = pool.take(rows)
    parts = covered_parts(waiting.read, waiting.reverse, reads.lengths.astype(np.int64), covering)
    pieces = waiting.pieces(parts, params.chain)
    fewer = pieces[:, cuts.ANCHORS] < np.diff(waiting.starts)[pieces[:, cuts.CHAIN]]
    outside = pieces[fewer & (pieces[:, cuts.PART] < 0)]
    is_cut = np.bincount(outside[:, cuts.CHAIN], minlength=len(rows)) > 0
    return np.delete(np.arange(len(pool)), rows[is_cut]), waiting.cut(pieces[is_cut[pieces[:, cuts.CHAIN]]])


def _covering(done: Parts, pool: Chains, failed: np.ndarray, reads: Reads, share: int) -> np.ndarray:
    """Return read, start and end of what the best alignments cover, and chains that do not pay, ascending."""
    start, end = done.intervals(reads)
    heads = np.flatnonzero(Groups.of(done.chains.read, start, end, done.score, share).rank == 0)
    spans = pool.forward_intervals(reads.lengths)
    covering = np.stack(
        [
            np.append(own[heads], chained[failed])
            for own, chained in zip((done.chains.read, start, end), (pool.read, *spans), strict=True)
        ],
        axis=1,
    )
    return covering[np.lexsort(covering.T[::-1])]


def _other_scores(chains: Chains, pool: Chains, others: np.ndarray, reads: Reads, share: int) -> np.ndarray:
    """Return, of every chain, the best score of the others for the same part of the read."""
    columns = [(t.read, t.score, *t.forward_intervals(reads.lengths)) for t in (chains, pool)]
    read, score, start, end = (np.append(own, pooled[others]) for own, pooled in zip(*columns, strict=True))
    order = np.argsort(read, kind="stable")
    numbers = np.arange(len(reads) + 1)
    return best_others(
        np.searchsorted(chains.read, numbers), *columns[0][2:], np.searchsorted(read[order], numbers),
        start[order], end[order], score[order], np.argsort(order)[: len(chains)], share,
    )  # fmt: skip
