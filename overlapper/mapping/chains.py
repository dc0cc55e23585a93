"""Chains of the seeds of reads on a reference."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.kernels.mapping import anchor_chains as kernel
from overlapper.mapping.anchors import Anchors
from overlapper.params.mapping import AnchorChainParams
from overlapper.tables import Reads
from overlapper.tables.base import Table, column, offsets, ragged
from overlapper.tables.reads import BASES_PER_WORD
from overlapper.tables.strands import forward_intervals


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Chains(Table):
    """Chains, by read.

    Intervals and anchors are on the read as turned to the strand that matches, and on the forward strand of
    the reference sequence.

    Attributes
    ----------
    read, target : ndarray of int64, shape (n,)
    reverse : ndarray of bool, shape (n,)
    score : ndarray of int64, shape (n,)
        In bases, rounded down.
    seeds : ndarray of int64, shape (n,)
        Its anchors; a long one counts as several.
    q_start, q_end, t_start, t_end : ndarray of int64, shape (n,)
        From the first base of the first anchor to the last one of the last anchor.
    starts : ndarray of int64, shape (n + 1,)
        Where the anchors of each chain start.
    x, y, length : ndarray of int64, shape (anchors,)
        First bases and length of every anchor; both ascend within a chain.
    """

    read: np.ndarray = column("i8")
    target: np.ndarray = column("i8")
    reverse: np.ndarray = column("?")
    score: np.ndarray = column("i8")
    seeds: np.ndarray = column("i8")
    q_start: np.ndarray = column("i8")
    q_end: np.ndarray = column("i8")
    t_start: np.ndarray = column("i8")
    t_end: np.ndarray = column("i8")
    starts: np.ndarray = offsets()
    x: np.ndarray = ragged("i8", by="starts")
    y: np.ndarray = ragged("i8", by="starts")
    length: np.ndarray = ragged("i8", by="starts")

    def forward_intervals(self, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the intervals on the forward strands of reads of these lengths."""
        return forward_intervals(self.q_start, self.q_end, self.reverse, lengths[self.read])


def chain(anchors: Anchors, reference: Reads, params: AnchorChainParams) -> Chains:
    """Chain the anchors of reads.

    Parameters
    ----------
    anchors : Anchors
    reference : Reads
    params : AnchorChainParams
    """
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
