"""Judge mappings by where the reads come from.

Definitions:

- A read is *placed* if the truth table holds exactly one row for it, of kind ``normal``. Other reads count
  neither for nor against.
- The *mapping error* of a placed read is the larger distance, in bases, of the two ends of its primary
  mapping from where its place puts them, by linear interpolation between the ends of the place. On a circular
  reference sequence the shorter way round counts.
- A placed read is *mapped wrongly* if its primary mapping is on another sequence or strand, or its mapping
  error exceeds a tenth of its length. The *mapping error rate* is the share of wrong ones among the placed
  reads that are mapped, and the *mapped share* that of the mapped ones among the placed.
- By quality: the same among the mappings of each mapping quality, from the highest down, and among all of at
  least that quality.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from overlapper.io.truth import UNPLACED, Truth
from overlapper.tables import MappingKind, Mappings, Reads

TOLERATED_SHARE = 10
"""An error of more than one base in this many of the read is a wrong mapping."""
QUALITY_BINS = (60, 50, 40, 30, 20, 10, 5, 1, 0)


class ReportedMappings(NamedTuple):
    """Places of reads by their primary mappings, one a read."""

    read: np.ndarray
    ref: np.ndarray
    """`read`, `ref`: str, shape (n,); names of reads and reference sequences."""
    reverse: np.ndarray
    """bool, shape (n,)."""
    q_start: np.ndarray
    q_end: np.ndarray
    t_start: np.ndarray
    t_end: np.ndarray
    """`q_start`, `q_end`, `t_start`, `t_end`: int64, shape (n,); on the forward strands."""
    quality: np.ndarray
    """int64, shape (n,)."""


class QualityBin(NamedTuple):
    """Mappings of quality ``low`` or higher, below that of the bin before."""

    low: int
    mapped: int
    wrong: int
    """`mapped`, `wrong`: placed reads that are mapped so, and those of them that are mapped wrongly."""


@dataclasses.dataclass(frozen=True)
class MappingEvaluation:
    """How well reads are mapped."""

    placed: int
    mapped: int
    wrong: int
    """`placed`, `mapped`, `wrong`: placed reads, those of them that are mapped, and those of them that are
    mapped wrongly."""
    error: float | None
    """Median mapping error of the right ones, in bases; None without any."""
    by_quality: list[QualityBin]
    """The highest first."""

    @property
    def wrong_share(self) -> float:
        """Wrong ones among the mapped; 0 if there are none."""
        return self.wrong / self.mapped if self.mapped else 0.0

    @property
    def mapped_share(self) -> float:
        """Mapped ones among the placed; 0 if there are none."""
        return self.mapped / self.placed if self.placed else 0.0


def reported_mappings(mappings: Mappings, reads: Reads, reference: Reads) -> ReportedMappings:
    """Return the primary mappings as reported."""
    primary = mappings.take(mappings.kind == MappingKind.PRIMARY)
    read_names, ref_names = np.array(reads.names or [""]), np.array(reference.names or [""])
    return ReportedMappings(
        read_names[primary.query], ref_names[primary.target], primary.reverse,
        *(getattr(primary, name).astype(np.int64) for name in ReportedMappings._fields[3:]),
    )  # fmt: skip


def evaluate_mappings(
    reported: ReportedMappings, truth: Truth, lengths: dict[str, int], circular: Collection[str] = ()
) -> MappingEvaluation:
    """Judge mappings.

    Parameters
    ----------
    reported : ReportedMappings
    truth : Truth
    lengths : dict of str to int
        Of the reference sequences.
    circular : collection of str
        Names of those that are circles.
    """
    names, first, counts = np.unique(truth.read, return_index=True, return_counts=True)
    row_of = {
        name: row
        for name, row, count in zip(names.tolist(), first.tolist(), counts.tolist(), strict=True)
        if count == 1 and truth.kind[row] == "normal" and truth.ref[row] not in UNPLACED
    }
    known = np.flatnonzero([name in row_of for name in reported.read.tolist()]).astype(np.int64)
    reported = ReportedMappings(*(column[known] for column in reported))
    rows = np.array([row_of[name] for name in reported.read.tolist()], np.int64)
    error = mapping_errors(reported, truth, rows, lengths, circular)
    wrong = TOLERATED_SHARE * error > truth.read_len[rows]
    bins, high = [], np.inf
    for low in QUALITY_BINS:
        inside = (reported.quality >= low) & (reported.quality < high)
        bins.append(QualityBin(low, int(inside.sum()), int(wrong[inside].sum())))
        high = low
    median = float(np.median(error[~wrong])) if (~wrong).any() else None
    return MappingEvaluation(len(row_of), len(known), int(wrong.sum()), median, bins)


def mapping_errors(
    reported: ReportedMappings,
    truth: Truth,
    rows: np.ndarray,
    lengths: dict[str, int],
    circular: Collection[str],
) -> np.ndarray:
    """Return the error of each mapping against a row of the truth; infinite elsewhere or reversed.

    Parameters
    ----------
    rows : ndarray of int64, shape (n,)
        Row of the truth of each of them.
    lengths : dict of str to int
        Of the reference sequences.
    circular : collection of str
        Names of those that are circles.

    Returns
    -------
    ndarray of float64, shape (n,)
        In bases.
    """
    start, end = truth.start[rows], truth.end[rows]
    q_start, q_length = truth.qstart[rows], np.maximum(truth.qend[rows] - truth.qstart[rows], 1)
    scale = (end - start) / q_length
    backwards = truth.strand[rows] == "-"
    error = np.zeros(len(rows))
    for on_read, on_ref in (
        (reported.q_start, np.where(reported.reverse, reported.t_end, reported.t_start)),
        (reported.q_end, np.where(reported.reverse, reported.t_start, reported.t_end)),
    ):
        along = (on_read - q_start) * scale
        apart = np.abs(on_ref - np.where(backwards, end - along, start + along))
        for name in circular:
            around = truth.ref[rows] == name
            left = apart[around] % lengths[name]
            apart[around] = np.minimum(left, lengths[name] - left)
        error = np.maximum(error, apart)
    error[(reported.ref != truth.ref[rows]) | (reported.reverse != backwards)] = np.inf
    return error
