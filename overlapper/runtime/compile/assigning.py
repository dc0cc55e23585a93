"""Assignments of arrays to slices, without the text of the error that numba has for other sizes.

numba puts both shapes into its message. To compile the code that spells them takes 3.5 s of every process
that compiles, and up to half a second of every function with such an assignment, more than most functions
take. Kernels raise the same error in words that are known before.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from numba.core.extending import overload
from numba.np import arrayobj

from overlapper.runtime.compile.replacing import replaced


def _raise(source: Any, slice_: Any) -> None:
    raise NotImplementedError  # `_compiled` is


@overload(_raise)
def _compiled(source: Any, slice_: Any) -> Callable[[Any, Any], None]:
    def raise_it(source: Any, slice_: Any) -> None:
        raise ValueError("an array is assigned to a slice of another size")

    return raise_it


def without_shapes() -> AbstractContextManager[None]:
    """Have what is compiled meanwhile name no shapes."""
    return replaced((arrayobj, "raise_with_shape_context", _raise))
