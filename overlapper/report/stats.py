"""Reading the JSON files that commands write, with checks that they hold what they must."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from overlapper.errors import FormatError, shortened
from overlapper.io.sources import open_input

_LARGEST = 10**15


@dataclasses.dataclass(frozen=True)
class Each:
    """A mapping of names to values of one shape."""

    shape: Any


@dataclasses.dataclass(frozen=True)
class Maybe:
    """A value that may be missing."""

    shape: Any


def read_json(path: str, remedy: str) -> Any:
    """Return what a file of JSON holds.

    Raises
    ------
    FormatError
        When it is not JSON.
    InputError
        When it cannot be read.
    """
    with open_input(path) as file:
        try:
            return json.loads(file.read())
        except ValueError as error:
            raise FormatError(f"is not JSON: {error}", file=path, remedy=remedy) from None
        except RecursionError:
            raise FormatError("is nested too deeply", file=path, remedy=remedy) from None


def misfit(value: Any, shape: Any, where: str = "its content") -> str:
    """Return where a value is not of a shape, and why; nothing where it is.

    Parameters
    ----------
    shape : type, Each or dict
        `float` for a number of 0 or more, `str`, `dict` for any mapping, `list`; a list of one shape, for
        lists of such values; `Each`; or the shapes of the values that a mapping must have, besides which it
        may have others.
    where : str
        What holds the value.
    """
    if isinstance(shape, Each | dict):
        return misfit(value, dict, where) or _misfit_within(value, shape, where)
    if isinstance(shape, list):
        if problem := misfit(value, list, where):
            return problem
        problems = (misfit(one, shape[0], f"{where}[{i}]") for i, one in enumerate(value))
        return next(filter(None, problems), "")
    if shape is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        if not fits or not 0 <= value <= _LARGEST:  # which NaN is not, either
            return f"{where} is {shortened(value)}, expected a number of 0 or more"
        return ""
    return "" if isinstance(value, shape) else f"{where} is {shortened(value)}, expected {_SAID[shape]}"


LAYOUT = {"counts": Each(Each(float)), "sizes": Maybe(Each({"reads": float, "edges": float}))}
"""Counts of ``overlapper layout``, and sizes of its graph, as files of several commands have them."""
RUN = {
    "command": Maybe(str),
    "date": Maybe(str),
    "read_filter": Maybe(
        {"min_length": Maybe(float), "min_quality": Maybe(float), "no_duplex_parents": Maybe(bool)}
    ),
    "output": Maybe({"bytes": float}),
}
"""What all files say about the run."""
_SAID = {bool: "true or false", str: "a text", list: "a list", dict: "a table"}


def _misfit_within(values: Mapping[str, Any], shape: Each | dict[str, Any], where: str) -> str:
    parts = dict.fromkeys(values, shape.shape) if isinstance(shape, Each) else shape
    for name, part in parts.items():
        said = f"{where}, {shortened(name)}"
        if name in values:
            if problem := misfit(values[name], part.shape if isinstance(part, Maybe) else part, said):
                return problem
        elif not isinstance(part, Maybe):
            return f"{said} is missing"
    return ""
