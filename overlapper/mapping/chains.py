"""Chains of the seeds of reads on a reference."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.kernels.mapping import anchor_chains as kernel
from overlapper.kernels.mapping import cuts
from overlapper.mapping.anchors import Anchors
from overlapper.params.mapping import AnchorChainParams
from overlapper.params.scoring import Scoring
from overlapper.tables import Reads
from overlapper.tables.base import Table, column, offsets, ragged
from overlapper.tables.ragged import gather_ragged, offsets_of
from overlapper.tables.reads import BASES_PER_WORD
from overlapper.tables.strands import forward_intervals


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Chains(Table):
    """Chains, by read.

    Intervals and anchors are on the read as turned to the strand that matches, and on the forward strand of
    the reference sequence.
    """

    read: np.ndarray = column("i8")
    target: np.ndarray = column("i8")
    """`read`, `target`: int64, shape (n,)."""
    reverse: np.ndarray = column("?")
    """bool, shape (n,)."""
    score: np.ndarray = column("i8")
    """int64, shape (n,); in bases, rounded down."""
    seeds: np.ndarray = column("i8")
    """int64, shape (n,); its anchors; a long one counts as several."""
    q_start: np.ndarray = column("i8")
    q_end: np.ndarray = column("i8")
    t_start: np.ndarray = column("i8")
    t_end: np.ndarray = column("i8")
    """`q_start`, `q_end`, `t_start`, `t_end`: int64, shape (n,); from the first base of the first anchor to
    the last one of the last anchor."""
    starts: np.ndarray = offsets()
    """int64, shape (n + 1,); where the anchors of each chain start."""
    x: np.ndarray = ragged("i8", by="starts")
    y: np.ndarray = ragged("i8", by="starts")
    length: np.ndarray = ragged("i8", by="starts")
    """`x`, `y`, `length`: int64, shape (anchors,); first bases and length of every anchor; both ascend within
    a chain."""

    def straight(self, scoring: Scoring) -> Chains:
        """Return the chains without the detours that cost more in gaps than their anchors bring."""
        stays = kernel.straight(
            self.starts, self.x, self.y, self.length, scoring.match, scoring.gap_open, scoring.gap_extend
        )
        if stays.all():
            return self
        counts = np.add.reduceat(stays, self.starts[:-1], dtype=np.int64)
        return dataclasses.replace(
            self,
            starts=offsets_of(counts),
            x=self.x[stays],
            y=self.y[stays],
            length=self.length[stays],
        )

    def pieces(self, parts: np.ndarray, params: AnchorChainParams) -> np.ndarray:
        """Return what of the chains lies in parts of their alignments, and what else could be chains."""
        scheme = kernel.Scheme(**vars(params))
        return cuts.cut_chains(self.starts, self.x, self.y, self.length, parts, scheme)

    def cut(self, pieces: np.ndarray) -> Chains:
        """Return pieces of the chains, as `cut_chains` has them."""
        chain, first, counts = (pieces[:, c] for c in (cuts.CHAIN, cuts.ANCHOR, cuts.ANCHORS))
        last = first + counts - 1
        return Chains(
            read=self.read[chain],
            target=self.target[chain],
            reverse=self.reverse[chain],
            score=pieces[:, cuts.CHAIN_SCORE],
            seeds=pieces[:, cuts.SEEDS],
            q_start=self.x[first],
            q_end=self.x[last] + self.length[last],
            t_start=self.y[first],
            t_end=self.y[last] + self.length[last],
            starts=offsets_of(counts),
            x=gather_ragged(self.x, first, counts),
            y=gather_ragged(self.y, first, counts),
            length=gather_ragged(self.length, first, counts),
        )

    def forward_intervals(self, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the intervals on the forward strands of reads of these lengths."""
        return forward_intervals(self.q_start, self.q_end, self.reverse, lengths[self.read])


def chain(anchors: Anchors, reference: Reads, params: AnchorChainParams) -> Chains:
    """Chain the anchors of reads."""
    sequence_starts = reference.word_offsets * BASES_PER_WORD
    rows, starts, members = kernel.chain_anchors(
        anchors.starts, anchors.x, anchors.y, anchors.length, anchors.reverse, sequence_starts,
        kernel.Scheme(**vars(params)),
    )  # fmt: skip
    counts = np.diff(starts)
    target = rows[:, kernel.TARGET]
    return Chains(
        read=rows[:, kernel.READ],
        target=target,
        reverse=rows[:, kernel.REVERSE].astype(bool),
        score=rows[:, kernel.SCORE],
        seeds=rows[:, kernel.SEEDS],
        q_start=rows[:, kernel.Q_START],
        q_end=rows[:, kernel.Q_END],
        t_start=rows[:, kernel.T_START],
        t_end=rows[:, kernel.T_END],
        starts=starts,
        x=anchors.x[members].astype(np.int64),
        y=anchors.y[members] - np.repeat(sequence_starts[target], counts),
        length=anchors.length[members].astype(np.int64),
    )
