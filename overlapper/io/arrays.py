"""Dataclasses of arrays in artifacts: one file an array, and back."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any, TypeVar

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
        return _loaded(artifact, kind, "")
    except (OSError, LookupError, TypeError, ValueError):
        raise InputError(
            f"does not hold {kind.__name__.lower()}", file=str(artifact.folder),
            remedy=f"Remove the folder {artifact.folder}.",
        ) from None  # fmt: skip


def _loaded(artifact: Artifact, kind: type[_Kind], within: str) -> _Kind:
    types = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        name, part = within + field.name, types[field.name]
        written = artifact.facts[_ARRAYS].get(name)
        if dataclasses.is_dataclass(part) and isinstance(part, type):
            values[field.name] = _loaded(artifact, part, f"{name}.")
        elif written is None:
            values[field.name] = None
        else:
            values[field.name] = artifact.load(name, written["dtype"]).reshape(written["shape"])
    return kind(**values)
