"""Dataclasses of arrays in artifacts: one file an array, and back."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from overlapper.errors import InputError
from overlapper.io.artifacts import Artifact

_Kind = TypeVar("_Kind")
_ARRAYS = "arrays"


def save_arrays(artifact: Artifact, value: Any, *, _within: str = "") -> None:
    """Write the arrays of a dataclass, and those of the dataclasses among its fields.

    Parameters
    ----------
    artifact : Artifact
        Holds one dataclass.
    value : dataclass
        Every field is an array, None, or a dataclass of such fields.
    """
    known = artifact.facts.setdefault(_ARRAYS, {})
    for field in dataclasses.fields(value):
        name, part = _within + field.name, getattr(value, field.name)
        if dataclasses.is_dataclass(part):
            save_arrays(artifact, part, _within=f"{name}.")
        elif part is not None:
            artifact.save(name, part)
            known[name] = {"dtype": part.dtype.str, "shape": part.shape}


def load_arrays(artifact: Artifact, kind: type[_Kind]) -> _Kind:
    """Return the dataclass that `save_arrays` wrote.

    Parameters
    ----------
    artifact : Artifact
    kind : type
        The dataclass.

    Raises
    ------
    InputError
        When the artifact holds something else.
    """
    try:
        known = artifact.facts[_ARRAYS]

        def load(name: str) -> np.ndarray | None:
            written = known.get(name)
            return written and artifact.load(name, written["dtype"]).reshape(written["shape"])

        return _built(kind, load, "")
    except (OSError, LookupError, TypeError, ValueError):
        raise InputError(
            f"does not hold {kind.__name__.lower()}", file=str(artifact.folder),
            remedy=f"Remove the folder {artifact.folder}.",
        ) from None  # fmt: skip


def from_arrays(kind: type[_Kind], arrays: Mapping[str, np.ndarray | None]) -> _Kind:
    """Return a dataclass of arrays by the names that `save_arrays` gives them; what is not there is None."""
    return _built(kind, arrays.get, "")


def _built(kind: type[_Kind], array: Callable[[str], np.ndarray | None], within: str) -> _Kind:
    types = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        name, part = within + field.name, types[field.name]
        if dataclasses.is_dataclass(part) and isinstance(part, type):
            values[field.name] = _built(part, array, f"{name}.")
        else:
            values[field.name] = array(name)
    return kind(**values)
