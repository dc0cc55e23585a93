"""What others take the place of in numba for a while, and give back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def replaced(*ours: tuple[Any, str, Any]) -> Iterator[None]:
    """Have attributes be others meanwhile.

    Parameters
    ----------
    *ours : tuple of (object, str, object)
        An owner, the name of its attribute, and what it is meanwhile.
    """
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in ours]
    for owner, name, our in ours:
        setattr(owner, name, our)
    try:
        yield
    finally:
        for owner, name, of_numba in before:
            setattr(owner, name, of_numba)
