"""The extenders. A new one is a file in this folder and a line here."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from overlapper.errors import ParameterError
from overlapper.tables import Candidates, Overlaps, Reads

Extender = Callable[[Reads, Candidates, Any, int], tuple[Overlaps, dict[str, int]]]
"""``extend(reads, candidates, params, threads)`` gives overlaps, not yet classified and in the order of the
candidates, and how many candidates were dropped, by reason. ``params`` is the section of `Params` that bears
the extender's name. The result does not depend on ``threads``."""

EXTENDERS = {
    "chain": "overlapper.extend.chain",
    "xdrop": "overlapper.extend.xdrop",
    "gact": "overlapper.extend.gact",
}
ALIGNING = ("xdrop", "gact")
"""Extenders whose score is that of an alignment, to which the adaptive threshold applies."""


def extender(name: str) -> Extender:
    """Return an extender by name.

    Raises
    ------
    ParameterError
        When there is none of that name.
    """
    if name not in EXTENDERS:
        raise ParameterError(f"extender is {name!r}, expected one of {', '.join(EXTENDERS)}")
    return importlib.import_module(EXTENDERS[name]).extend
