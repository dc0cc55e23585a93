"""How commands take compiled kernels from numba's cache: without what only compiling needs.

numba itself prepares for compiling more whenever it loads a kernel. It lists every symbol of the kernel, to
find some of them later, and imports everything that it can translate. Both take longer than the rest.
"""

from __future__ import annotations

from typing import Any

from numba.core import caching, codegen
from numba.core.runtime import rtsys


def load_without_compiler() -> None:
    """Have numba load kernels that way from now on; one that has to be compiled loads the rest by itself."""
    codegen.JitEngine = _Engine  # type: ignore[misc]
    caching.Cache.load_overload = _load_kernel  # type: ignore[method-assign]


class _Engine(codegen.JitEngine):
    """Looks for a symbol when it is asked for, instead of listing those of every module."""

    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self._modules: list[Any] = []

    def _load_defined_symbols(self, module: Any) -> None:
        self._modules.append(module)

    def is_symbol_defined(self, name: str) -> bool:
        if name in self._defined_symbols:
            return True
        if any(_defines(module, name) for module in reversed(self._modules)):
            self._defined_symbols.add(name)
            return True
        return False


def _defines(module: Any, name: str) -> bool:
    for find in (module.get_function, module.get_global_variable):
        try:
            return not find(name).is_declaration
        except NameError:
            continue
    return False


def _load_kernel(cache: Any, signature: Any, target: Any) -> Any:
    """Take a kernel from the cache; `Cache.load_overload` itself first imports what only compiling needs."""
    rtsys.initialize(target)
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, target)
