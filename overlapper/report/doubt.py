"""What a report says of bases in doubt, from the ``contigs.doubt.bed`` of an assembly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from overlapper.correction.doubt import Reason
from overlapper.drawing import Axis, Plane
from overlapper.drawing.plane import AROUND
from overlapper.errors import FormatError, shortened
from overlapper.io.lines import text_lines, whole
from overlapper.report.page import Figure, Part, Table
from overlapper.runtime.messages import counted

DOUBT = "contigs.doubt.bed"
_MOST_DRAWN, _PLACES = 12, 320
_OF_BASES = {Reason.UNCONFIRMED, Reason.LOW_QUALITY, Reason.UNDECIDED, Reason.STRANDS}
"""Reasons that are of single bases; all others are of what the contig is made of."""
_TITLE = "Bases in doubt"


def stretches_in_doubt(
    folder: Path, lengths: Mapping[str, int], remedy: str
) -> Iterator[tuple[str, int, int, Reason]]:
    """Yield the stretches in doubt of an assembly: contig, start, end and reason.

    Parameters
    ----------
    lengths : mapping of str to int
        Of all contigs.

    Raises
    ------
    FormatError
        When the file is damaged.
    """
    for number, line in enumerate(text_lines(str(folder / DOUBT)), 1):
        fields = line.split("\t")
        start, end = (whole(field, lengths.get(fields[0], -1)) for field in [*fields, "", "", ""][1:3])
        known = len(fields) == 5 and fields[3].upper() in Reason.__members__
        if not known or start is None or end is None or start >= end:
            raise FormatError(
                f"is damaged: {shortened(line)}", file=str(folder / DOUBT), record=f"on line {number}",
                remedy=remedy,
            )  # fmt: skip
        yield fields[0], start, end, Reason[fields[3].upper()]


def doubt_parts(folder: Path, lengths: Mapping[str, int], remedy: str) -> list[Part]:
    """Draw where bases are in doubt along the longest contigs, and count them by reason.

    Parameters
    ----------
    folder : Path
        Of an assembly; one of an earlier version has no file of them.
    lengths : mapping of str to int
        Of contigs, the longest first.
    remedy : str
        For a damaged file.
    """
    if not lengths or not (folder / DOUBT).is_file():
        return []
    bases, stretches = Counter[str](), Counter[str]()
    drawn = list(lengths)[:_MOST_DRAWN]
    longest = lengths[drawn[0]]
    marked = np.zeros((len(drawn), 2, _PLACES), np.bool_)
    for name, start, end, reason in stretches_in_doubt(folder, lengths, remedy):
        told = reason.name.lower()
        bases[told] += end - start
        stretches[told] += 1
        if name in drawn:
            first, last = (place * _PLACES // longest for place in (start, end - 1))
            marked[drawn.index(name), int(reason not in _OF_BASES), first : last + 1] = True
    rows = [(reason, stretches[reason], bases[reason]) for reason in sorted(bases)]
    caption = (
        f"{counted(sum(bases.values()), 'base')} of {sum(lengths.values()):,} may be wrong: the table says "
        f"why. Drawn: {counted(len(drawn), 'contig')}, the longest at the bottom."
    )
    plane = Plane(
        Axis("place on the contig, bases", 0, longest),
        Axis("contig", 0.5, len(drawn) + 0.5, whole=True),
        height=AROUND + 22.0 * len(drawn) + 20,
    )
    for row, name in enumerate(drawn, 1):
        plane.line(np.array([0, lengths[name]]), np.array([row, row]), colour="pale", width=9)
    for kind, (key, colour) in enumerate((("bases in doubt", "a"), ("most reads have something else", "b"))):
        for row, places in enumerate(marked[:, kind], 1):
            for place in np.flatnonzero(places):
                at = (place + np.array([0, 1])) * longest / _PLACES
                plane.line(at, np.array([row, row]), key, colour, width=9)
                key = ""
    table = Table(_TITLE, ("reason", "stretches", "bases"), rows)
    return [Figure(_TITLE, caption, plane.inline(_TITLE, caption), table)]
