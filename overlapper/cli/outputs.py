"""Whether the files that a command is asked to write get in each other's way."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import typer


def check_outputs(outputs: Mapping[str, str | None], inputs: Sequence[str]) -> None:
    """Refuse to write to one file twice, or to a file that is read.

    Parameters
    ----------
    outputs : mapping of str to str or None
        Path by what the user knows the option as; `None` where it was not given.
    inputs : sequence of str
    """
    given = [path for path in outputs.values() if path is not None]
    places = [path if path == "-" else os.path.realpath(path) for path in given]
    if len(set(places)) < len(places):
        *options, last = outputs
        raise typer.BadParameter(f"{', '.join(options)} and {last} must differ")
    read = {os.path.realpath(path): path for path in inputs if path != "-"}
    for place in places:
        if place in read:
            raise typer.BadParameter(f"{read[place]} is read and would be written: name another output")
