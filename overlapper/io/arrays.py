"""Dataclasses of arrays as artifacts: saved to one file an array, and loaded."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Collection
from typing import Any, TypeVar

import numpy as np

from overlapper.errors import InputError
from overlapper.io.artifacts import Artifact
from overlapper.tables.base import Table
from overlapper.tables.ragged import offsets_of

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


class ArrayWriter:
    """Writes arrays as `save_arrays` does, but part by part.

    Parameters
    ----------
    artifact : Artifact
    """

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact
        self._known = artifact.facts.setdefault(_ARRAYS, {})

    def append(self, name: str, values: np.ndarray) -> None:
        """Append rows to an array; the first call of a name begins it."""
        self._artifact.append(name, values)
        before = self._known.get(name, {"shape": [0]})["shape"][0]
        self._known[name] = {"dtype": values.dtype.str, "shape": [before + len(values), *values.shape[1:]]}


class TableWriter:
    """Writes a table as `save_arrays` does, but part by part.

    Parameters
    ----------
    artifact : Artifact
    within : str
        What the names of its arrays begin with.
    """

    def __init__(self, artifact: Artifact, within: str = "") -> None:
        self._columns = ArrayWriter(artifact)
        self._within = within
        self._counts: dict[str, list[np.ndarray]] = {}

    def add(self, part: Table) -> None:
        """Append the rows of a part."""
        for field in dataclasses.fields(part):
            values = getattr(part, field.name)
            if values is not None and field.metadata["kind"] == "offsets":
                self._counts.setdefault(field.name, []).append(np.diff(values))
            elif values is not None:
                self._columns.append(self._within + field.name, values)

    def finish(self) -> None:
        """Write where the rows of ragged columns start."""
        for name, counts in self._counts.items():
            self._columns.append(self._within + name, offsets_of(np.concatenate(counts)))


def loaded_arrays(artifact: Artifact, names: Collection[str], within: str = "") -> dict[str, np.ndarray]:
    """Return arrays that `save_arrays` or an `ArrayWriter` wrote.

    Parameters
    ----------
    names : collection of str
        Those that are not there are left out.
    within : str
        What their names begin with in the artifact.
    """
    known = artifact.facts[_ARRAYS]
    return {
        name: artifact.load(within + name, known[within + name]["dtype"]).reshape(
            known[within + name]["shape"]
        )
        for name in names
        if within + name in known
    }


def load_arrays(artifact: Artifact, kind: type[_Kind], within: str = "") -> _Kind:
    """Return the dataclass that `save_arrays` or a `TableWriter` wrote.

    Parameters
    ----------
    kind : type
        The dataclass.
    within : str
        What the names of its arrays begin with.

    Raises
    ------
    InputError
        When the artifact holds something else.
    """
    try:
        return _built(kind, lambda name: loaded_arrays(artifact, [name]).get(name), within)
    except (OSError, LookupError, TypeError, ValueError):
        raise InputError(
            f"does not hold {kind.__name__.lower()}", file=str(artifact.folder),
            remedy=f"Remove the folder {artifact.folder}.",
        ) from None  # fmt: skip


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
