"""Registries: finders, extenders and formats by name, loaded when they are first used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from overlapper.errors import ParameterError


def registered(kind: str, name: str, places: Mapping[str, str]) -> Any:
    """Return what is registered under a name.

    Parameters
    ----------
    kind : str
        What is registered, for the message: ``finder``.
    places : mapping of str to str
        By name, where it is: ``module:attribute``.

    Raises
    ------
    ParameterError
        When there is nothing of that name.
    """
    if name not in places:
        raise ParameterError(f"{kind} is {name!r}, expected one of {', '.join(places)}")
    module, _, attribute = places[name].partition(":")
    return getattr(importlib.import_module(module), attribute)
