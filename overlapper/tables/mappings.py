"""The table of mappings: where reads lie on a reference."""

from __future__ import annotations

import dataclasses
import enum

import numpy as np

from overlapper.tables.base import Table, column, offsets, ragged


class MappingKind(enum.IntEnum):
    """The kind of a mapping: primary, supplementary or secondary."""

    PRIMARY = 0
    """The best mapping of the read."""
    SUPPLEMENTARY = 1
    """The best mapping of another part of the read."""
    SECONDARY = 2
    """Another place of a part of the read for which there is a better mapping."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Mappings(Table):
    """Mappings of reads, with alignments.

    Intervals are 0-based half-open on the forward strand of read and reference.

    Attributes
    ----------
    query, target : ndarray of int32, shape (n,)
        Numbers of the read and of the reference sequence. Rows ascend by read; of a read, the primary mapping
        comes first, then the others from the highest score down.
    reverse : ndarray of bool, shape (n,)
        True where the read's reverse complement matches the reference.
    q_start, q_end, t_start, t_end : ndarray of int32, shape (n,)
    matches, block_length : ndarray of int32, shape (n,)
        Equal pairs of bases, and columns of the alignment.
    gaps : ndarray of int32, shape (n,)
        Gaps of the alignment, each counted once whatever its length.
    score : ndarray of int32, shape (n,)
        Of the alignment.
    chain_score, second_score : ndarray of int32, shape (n,)
        Of the chain, and of the best other chain for the same part of the read, 0 if there is none.
    seeds : ndarray of int32, shape (n,)
        Of the chain.
    quality : ndarray of uint8, shape (n,)
        Mapping quality.
    kind : ndarray of uint8, shape (n,)
        A `MappingKind`.
    cigar : ndarray of uint32
        Alignments in BAM's packing (length << 4 | operation; 7 is =, 8 is X, 1 is I, 2 is D), along the
        forward strand of the reference, without clips.
    cigar_offsets : ndarray of int64, shape (n + 1,)
        Where the operations of each mapping start.
    """

    query: np.ndarray = column("i4")
    target: np.ndarray = column("i4")
    reverse: np.ndarray = column("?")
    q_start: np.ndarray = column("i4")
    q_end: np.ndarray = column("i4")
    t_start: np.ndarray = column("i4")
    t_end: np.ndarray = column("i4")
    matches: np.ndarray = column("i4")
    block_length: np.ndarray = column("i4")
    gaps: np.ndarray = column("i4")
    score: np.ndarray = column("i4")
    chain_score: np.ndarray = column("i4")
    second_score: np.ndarray = column("i4")
    seeds: np.ndarray = column("i4")
    quality: np.ndarray = column("u1")
    kind: np.ndarray = column("u1")
    cigar: np.ndarray = ragged("u4", by="cigar_offsets")
    cigar_offsets: np.ndarray = offsets()

    @property
    def edits(self) -> np.ndarray:
        """Number of columns that are not equal pairs."""
        return self.block_length - self.matches

    @property
    def divergence(self) -> np.ndarray:
        """Differences per column (float32), each gap counted as one; 0 without columns."""
        gap_bases = self._gap_bases()
        mismatches = self.edits - gap_bases
        columns = self.matches + mismatches + self.gaps
        return ((mismatches + self.gaps) / np.maximum(columns, 1)).astype(np.float32)

    def _gap_bases(self) -> np.ndarray:
        """Return the bases of all gaps, from the intervals and the columns."""
        both = (self.q_end - self.q_start).astype(np.int64) + self.t_end - self.t_start
        return 2 * self.block_length.astype(np.int64) - both
