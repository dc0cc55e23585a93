"""What was registered with numba, installed for a kernel only where there is something new.

Before each function, and each one that the function calls for the first time, numba goes through all that may
have been registered with it since, in some seventy lists, and imports again what registers it: a fortieth of
compiling. There is nothing new unless one of the lists has become longer.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from numba.core import base
from numba.core.typing import context as typing_context

from overlapper.runtime.compile.replacing import replaced

_Contexts: list[Any] = [base.BaseContext, typing_context.BaseContext]
"""What registrations are installed in: one for LLVM's code, one for the types of variables."""


def _if_new(refresh: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a method that does what another one does if anything was registered since it last did."""

    def refresh_if_new(self: Any) -> None:
        registered = [
            len(getattr(registry, name))
            for context in (self, getattr(self, "typing_context", self))
            for registry, loader in context._registries.items()
            for name in loader.registry_items
        ]
        if getattr(self, "_registered_before", None) != registered:
            refresh(self)
            self._registered_before = registered

    return refresh_if_new


_ours = [_if_new(context.refresh) for context in _Contexts]


def installed_if_new() -> AbstractContextManager[None]:
    """Have numba install what was registered only where there is something new meanwhile."""
    ours = zip(_Contexts, _ours, strict=True)
    return replaced(*((context, "refresh", refresh) for context, refresh in ours))
