"""Loading compiled kernels from the cache without the parts of numba that only compiling needs.

Before numba (0.62 to 0.68) loads the first kernel it imports everything that it can translate, and compiles
its own runtime, which takes longer than the rest. Here that is left until a kernel has to be compiled.

With a kernel comes the module of every function in it, numba's own among them, for names that only code in
Python looks up. Modules that are not there yet are left out.
"""

from __future__ import annotations

import sys
from typing import Any

import llvmlite.binding as llvm
from numba.core import environment
from numba.core.runtime import _nrt_python  # type: ignore[attr-defined]

from overlapper.runtime.compile.cache import KernelCache


def load_without_compiler() -> None:
    """Have numba load kernels that way from now on."""
    for name, address in _nrt_python.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
    KernelCache.prepare = staticmethod(lambda target_context: None)
    environment._rebuild_env = _environment  # the cache names it


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
