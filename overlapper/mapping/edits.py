"""Shortest edit paths between the anchors of a chain, and from its ends on as long as it pays."""

from __future__ import annotations

from overlapper.kernels.cpu.chain_paths import Ends, align_chains
from overlapper.mapping.chains import Chains
from overlapper.mapping.extenders import Paths
from overlapper.mapping.packed import packed_reads
from overlapper.mapping.params import MapParams
from overlapper.tables import Reads


def extend(reads: Reads, reference: Reads, chains: Chains, params: MapParams) -> Paths:
    """Align every chain."""
    scoring = params.scoring
    ends = Ends(scoring.match, scoring.mismatch, scoring.gap_open, scoring.gap_extend, params.end_bonus)
    rows, cigar, offsets = align_chains(
        packed_reads(reads), packed_reads(reference), chains.read, chains.target, chains.reverse,
        chains.starts, chains.x, chains.y, chains.length, ends,
    )  # fmt: skip
    q_start, q_end, t_start, t_end = rows.T
    return Paths(q_start, q_end, t_start, t_end, cigar, offsets)
