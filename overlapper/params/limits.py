"""Limits of parameters, declared with the fields of a dataclass and checked when one is made."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from overlapper.errors import require

ABOVE_0, BELOW_1 = math.nextafter(0, 1), math.nextafter(1, 0)
"""Limits of shares that are neither 0 nor 1."""


def within(
    low: float, high: float = math.inf, expected: str = "", *, default: Any = dataclasses.MISSING
) -> Any:
    """Return a field of a `Limited` dataclass.

    Parameters
    ----------
    low, high : float
        Least and greatest value.
    expected : str
        What fits, in words, where it is not ``low to high``, or ``low or more``.
    default : Any
        Without it the parameter must be given.
    """
    said = expected or (f"{low} or more" if high == math.inf else f"{low} to {high}")
    return dataclasses.field(default=default, metadata={"limits": (low, high, said)})


class Limited:
    """What dataclasses are derived from whose fields are declared by `within`."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type] # what is derived is one
            if "limits" in field.metadata:
                low, high, expected = field.metadata["limits"]
                value = getattr(self, field.name)
                self._require(value is None or low <= value <= high, field.name, expected)

    def _require(self, fits: bool, name: str, expected: str) -> None:
        """Raise a `ParameterError` that names a parameter, unless its value fits."""
        require(fits, name, getattr(self, name), expected)
