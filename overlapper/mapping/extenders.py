"""The extenders of mapping: chains in, alignments out. A new one is a file here and a line below."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.mapping.left_gaps import align_left
from overlapper.mapping.chains import Chains
from overlapper.params.mapping import MapParams
from overlapper.registry import registered
from overlapper.tables import Reads


@dataclasses.dataclass(frozen=True)
class Paths:
    """Alignments of chains, in their order.

    Attributes
    ----------
    q_start, q_end, t_start, t_end : ndarray of int64, shape (n,)
        On the read as turned to the strand that matches, and on the reference sequence. An empty interval is
        a chain without an alignment.
    cigar : ndarray of uint32
        Runs of =, X, I and D along the reference; the first and last ones are equal or unequal pairs.
    cigar_offsets : ndarray of int64, shape (n + 1,)
    """

    q_start: np.ndarray
    q_end: np.ndarray
    t_start: np.ndarray
    t_end: np.ndarray
    cigar: np.ndarray
    cigar_offsets: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, cigar: np.ndarray, cigar_offsets: np.ndarray) -> Paths:
        """Return alignments whose intervals are the columns of ``rows``."""
        q_start, q_end, t_start, t_end = rows.T
        return cls(q_start, q_end, t_start, t_end, cigar, cigar_offsets)

    def with_gaps_left(self, reads: Reads, reference: Reads, chains: Chains) -> Paths:
        """Return the alignments of these chains with their gaps moved left."""
        rows = np.stack([self.q_start, self.q_end, self.t_start, self.t_end], axis=1).astype(np.int64)
        cigar, offsets = align_left(
            PackedReads.of(reads), PackedReads.of(reference), chains.read, chains.target, chains.reverse,
            rows, self.cigar, self.cigar_offsets,
        )  # fmt: skip
        return Paths.of(rows, cigar, offsets)


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
    """Return an extender by name.

    Raises
    ------
    ParameterError
        When there is none of that name.
    """
    return registered("extender", name, MAP_EXTENDERS)
