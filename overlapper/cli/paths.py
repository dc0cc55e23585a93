"""Files that a command reads and writes must not get into each other's way."""

from __future__ import annotations

import os
from collections.abc import Iterable

import typer


def check_outputs(outputs: Iterable[str | None], inputs: Iterable[str], names: str) -> None:
    """Refuse to write to one file twice, or to a file that is read.

    Parameters
    ----------
    outputs : iterable of str or None
        None is an output that was not asked for.
    inputs : iterable of str
    names : str
        The options of the outputs, for the message.
    """
    places = [path if path == "-" else os.path.realpath(path) for path in outputs if path is not None]
    if len(set(places)) < len(places):
        raise typer.BadParameter(f"{names} must differ")
    read = {os.path.realpath(path): path for path in inputs if path != "-"}
    for place in places:
        if place in read:
            raise typer.BadParameter(f"{read[place]} is read and would be written: name another output")
