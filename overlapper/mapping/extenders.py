"""The extenders of mapping: chains in, alignments out. A new one is a file here and a line below."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.mapping.cuts import (
    FIRST,
    LAST,
    Q_END,
    Q_START,
    T_END,
    T_START,
    Chained,
    Rule,
    cut_paths,
)
from overlapper.kernels.mapping.left_gaps import align_left
from overlapper.mapping.chains import Chains
from overlapper.params.mapping import MapParams
from overlapper.registry import registered
from overlapper.tables import Reads
from overlapper.tables.base import Table, column, offsets, ragged
from overlapper.tables.ragged import gather_ragged, offsets_of


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Paths(Table):
    """Alignments of chains, in their order."""

    q_start: np.ndarray = column("i8")
    q_end: np.ndarray = column("i8")
    t_start: np.ndarray = column("i8")
    t_end: np.ndarray = column("i8")
    """`q_start`, `q_end`, `t_start`, `t_end`: int64, shape (n,); on the read as turned to the strand that
    matches, and on the reference sequence. An empty interval is a chain without an alignment."""
    cigar: np.ndarray = ragged("u4", by="cigar_offsets")
    """uint32; runs of =, X, I and D along the reference; the first and last ones are equal or unequal
    pairs."""
    cigar_offsets: np.ndarray = offsets()
    """int64, shape (n + 1,)."""

    @classmethod
    def of(cls, rows: np.ndarray, cigar: np.ndarray, cigar_offsets: np.ndarray) -> Paths:
        """Return alignments whose intervals are the columns of ``rows``."""
        q_start, q_end, t_start, t_end = rows.T
        return cls(q_start, q_end, t_start, t_end, cigar, cigar_offsets)

    def with_gaps_left(self, reads: Reads, reference: Reads, chains: Chains) -> Paths:
        """Return the alignments of these chains with their gaps moved left."""
        rows = self._rows()
        cigar, cigar_offsets = align_left(
            PackedReads.of(reads), PackedReads.of(reference), chains.read, chains.target, chains.reverse,
            rows, self.cigar, self.cigar_offsets,
        )  # fmt: skip
        return Paths.of(rows, cigar, cigar_offsets)

    def parts(
        self, reads: Reads, chains: Chains, pool: Chains, others: np.ndarray, params: MapParams
    ) -> np.ndarray:
        """Return the parts of the alignments that pay, as `cut_paths` does, given chains not aligned."""
        scoring = params.scoring
        start, end = pool.forward_intervals(reads.lengths)
        rivals = Chained(
            np.searchsorted(pool.read[others], np.arange(len(reads) + 1)),
            *(c[others] for c in (pool.target, pool.reverse, start, end, pool.t_start, pool.t_end)),
        )
        rule = Rule(
            scoring.match, scoring.mismatch, scoring.gap_open, scoring.gap_extend, params.end_bonus,
            params.drop, params.choice.min_score, params.choice.mask_level,
        )  # fmt: skip
        return cut_paths(
            chains.read, chains.target, chains.reverse, reads.lengths.astype(np.int64),
            self._rows(), self.cigar, self.cigar_offsets, rivals, rule,
        )  # fmt: skip

    def cut(self, parts: np.ndarray) -> Paths:
        """Return parts of the alignments."""
        counts = parts[:, LAST] - parts[:, FIRST]
        cigar = gather_ragged(self.cigar, parts[:, FIRST], counts)
        return Paths.of(parts[:, [Q_START, Q_END, T_START, T_END]], cigar, offsets_of(counts))

    def _rows(self) -> np.ndarray:
        return np.stack([self.q_start, self.q_end, self.t_start, self.t_end], axis=1)


MapExtender = Callable[[Reads, Reads, Chains, MapParams], Paths]
"""``extend(reads, reference, chains, params)`` aligns every chain. May be called from several threads."""

MAP_EXTENDERS = {
    "edits": "overlapper.mapping.edits:extend",
    "global": "overlapper.mapping.whole_reads:extend_globally",
    "semi-global": "overlapper.mapping.whole_reads:extend_semi_globally",
    "local": "overlapper.mapping.whole_reads:extend_locally",
    "blast": "overlapper.mapping.from_seed:extend_blast_like",
    "xdrop": "overlapper.mapping.from_seed:extend_xdrop",
    "gact": "overlapper.mapping.from_seed:extend_gact",
}


def map_extender(name: str) -> MapExtender:
    """Return an extender by name."""
    return registered("extender", name, MAP_EXTENDERS)
