"""Conversion of overlaps to GFA 1 and back, without building a graph.

A read is a segment. A dovetail becomes a link and a containment a containment; an internal match has no line
in GFA 1. What has a class keeps it. Internal matches, as which overlaps without a class are read, are
classified by their hangs (`overlapper.extend.classify`). The CIGAR of a line spans the overlap to the ends
of the reads, hangs as M, as it must in GFA; ``*`` where the overlap has none. What GFA has no
column for is in tags, so that nothing is lost on the way back: those of PAF, ``cg`` included, and
``iv:B:i``, start and end on the read that comes first in the file, start and end on the other one (0-based,
half open, forward strands), matching bases and block length.

On the way back a line without ``iv`` is taken for what its CIGAR says; one without either tells no positions
and is left out, and so is one whose CIGAR says that nothing overlaps (``0M``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from overlapper.errors import FormatError, shortened
from overlapper.extend.classify import classify, containment_or_dovetail, ends
from overlapper.graph.alignment import NO_ALIGNMENT, Side, cigar_of
from overlapper.graph.gfa import Gfa, Join, read_gfa
from overlapper.io.lines import whole
from overlapper.io.paf import format_paf, parse_paf
from overlapper.tables import OverlapClass, Overlaps, Reads

_NO_QUALITY = "255"
_FIRST_TAG = 12
_BEST = "tp:A:P"
_NUMBERS = 6
_REMEDY = "Repair the line or remove it."
_OPERATION = re.compile(r"([0-9]{1,9})([MIDNSHP=X])")
_CIGAR = re.compile(rf"({_OPERATION.pattern})+")
_OF_PAF = {"I": "D", "D": "I"}


def overlaps_to_gfa(overlaps: Overlaps, reads: Reads, *, bases: bool) -> tuple[Iterator[str], dict[str, int]]:
    """Return overlaps as GFA 1.

    Parameters
    ----------
    overlaps : Overlaps
    reads : Reads
    bases : bool
        Write the bases of the reads, not ``*``.

    Returns
    -------
    lines : iterator of str
    counts : dict of str to int
        Lines, by what they hold, and the overlaps left out.
    """
    by_hangs, by_extents = classify(overlaps, reads.lengths), containment_or_dovetail(overlaps, reads.lengths)
    kinds = np.where(overlaps.kind == OverlapClass.INTERNAL, by_hangs, by_extents)
    internal = kinds == OverlapClass.INTERNAL
    counts = {
        "segments": len(reads),
        "links": int((kinds == OverlapClass.DOVETAIL).sum()),
        "containments": int((kinds >= OverlapClass.QUERY_CONTAINED).sum()),
        "internal matches left out": int(internal.sum()),
    }
    return _lines(overlaps.take(~internal), kinds[~internal], reads, bases), counts


def _lines(overlaps: Overlaps, kinds: np.ndarray, reads: Reads, bases: bool) -> Iterator[str]:
    yield "H\tVN:Z:1.0"
    for read in range(len(reads)):
        yield f"S\t{reads.name(read)}\t{reads.sequence(read) if bases else '*'}\tLN:i:{reads.lengths[read]}"
    left_query, right_query, left_target, right_target = ends(overlaps, reads.lengths)
    left, right = left_query - left_target, right_query - right_target
    paf = (line for text in format_paf(overlaps, reads) for line in bytes(text).decode().split("\n")[:-1])
    for row, line in enumerate(paf):
        query = Side(int(overlaps.query[row]), 0, int(reads.lengths[overlaps.query[row]]), False)
        reverse = bool(overlaps.reverse[row])
        target = Side(int(overlaps.target[row]), 0, int(reads.lengths[overlaps.target[row]]), reverse)
        position = None
        if kinds[row] == OverlapClass.DOVETAIL:
            first, second = (query, target) if left[row] > 0 else (target, query)
        elif kinds[row] == OverlapClass.TARGET_CONTAINED:
            first, second, position = query, target, left[row]
        else:
            # The container comes first, on its forward strand.
            first, second = target._replace(reverse=False), query._replace(reverse=reverse)
            position = -right[row] if reverse else -left[row]
        columns = [
            "L" if position is None else "C",
            *(
                text
                for side in (first, second)
                for text in (reads.name(side.read), "-" if side.reverse else "+")
            ),
            *([] if position is None else [str(max(int(position), 0))]),
            cigar_of(overlaps, row, first, second),
            *_tags_of(line.split("\t")),
        ]
        yield "\t".join(columns)


def _tags_of(paf: list[str]) -> Iterator[str]:
    yield f"iv:B:i,{','.join(paf[i] for i in (2, 3, 7, 8, 9, 10))}"
    yield from (tag for tag in paf[_FIRST_TAG:] if tag != _BEST)


def gfa_to_overlaps(path: str | os.PathLike[str]) -> tuple[Overlaps, Reads, dict[str, int]]:
    """Read the links and containments of a GFA 1 file as overlaps of its segments.

    Returns
    -------
    overlaps : Overlaps
    reads : Reads
        Names and lengths of the segments, without bases.
    counts : dict of str to int
        Overlaps, and lines that are none.

    Raises
    ------
    FormatError
        When the file is not GFA 1, or an overlap does not lie within its segments.
    InputError
        When the file cannot be read.
    """
    file_name = os.fspath(path)
    gfa = read_gfa(file_name)
    reads = Reads.without_bases(gfa.names, gfa.lengths)
    counts = {
        "overlaps": 0,
        "lines without positions left out": 0,
        "links of segments that do not overlap left out": 0,
        "links of a segment to itself left out": 0,
    }

    def rows() -> Iterator[str]:
        written = 0
        for join in gfa.joins:
            if join.first >> 1 == join.second >> 1:
                counts["links of a segment to itself left out"] += 1
            elif _is_blunt(join):
                counts["links of segments that do not overlap left out"] += 1
            elif (line := _paf_line(join, gfa, file_name)) is None:
                counts["lines without positions left out"] += 1
            else:
                counts["overlaps"] += 1
                # Each in the place of its line, so that errors number that.
                yield "\n" * (join.line - 1 - written)
                yield f"{line}\n"
                written = join.line

    text = "".join(rows()).encode()
    return parse_paf([text], reads, file_name), reads, counts


def _is_blunt(join: Join) -> bool:
    """Return whether a line joins segments that follow each other without an overlap, as 0M says."""
    told = "iv:B" not in join.tags and bool(_CIGAR.fullmatch(join.overlap))
    return told and not any(letter in "MIDN=XS" for _, letter in _operations(join.overlap))


def _operations(cigar: str) -> list[tuple[int, str]]:
    """Return lengths and letters of a CIGAR, without those of length 0."""
    return [(int(size), letter) for size, letter in _OPERATION.findall(cigar) if int(size)]


class _Row(NamedTuple):
    """A line of PAF for two segments: the integers of its columns, and its tags."""

    first: int
    first_start: int
    first_end: int
    second: int
    second_start: int
    second_end: int
    matches: int
    block_length: int
    tags: list[str]


def _paf_line(join: Join, gfa: Gfa, path: str) -> str | None:
    if "iv:B" in join.tags:
        row = _row_of_tags(join, gfa, path)
    elif join.overlap != NO_ALIGNMENT:
        row = _row_of_cigar(join, gfa, path)
    else:
        return None
    for segment, start, end in (row[:3], row[3:6]):
        if not 0 <= start <= end <= gfa.lengths[segment]:
            raise FormatError(
                f"overlaps from {start} to {end} of {gfa.names[segment]}, which has "
                f"{gfa.lengths[segment]} bases",
                file=path, record=f"on line {join.line}", remedy=_REMEDY,
            )  # fmt: skip
    columns = [
        gfa.names[row.first], gfa.lengths[row.first], row.first_start, row.first_end,
        "-" if (join.first ^ join.second) & 1 else "+",
        gfa.names[row.second], gfa.lengths[row.second], row.second_start, row.second_end,
        row.matches, row.block_length, _NO_QUALITY, *row.tags,
    ]  # fmt: skip
    return "\t".join(map(str, columns))


def _row_of_tags(join: Join, gfa: Gfa, path: str) -> _Row:
    low, high = sorted((join.first >> 1, join.second >> 1))
    kind, *numbers = join.tags["iv:B"].split(",")
    values = [value for value in map(whole, numbers) if value is not None]
    if kind != "i" or len(numbers) != _NUMBERS or len(values) != _NUMBERS:
        raise FormatError(
            f"has {shortened(join.tags['iv:B'])} in its tag iv, expected i and {_NUMBERS} numbers",
            file=path, record=f"on line {join.line}", remedy=_REMEDY,
        )  # fmt: skip
    start, end, other_start, other_end, matches, block = values
    tags = [f"{key}:{value}" for key, value in join.tags.items() if key != "iv:B"]
    return _Row(low, start, end, high, other_start, other_end, matches, block, tags)


def _row_of_cigar(join: Join, gfa: Gfa, path: str) -> _Row:
    if not _CIGAR.fullmatch(join.overlap):
        raise FormatError(
            f"has {shortened(join.overlap)} where a CIGAR is expected",
            file=path, record=f"on line {join.line}", remedy=_REMEDY,
        )  # fmt: skip
    found = _operations(join.overlap)
    on_first = sum(size for size, letter in found if letter not in "IP")
    on_second = sum(size for size, letter in found if letter not in "DNP")
    first, second = join.first >> 1, join.second >> 1
    start = join.position
    if start is None:
        start = 0 if join.first & 1 else int(gfa.lengths[first]) - on_first
    other_start = int(gfa.lengths[second]) - on_second if join.second & 1 else 0
    matches = sum(size for size, letter in found if letter in "M=")
    # PAF's CIGAR is along its target, here the second segment, and to it bases of the first are insertions.
    along_target = found[::-1] if join.second & 1 else found
    cigar = "".join(f"{size}{_OF_PAF.get(letter, letter)}" for size, letter in along_target)
    return _Row(
        first, start, start + on_first, second, other_start, other_start + on_second,
        matches, sum(size for size, _ in found), [f"cg:Z:{cigar}"],
    )  # fmt: skip
