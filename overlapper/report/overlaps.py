"""What a report says of overlaps: lengths, identity, classes, overlaps per read, coverage along reads."""

from __future__ import annotations

import numpy as np

from overlapper.drawing import Axis, Plane
from overlapper.report.charts import chart, histogram
from overlapper.report.page import Figure, Part, Remark, Section, Table
from overlapper.runtime.messages import counted
from overlapper.tables import OverlapClass, Overlaps

NEEDS_OVERLAPS = (
    "Overlap lengths, identity, classes and coverage are left out: they need the file of overlaps or, with "
    "the folder of an assembly, its reads."
)
_CLASSES = {
    OverlapClass.DOVETAIL: "dovetail: end on start",
    OverlapClass.QUERY_CONTAINED: "query within target",
    OverlapClass.TARGET_CONTAINED: "target within query",
    OverlapClass.INTERNAL: "internal match",
}
_PARTS = 50
_MOST_READS = 20_000
REPEAT_DEPTH = 2.0
"""Times the median depth, above which a read lies in a repeat."""


def overlaps_section(overlaps: Overlaps, lengths: np.ndarray, whole_set: bool) -> Section:
    """Describe overlaps.

    Parameters
    ----------
    lengths : ndarray of int64, shape (reads,)
    whole_set : bool
        The reads are the set that was overlapped, not only those that the overlaps name.
    """
    if not len(overlaps):
        return Section("Overlaps", [Remark("There are no overlaps.")])
    parts = [
        _lengths(overlaps), _identity(overlaps), _classes(overlaps),
        _per_read(overlaps, len(lengths), whole_set), *_depth(overlaps, lengths),
    ]  # fmt: skip
    return Section("Overlaps", parts)


def identities(overlaps: Overlaps) -> np.ndarray:
    """Return the identities that are known: 1 less divergence, or matches over alignment columns."""
    if overlaps.cigar is not None:
        known = overlaps.block_length > 0
        return overlaps.matches[known] / overlaps.block_length[known]
    return 1.0 - overlaps.divergence[~np.isnan(overlaps.divergence)].astype(np.float64)


def coverage_along(overlaps: Overlaps, lengths: np.ndarray, parts: int, most: int) -> np.ndarray:
    """Return how many overlaps cover the middle of each of ``parts`` equal parts of reads.

    Parameters
    ----------
    lengths : ndarray of int64, shape (reads,)
    most : int
        Of more reads with overlaps, so many are taken, evenly spread.

    Returns
    -------
    ndarray of int64, shape (reads taken, parts)
    """
    touched = np.unique(np.concatenate([overlaps.query, overlaps.target]))
    taken = touched[np.linspace(0, len(touched) - 1, min(len(touched), most)).astype(np.int64)]
    row_of = np.full(len(lengths), -1, np.int64)
    row_of[taken] = np.arange(len(taken))
    steps = np.zeros((len(taken), parts + 1), np.int64)
    for read, _, start, end in overlaps.sides():
        row = row_of[read]
        inside = row >= 0
        for place, sign in ((start, 1), (end, -1)):
            # The first part whose middle, (2 part + 1) / (2 parts) of the read, is at the place or behind.
            part = -((lengths[read] - 2 * parts * place.astype(np.int64)) // (2 * lengths[read]))
            np.add.at(steps, (row[inside], part[inside]), sign)
    return steps.cumsum(axis=1)[:, :parts]


def _lengths(overlaps: Overlaps) -> Figure:
    lengths = overlaps.q_end - overlaps.q_start
    middle = int(np.median(lengths))
    caption = (
        f"{counted(len(overlaps), 'overlap')}; half of them are longer than {middle:,} bases on the query."
    )
    return histogram(
        "Overlap lengths", caption, np.maximum(lengths, 1), "length on the query, bases", "overlaps",
        log=True, marks=((middle, "median"),),
    )  # fmt: skip


def _identity(overlaps: Overlaps) -> Part:
    known = identities(overlaps)
    if not len(known):
        return Remark(
            "Identity is left out: the overlaps carry neither alignments nor an estimated divergence."
        )
    how = (
        "matching columns of the alignments" if overlaps.cigar is not None else "estimated from shared seeds"
    )
    caption = (
        f"Identity of the two reads ({how}): the median is {100 * np.median(known):.2f} %. It holds the "
        "errors of both. A second peak below the first hints at copies of repeats."
    )
    return histogram("Identity of overlaps", caption, 100 * known, "identity, percent", "overlaps")


def _classes(overlaps: Overlaps) -> Table:
    counts = np.bincount(overlaps.kind, minlength=len(OverlapClass))
    rows = [
        (text, float(round(100 * counts[kind] / len(overlaps), 1)), int(counts[kind]))
        for kind, text in _CLASSES.items()
    ]
    return Table("Classes of overlaps", ("class", "percent", "overlaps"), rows, bars=True)


def _per_read(overlaps: Overlaps, reads: int, whole_set: bool) -> Figure:
    counts = np.bincount(overlaps.query, minlength=reads) + np.bincount(overlaps.target, minlength=reads)
    lonely = int((counts == 0).sum())
    told = (
        f"{lonely:,} of {reads:,} reads have none"
        if whole_set
        else "reads without overlaps are not in the file"
    )
    caption = f"Half of the reads have {int(np.median(counts)):,} overlaps or fewer; {told}."
    return histogram("Overlaps per read", caption, counts, "overlaps", "reads")


def _depth(overlaps: Overlaps, lengths: np.ndarray) -> list[Part]:
    depth = overlaps.mean_cover(lengths)
    depth = depth[depth > 0]
    usual = float(np.median(depth))
    limit = REPEAT_DEPTH * usual
    deep = int((depth > limit).sum())
    told = counted(deep, "read") if deep else "no read"
    title = "Depth of reads"
    caption = (
        f"How many overlaps cover each base of a read, on average: the median of the reads is {usual:.1f}. "
        f"Repeats cause more than twice that: {told}."
    )
    drawn = histogram(
        title, caption, depth, "overlaps that cover a base", "reads", marks=((limit, "repeats"),)
    )
    return [drawn, _along(coverage_along(overlaps, lengths, _PARTS, _MOST_READS))]


def _along(cover: np.ndarray) -> Figure:
    low, middle, high = np.quantile(cover, (0.1, 0.5, 0.9), axis=0)
    at = (np.arange(_PARTS) + 0.5) * 100 / _PARTS
    plane = Plane(
        Axis("place on the read, percent of its length", 0, 100),
        Axis("overlaps that cover it", 0, max(1.0, 1.25 * float(high.max()))),
    )
    plane.band(at, low, high, "middle 80 % of reads")
    plane.line(at, middle, "median", "a")
    title = "Coverage along reads"
    caption = (
        f"How many overlaps cover each place of {len(cover):,} reads. The median is "
        f"{middle[_PARTS // 2]:.0f} in the middle and {middle[0]:.0f} and {middle[-1]:.0f} at the ends; a "
        "deep fall at the ends hints at adapters or bad ends."
    )
    rows = [tuple(round(float(value), 1) for value in row) for row in zip(at, low, middle, high, strict=True)]
    head = ("percent of the length", "10 % of reads below", "median", "10 % of reads above")
    return chart(title, caption, plane, head, rows)
