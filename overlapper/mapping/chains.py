"""Chains of the seeds of reads on a reference."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from overlapper.kernels.mapping import anchor_chains as kernel
from overlapper.mapping.anchors import Anchors
from overlapper.params.mapping import AnchorChainParams
from overlapper.tables import Reads
from overlapper.tables.ragged import gather_ragged, offsets_of
from overlapper.tables.reads import BASES_PER_WORD
from overlapper.tables.strands import forward_intervals


@dataclasses.dataclass(frozen=True)
class Chains:
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

    read: np.ndarray
    target: np.ndarray
    reverse: np.ndarray
    score: np.ndarray
    seeds: np.ndarray
    q_start: np.ndarray
    q_end: np.ndarray
    t_start: np.ndarray
    t_end: np.ndarray
    starts: np.ndarray
    x: np.ndarray
    y: np.ndarray
    length: np.ndarray

    def __len__(self) -> int:
        return len(self.read)

    def take(self, rows: np.ndarray) -> Chains:
        """Return some chains, in the order given."""
        first, counts = self.starts[:-1][rows], np.diff(self.starts)[rows]
        plain = {name: getattr(self, name)[rows] for name in _PLAIN}
        ragged = {name: gather_ragged(getattr(self, name), first, counts) for name in ("x", "y", "length")}
        return Chains(**plain, **ragged, starts=offsets_of(counts))

    @classmethod
    def concat(cls, tables: Sequence[Chains], reads: Sequence[int]) -> Chains:
        """Concatenate the chains of several sets of reads, given the number of reads of each."""
        columns = {
            name: np.concatenate([getattr(table, name) for table in tables])
            for name in (*_PLAIN[1:], "x", "y", "length")
        }
        before = np.cumsum(reads) - reads
        read = np.concatenate([table.read + first for table, first in zip(tables, before, strict=True)])
        counts = np.concatenate([np.diff(table.starts) for table in tables])
        return cls(read=read, **columns, starts=offsets_of(counts))

    def forward_intervals(self, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the intervals on the forward strands of reads of these lengths."""
        return forward_intervals(self.q_start, self.q_end, self.reverse, lengths[self.read])


_PLAIN = ("read", "target", "reverse", "score", "seeds", "q_start", "q_end", "t_start", "t_end")


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
