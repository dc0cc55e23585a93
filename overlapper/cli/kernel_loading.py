"""How commands take compiled kernels from the cache: without what only compiling needs.

Whenever numba (0.61 to 0.68) loads a kernel it also prepares for linking it into others: it parses the
kernel's bitcode, which lies in the cache beside its machine code, and lists all symbols in it. Before the
first one it imports everything that it can translate, and compiles its own runtime. All that takes three
times as long as the rest. Here each is left until a kernel has to be compiled.

With a kernel comes the module of every function in it, numba's own among them, for names that only code in
Python looks up. Modules that are not there yet are left out.
"""

from __future__ import annotations

import sys
from typing import Any

import llvmlite.binding as llvm
from numba.core import codegen, environment
from numba.core.runtime import _nrt_python  # type: ignore[attr-defined]

from overlapper.kernels.cpu.cache import KernelCache


def load_without_compiler() -> None:
    """Have numba load kernels that way from now on."""
    for name, address in _nrt_python.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
    codegen.JITCPUCodegen._library_class = _Library
    KernelCache.prepare = staticmethod(lambda target_context: None)
    environment._rebuild_env = _environment  # the cache names it


class _Library(codegen.JITCodeLibrary):
    """The code of a kernel; what comes from the cache has its bitcode parsed when that is asked for."""

    _object_code = _bitcode = b""

    @classmethod
    def _unserialize(cls, generator: Any, state: Any) -> Any:
        name, kind, data = state
        if kind != "object":
            return super()._unserialize(generator, state)
        library = generator.create_library(name)
        library._object_code, library._bitcode = data
        library.enable_object_caching()
        library._set_compiled_object(library._object_code)
        library._finalize_final_module()
        return library

    def get_pointer_to_function(self, name: str) -> Any:
        if b"\0%b\0" % name.encode() in self._object_code:  # in its table of strings
            self._codegen._engine._defined_symbols.add(name)
        return super().get_pointer_to_function(name)

    def _get_module_for_linking(self) -> Any:
        if self._bitcode and self._shared_module is None:
            self._shared_module = llvm.parse_bitcode(self._bitcode)
        return super()._get_module_for_linking()


def _environment(module: str, constants: list[Any], name: str) -> environment.Environment:
    """Return the environment of a function: what its module holds, if that is there, and its constants."""
    known = environment.lookup_environment(name)
    if known is not None:
        return known
    made = environment.Environment(
        vars(sys.modules[module]) if module in sys.modules else {"__name__": module}
    )
    made.consts[:] = constants
    made.env_name = name
    environment.Environment._memo[name] = made
    return made
