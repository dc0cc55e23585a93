"""Shortest edit paths between the anchors of a chain, and from its ends on as long as it pays."""

from __future__ import annotations

from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.mapping.chain_paths import Ends, align_chains
from overlapper.mapping.chains import Chains
from overlapper.mapping.extenders import Paths
from overlapper.params.mapping import MapParams
from overlapper.tables import Reads


def extend(reads: Reads, reference: Reads, chains: Chains, params: MapParams) -> Paths:
    """Align every chain."""
    rows, cigar, offsets = align_chains(
        PackedReads.of(reads), PackedReads.of(reference), chains.read, chains.target, chains.reverse,
        chains.starts, chains.x, chains.y, chains.length, ends_of(params),
    )  # fmt: skip
    return Paths.of(rows, cigar, offsets)


def ends_of(params: MapParams) -> Ends:
    """Return the scores by which it is decided where alignments end."""
    scoring = params.scoring
    return Ends(scoring.match, scoring.mismatch, scoring.gap_open, scoring.gap_extend, params.end_bonus)
