"""Extension of one seed of a chain to both sides: BLAST-like, X-drop and GACT.

The seed is a base of the chain's longest anchor, of equally long ones of the one nearest to the middle of the
chain, then of the first: the anchor's middle base, or the next one where the middle bases differ.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.extend.registry import extender
from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.mapping.blast_extension import extend_pairs
from overlapper.mapping.chains import Chains
from overlapper.mapping.extenders import Paths
from overlapper.mapping.windows import Windows, align_windows, room
from overlapper.params.mapping import MapParams
from overlapper.sketch.read_parts import cut_out
from overlapper.tables import Candidates, Overlaps, Reads


@dataclasses.dataclass(frozen=True)
class _SeedPairs:
    """Reads and windows of the reference, as turned, and a seed in each pair of them."""

    queries: Reads
    targets: Reads
    """`queries`, `targets`: one of each a chain."""
    t_first: np.ndarray
    """int64, shape (n,); first base of the window on the sequence."""
    x: np.ndarray
    y: np.ndarray
    """`x`, `y`: int64, shape (n,); the seed, one base, on read and window."""
    length: np.ndarray
    """int64, shape (n,); of the anchor that it is of."""

    @classmethod
    def of(cls, reads: Reads, reference: Reads, chains: Chains) -> _SeedPairs:
        """Cut reads and windows, and choose seeds."""
        lengths = reads.lengths[chains.read]
        t_first = np.maximum(0, chains.t_start - room(chains.q_start))
        t_last = chains.t_end + room(lengths - chains.q_end)
        t_last = np.minimum(t_last, reference.lengths[chains.target])
        queries = cut_out(reads, chains.read, np.zeros(len(chains), np.int64), lengths, chains.reverse)
        targets = cut_out(reference, chains.target, t_first, t_last)
        counts = np.diff(chains.starts)
        rows = np.repeat(np.arange(len(chains)), counts)
        off_middle = np.abs(2 * (np.arange(len(rows)) - chains.starts[rows]) - (counts[rows] - 1))
        best = np.lexsort((off_middle, -chains.length, rows))[chains.starts[:-1]]
        x = chains.x[best] + chains.length[best] // 2
        y = chains.y[best] + chains.length[best] // 2 - t_first
        differ = _bases(queries, x) != _bases(targets, y)
        return cls(queries, targets, t_first, x + differ, y + differ, chains.length[best])

    def overlaps(self, name: str, params: object) -> Overlaps:
        """Extend the seeds by an extender of overlaps."""
        n = len(self.queries)
        together = Reads.concat([self.queries, self.targets])
        candidates = Candidates(
            query=np.arange(n), target=np.arange(n, 2 * n), reverse=np.zeros(n, bool),
            query_pos=self.x, target_pos=self.y, seeds=np.ones(n), span=np.ones(n), seed_length=1,
        )  # fmt: skip
        return extender(name)(together, candidates, params, 1)[0]


def extend_blast_like(reads: Reads, reference: Reads, chains: Chains, params: MapParams) -> Paths:
    """Extend the seed with affine gaps while scores are above 0, then align what was reached."""
    seeded = _SeedPairs.of(reads, reference, chains)
    scoring = params.scoring
    ends = extend_pairs(
        PackedReads.of(seeded.queries), PackedReads.of(seeded.targets), seeded.x, seeded.y,
        scoring.match * seeded.length,
        scoring.match, scoring.mismatch, scoring.gap_open, scoring.gap_extend,
    )  # fmt: skip
    return _align_reached(reads, reference, chains, params, ends, seeded.t_first)


def extend_xdrop(reads: Reads, reference: Reads, chains: Chains, params: MapParams) -> Paths:
    """Extend the seed by X-drop, then align what was reached."""
    seeded = _SeedPairs.of(reads, reference, chains)
    found = seeded.overlaps("xdrop", params.xdrop)
    ends = np.stack([found.q_start, found.q_end, found.t_start, found.t_end], axis=1).astype(np.int64)
    return _align_reached(reads, reference, chains, params, ends, seeded.t_first)


def extend_gact(reads: Reads, reference: Reads, chains: Chains, params: MapParams) -> Paths:
    """Align the seed's surroundings by GACT."""
    seeded = _SeedPairs.of(reads, reference, chains)
    found = seeded.overlaps("gact", params.gact)
    q_start, q_end, t_start, t_end = (
        column.astype(np.int64) for column in (found.q_start, found.q_end, found.t_start, found.t_end)
    )
    cigar, offsets = np.asarray(found.cigar), np.asarray(found.cigar_offsets)
    return Paths(q_start, q_end, t_start + seeded.t_first, t_end + seeded.t_first, cigar, offsets)


def _align_reached(
    reads: Reads, reference: Reads, chains: Chains, params: MapParams, ends: np.ndarray, t_first: np.ndarray
) -> Paths:
    q_start, q_end, t_start, t_end = ends.T
    windows = Windows(q_start, q_end, t_start + t_first, t_end + t_first)
    return align_windows(reads, reference, chains, windows, "global", params.scoring)


def _bases(reads: Reads, positions: np.ndarray) -> np.ndarray:
    """Return a base of each read; the positions are those of known bases."""
    words = reads.words[reads.word_offsets[:-1] + positions // 32]
    return words >> (positions % 32 * 2).astype(np.uint64) & np.uint64(3)
