"""Reading of GFA 1 and 1.1, also of other programs: segments, links, containments and walks.

Tags that are read: ``LN`` where a segment has no sequence, and its depth (``dp``, hifiasm's ``rd``, or ``RC``
over the length, as the format defines it, where there is neither). Paths, comments and lines of other letters
are left out.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from collections.abc import Iterator
from typing import Self

import numpy as np

from overlapper.errors import EmptyInputError, FormatError, shortened
from overlapper.io.lines import name_problem, text_lines, whole

_COLUMNS = {"S": 3, "L": 6, "C": 7, "W": 7}
_REMEDY = "Check that the file is GFA 1."
_LONGEST = 10**12
"""Most bases of a segment, so that sums of segments do not overflow."""
_NO_BASES = re.compile("[^ACGTURYSWKMBDHVNXacgturyswkmbdhvnx]")
_SIGNS = {"+": 0, "-": 1}
_WALK, _STEP = re.compile("(?:[><][^><]+)+"), re.compile("([><])([^><]+)")


@dataclasses.dataclass(frozen=True)
class Join:
    """A link or a containment."""

    first: int
    second: int
    """`first`, `second`: oriented segments, ``2 * segment``, plus 1 for the reverse complement; in a
    containment the container and what it contains."""
    position: int | None = None
    """Of a containment, on the forward strand of its container."""


@dataclasses.dataclass(frozen=True)
class Walk:
    """A sequence of a haplotype as a walk through the graph."""

    sample: str
    haplotype: int
    """Of the sample, from 1; 0 where there are none."""
    name: str
    """Of the sequence."""
    start: int | None
    end: int | None
    """`start`, `end`: what of the sequence the walk is, half open; None where the file does not tell."""
    nodes: list[int]
    """Oriented segments, as those of `Join`."""

    def line(self, names: list[str]) -> str:
        """Return the walk as a line of GFA 1.1, given the names of all segments."""
        places = ("*" if place is None else str(place) for place in (self.start, self.end))
        steps = "".join(f"{'><'[node & 1]}{names[node >> 1]}" for node in self.nodes)
        return "\t".join(["W", self.sample, str(self.haplotype), self.name, *places, steps])


@dataclasses.dataclass(frozen=True)
class Gfa:
    """An assembly graph as a GFA file describes it."""

    names: list[str]
    """Segments, in the order of the file."""
    lengths: np.ndarray
    """int64, shape (n,)."""
    depth: np.ndarray
    """float64, shape (n,); NaN where the file does not tell."""
    joins: list[Join]
    """Links and containments, in the order of the file."""
    walks: list[Walk] = dataclasses.field(default_factory=list)
    """In the order of the file."""

    @property
    def links(self) -> list[Join]:
        """The joins that are links: the first of those of the same two ends, on either strand."""
        first: dict[tuple[int, int], Join] = {}
        for join in self.joins:
            if join.position is None:
                first.setdefault((min(join.first, join.second ^ 1), max(join.first, join.second ^ 1)), join)
        return list(first.values())

    def without_contained(self) -> Self:
        """Return the graph without contained segments and walks; the whole graph if all are contained."""
        kept = np.ones(len(self.names), np.bool_)
        kept[[join.second >> 1 for join in self.joins if join.position is not None]] = False
        if not kept.any():
            return dataclasses.replace(self, joins=self.links)
        number = np.cumsum(kept) - 1
        links = [
            dataclasses.replace(
                link,
                first=int(2 * number[link.first >> 1] + (link.first & 1)),
                second=int(2 * number[link.second >> 1] + (link.second & 1)),
            )
            for link in self.links
            if kept[link.first >> 1] and kept[link.second >> 1]
        ]
        names = [name for name, stays in zip(self.names, kept, strict=True) if stays]
        return type(self)(names, self.lengths[kept], self.depth[kept], links)

    @property
    def circular(self) -> np.ndarray:
        """A mask of the segments that link to themselves and to nothing else."""
        closed, others = np.zeros((2, len(self.names)), np.bool_)
        for link in self.links:
            first, second = link.first >> 1, link.second >> 1
            if link.first == link.second:
                closed[first] = True
            else:
                others[[first, second]] = True
        return closed & ~others


def read_gfa(path: str | os.PathLike[str]) -> Gfa:
    """Read a GFA 1 file, plain or gzip; ``-`` is standard input.

    A file of a header alone is a graph without segments.

    Raises
    ------
    FormatError
        When a line is not GFA 1, or names a segment that is not there.
    EmptyInputError
        When there are neither segments nor a header.
    InputError
        When the file cannot be read to its end.
    """
    return _Reader(os.fspath(path)).read()


def read_gfa_and_sequences(path: str | os.PathLike[str]) -> tuple[Gfa, list[str]]:
    """Read a GFA 1 file and the sequences of its segments, ``*`` where there is none; else as `read_gfa`."""
    sequences: list[str] = []
    return _Reader(os.fspath(path), sequences).read(), sequences


class _Reader:
    """Reads a file once; appends sequences to a list if there is one."""

    def __init__(self, path: str, sequences: list[str] | None = None) -> None:
        self._path = path
        self._sequences = sequences
        self._has_header = False
        self._numbers: dict[str, int] = {}
        self._lengths: list[int] = []
        self._depth: list[float] = []

    def read(self) -> Gfa:
        # Links may come before the segments that they join.
        joins: list[tuple[int, list[str]]] = []
        walks: list[tuple[int, list[str]]] = []
        for number, fields in self._records():
            if fields[0] == "S":
                self._add_segment(number, fields)
            else:
                (walks if fields[0] == "W" else joins).append((number, fields))
        if not self._numbers and not self._has_header:
            raise EmptyInputError("holds no segments (lines of S)", file=self._path, remedy=_REMEDY)
        return Gfa(
            list(self._numbers),
            np.array(self._lengths, np.int64),
            np.array(self._depth, np.float64),
            [self._join(*record) for record in joins],
            [self._walk(*record) for record in walks],
        )

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        with contextlib.closing(text_lines(self._path)) as lines:
            for number, line in enumerate(lines, 1):
                fields = line.split("\t")
                if fields[0] == "H":
                    self._has_header = True
                    if any(field.startswith("VN:Z:2") for field in fields):
                        raise self._error(number, "says that the file is GFA 2, expected GFA 1")
                if fields[0] not in _COLUMNS:
                    continue
                if len(fields) < _COLUMNS[fields[0]]:
                    raise self._error(
                        number,
                        f"has {len(fields)} columns, expected {_COLUMNS[fields[0]]} or more for {fields[0]}",
                    )
                yield number, fields

    def _add_segment(self, number: int, fields: list[str]) -> None:
        name, sequence, tags = fields[1], fields[2], _tags(fields[3:])
        if problem := name_problem(name):
            raise self._error(number, problem)
        if name in self._numbers:
            raise self._error(number, f"names the segment {shortened(name)} once more")
        told = self._whole(number, tags["LN:i"]) if "LN:i" in tags else None
        length = self._length(number, sequence)
        if length is None:
            length = told or 0
        elif told not in (None, length):
            raise self._error(number, f"has {length} bases, but its tag LN says {told}")
        if self._sequences is not None:
            self._sequences.append(sequence)
        self._numbers[name] = len(self._numbers)
        self._lengths.append(length)
        self._depth.append(self._depth_of(number, tags, length))

    def _length(self, number: int, sequence: str) -> int | None:
        if sequence == "*":
            return None
        if odd := _NO_BASES.search(sequence):
            raise self._error(
                number, f"has {odd.group()!r} among its bases, expected letters of nucleotides (IUPAC)"
            )
        return len(sequence)

    def _depth_of(self, number: int, tags: dict[str, str], length: int) -> float:
        given = [tags[key] for key in ("dp:f", "dp:i", "DP:f", "rd:i") if key in tags]
        if not given and not ("RC:i" in tags and length):
            return np.nan
        try:
            depth = float(given[0]) if given else float(tags["RC:i"]) / length
        except ValueError:
            depth = np.nan
        if not 0 <= depth <= _LONGEST:
            raise self._error(number, "has a depth that is no number of 0 or more")
        return depth

    def _join(self, number: int, fields: list[str]) -> Join:
        position = self._whole(number, fields[5]) if fields[0] == "C" else None
        return Join(*self._ends(number, fields), position)

    def _walk(self, number: int, fields: list[str]) -> Walk:
        if not _WALK.fullmatch(fields[6]):
            raise self._error(number, f"has the walk {shortened(fields[6])}, expected > or < and names")
        nodes = [2 * self._segment(number, name) + (sign == "<") for sign, name in _STEP.findall(fields[6])]
        start, end = (None if place == "*" else self._whole(number, place) for place in fields[4:6])
        return Walk(fields[1], self._whole(number, fields[2]), fields[3], start, end, nodes)

    def _segment(self, number: int, name: str) -> int:
        if name not in self._numbers:
            raise self._error(number, f"names the segment {shortened(name)}, which is not in the file")
        return self._numbers[name]

    def _ends(self, number: int, fields: list[str]) -> tuple[int, int]:
        ends = []
        for name, sign in (fields[1:3], fields[3:5]):
            segment = self._segment(number, name)
            if sign not in _SIGNS:
                raise self._error(number, f"has the orientation {shortened(sign)}, expected + or -")
            ends.append(2 * segment + _SIGNS[sign])
        return ends[0], ends[1]

    def _whole(self, number: int, text: str) -> int:
        value = whole(text, _LONGEST)
        if value is None:
            raise self._error(
                number, f"has {shortened(text)} where a number from 0 to {_LONGEST:,} is expected"
            )
        return value

    def _error(self, number: int, problem: str) -> FormatError:
        return FormatError(problem, file=self._path, record=f"on line {number}", remedy=_REMEDY)


def _tags(fields: list[str]) -> dict[str, str]:
    return {field[:4]: field[5:] for field in fields}
