"""Dot plot of two reads: the exact matches that they share on either strand, and their alignment.

The first read runs to the right, the second upwards, both on their forward strands: matches of the same
strand rise, those of opposite strands fall. Matches are MEMs (`overlapper.index`), so that repeats show.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.drawing import Axis, Drawing, Plane, element, shortened, standalone
from overlapper.drawing.plane import AROUND, BESIDE
from overlapper.drawing.svg import path_of
from overlapper.errors import ParameterError
from overlapper.index import Index
from overlapper.index.limits import TooManyMatchesError
from overlapper.overlap.pipeline import find_overlaps
from overlapper.tables import Matches, Overlaps, Reads
from overlapper.tables.cigars import DELETION, INSERTION
from overlapper.tables.ragged import offsets_of
from overlapper.tables.samples import spread

_MOST_FOUND = 5_000_000
"""Matches, each of which takes some 100 bytes while they are sorted."""
_MOST_SEEDS = 20_000
_MOST_CORNERS = 2_000
_WIDE, _NARROW = 620.0, 380.0
_SHAPES = (0.5, 1.6)


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two reads, what they share, and how they align."""

    reads: Reads
    """Two of them."""
    seeds: Matches
    """Exact matches of the first in the second."""
    overlap: Overlaps
    """One row with a CIGAR, or none."""


def align_pair(reads: Reads, *, min_seed: int = 15, preset: str = "ont", threads: int = 1) -> Pair:
    """Find what two reads share.

    Parameters
    ----------
    reads : Reads
        Two of them.
    min_seed : int
        Shortest exact match, in bases.
    preset : str
        Of the overlap, which is aligned by GACT; internal matches are kept, whatever their length.
    threads : int
        Changes nothing but the time.

    Raises
    ------
    ParameterError
        When there are not two reads, one has no bases, or they have matches by the million.
    """
    if len(reads) != 2:
        raise ParameterError(f"got {len(reads)} reads, expected 2")
    for i in np.flatnonzero(reads.lengths == 0).tolist():
        raise ParameterError(f"the read {reads.name(i)} has no bases, so there is nothing to draw")
    first, second = (reads.take(np.array([i])) for i in (0, 1))
    index = Index.build(second, threads=threads)
    try:
        seeds = index.mems(first, min_seed, most=_MOST_FOUND, threads=threads)
    except TooManyMatchesError:
        raise ParameterError(
            f"the reads have more than {_MOST_FOUND:,} exact matches of {min_seed} bases or more, of which "
            f"{_MOST_SEEDS:,} would be drawn: give a higher --min-seed, such as 15"
        ) from None
    changes = {"extender": "gact", "classes": {"keep_internal": True, "min_overlap": 1}}
    return Pair(reads, seeds, find_overlaps(reads, preset, changes=changes, threads=threads))


def plot_pair(pair: Pair) -> str:
    """Return the dot plot of two reads, SVG."""
    seeds = pair.seeds.take(np.sort(np.argsort(-pair.seeds.length, kind="stable")[:_MOST_SEEDS]))
    told = f"Exact matches on either strand. {_told(pair.overlap)}"
    left_out = len(pair.seeds) - len(seeds)
    if left_out:
        told += f" The {left_out:,} shortest matches are not drawn."
    names, lengths = pair.reads.names, pair.reads.lengths
    title = f"{names[0]} ({lengths[0]:,} bases) and {names[1]} ({lengths[1]:,} bases)"
    return standalone(_draw(pair, seeds, _WIDE), _draw(pair, seeds, _NARROW), title, told)


def _draw(pair: Pair, seeds: Matches, width: float) -> Drawing:
    (right, upwards), lengths = pair.reads.names, pair.reads.lengths.astype(np.float64)
    # The same scale on both axes, as far as the picture stays in shape.
    height = AROUND + (width - BESIDE) * float(np.clip(lengths[1] / lengths[0], *_SHAPES))
    plane = Plane(
        Axis(f"{shortened(right, width)}, bases", 0, lengths[0]),
        Axis(f"{shortened(upwards, height)}, bases", 0, lengths[1]), width=width, height=height,
    )  # fmt: skip
    if len(pair.overlap):
        _draw_alignment(plane, pair.overlap)
    for reverse, key, colour in ((False, "same strand", "a"), (True, "opposite", "b")):
        chosen = seeds.take(seeds.reverse == reverse)
        if len(chosen):
            _draw_seeds(plane, chosen, f"{key}: {len(chosen):,} seeds", colour)
    return plane.drawing()


def corners(overlap: Overlaps) -> tuple[np.ndarray, np.ndarray]:
    """Return the path of an alignment, a corner an operation, on the forward strands of both reads.

    Parameters
    ----------
    overlap : Overlaps
        One row with a CIGAR.

    Returns
    -------
    ndarray of int64, ndarray of int64
        Places on the query, which rise, and on the target, which fall where it is reversed.
    """
    assert overlap.cigar is not None
    operation, count = overlap.cigar & 15, (overlap.cigar >> 4).astype(np.int64)
    query = overlap.q_start[0] + offsets_of(np.where(operation == DELETION, 0, count))
    target = offsets_of(np.where(operation == INSERTION, 0, count))
    return query, overlap.t_end[0] - target if overlap.reverse[0] else overlap.t_start[0] + target


def _told(overlap: Overlaps) -> str:
    if not len(overlap):
        return "No alignment was found."
    return (
        f"The alignment covers bases {overlap.q_start[0]:,} to {overlap.q_end[0]:,} and "
        f"{overlap.t_start[0]:,} to {overlap.t_end[0]:,}, with {_identity(overlap):.1f} % identity."
    )


def _draw_alignment(plane: Plane, overlap: Overlaps) -> None:
    query, target = corners(overlap)
    some = spread(len(query), _MOST_CORNERS)
    plane.line(query[some], target[some], f"aligned: {_identity(overlap):.2f} %", "pale", width=9.0)


def _identity(overlap: Overlaps) -> float:
    return 100 * float(overlap.matches[0] / overlap.block_length[0])


def _draw_seeds(plane: Plane, seeds: Matches, key: str, colour: str) -> None:
    left, right = plane.across(seeds.q_start), plane.across(seeds.q_start + seeds.length)
    low, high = plane.up(seeds.t_start), plane.up(seeds.t_start + seeds.length)
    if seeds.reverse.any():
        low, high = high, low
    strokes = "".join(
        path_of(np.array(x), np.array(y))
        for x, y in zip(zip(left, right, strict=True), zip(low, high, strict=True), strict=True)
    )
    plane.draw(
        element("path", d=strokes, class_=f"line-{colour}", stroke_width=2, stroke_linecap="round"),
        key,
        colour,
    )
