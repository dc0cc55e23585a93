"""Parameters as TOML, and some of them replaced: of any frozen dataclass, whose sections are dataclasses."""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from overlapper.errors import MOST, ParameterError, require, shortened

Of = TypeVar("Of")
_MOST = {int: MOST, float: sys.float_info.max}


def changed(params: Of, changes: Mapping[str, Any], *, where: str = "changes") -> Of:
    """Return parameters with some replaced.

    Parameters
    ----------
    params : dataclass
        Of numbers, texts, choices (`enum.StrEnum`), rows of numbers, and sections of these.
    changes : mapping
        Values by name; those of a section in a mapping of their own.
    where : str
        What to call the changes in an error message.

    Raises
    ------
    ParameterError
        When something is unknown, or a value does not fit.
    """
    wanted = typing.get_type_hints(type(params))
    new: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in wanted:
            raise ParameterError(
                f"{where}: unknown parameter {shortened(name)}, expected one of {', '.join(wanted)}"
            )
        if dataclasses.is_dataclass(wanted[name]):
            require(isinstance(value, Mapping), f"{where}: {name}", shortened(value), "a table of parameters")
            new[name] = changed(getattr(params, name), value, where=f"{where}: [{name}]")
        else:
            new[name] = _fitting(value, wanted[name], f"{where}: {name}")
    try:
        return dataclasses.replace(params, **new)  # type: ignore[type-var]
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None


def _fitting(value: Any, wanted: Any, where: str) -> Any:
    """Return a value as the type that is wanted."""
    if isinstance(wanted, types.UnionType):  # of a type and None
        wanted = typing.get_args(wanted)[0]
    if typing.get_origin(wanted) is tuple:
        require(isinstance(value, list | tuple), where, shortened(value), "a list of values")
        return tuple(_fitting(item, typing.get_args(wanted)[0], where) for item in value)
    if issubclass(wanted, enum.Enum):
        choices = [choice.value for choice in wanted]
        require(value in choices, where, shortened(value), f"one of {', '.join(choices)}")
        return wanted(value)
    fits = type(value) is wanted or (wanted is float and type(value) is int)
    require(fits, where, shortened(value), f"a value of type {wanted.__name__}")
    fits = wanted not in _MOST or abs(value) <= _MOST[wanted]  # which is false of NaN
    require(fits, where, shortened(value), "a number of at most 32 bits")
    return wanted(value)


def to_toml(params: Any) -> str:
    """Write all parameters, defaults included; those that are None are left out."""
    return "\n".join(_lines(params)) + "\n"


def _lines(section: Any, path: str = "") -> list[str]:
    nested = {k: v for k, v in vars(section).items() if dataclasses.is_dataclass(v)}
    lines = [f"{k} = {_spelled(v)}" for k, v in vars(section).items() if k not in nested and v is not None]
    for name, value in nested.items():
        lines += ["", f"[{path}{name}]", *_lines(value, f"{path}{name}.")]
    return lines


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_spelled, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)
