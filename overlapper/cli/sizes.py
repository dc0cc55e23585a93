"""Numbers with a unit on the command line: 200k, 4.6M, 3G."""

from __future__ import annotations

import re

import typer

from overlapper.errors import shortened

_LARGEST = 10**15
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


def parse_depth(text: str) -> int:
    """Return the whole number that a depth stands for, 0 for ``all``.

    Raises
    ------
    typer.BadParameter
        When it is neither ``all`` nor a number of 1 or more.
    """
    said = str(text).strip().lower()
    if said != "all" and not re.fullmatch("0*[1-9][0-9]{0,8}", said):
        raise typer.BadParameter(f"{shortened(text)} is not a depth, expected all or a number such as 100")
    return 0 if said == "all" else int(said)


def parse_size(text: str) -> int:
    """Return the whole number that a text such as ``200k`` stands for.

    Raises
    ------
    typer.BadParameter
        When it is not a number of 0 or more with an optional k, M or G.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kmg]?)", str(text).strip().lower())
    if not match:
        raise typer.BadParameter(
            f"{shortened(text)} is not a size, expected a number such as 500, 200k, 4.6M or 3G"
        )
    size = float(match[1]) * _UNITS[match[2]]
    if size > _LARGEST:
        raise typer.BadParameter(f"{shortened(text)} is more than {_LARGEST:,}")
    return round(size)
