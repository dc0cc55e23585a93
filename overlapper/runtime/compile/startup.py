"""Loading numba and kernels quickly, and settings of the memory allocator, for commands that compute."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from overlapper.errors import ParameterError
from overlapper.runtime.compile.processor import compile_for_common_processor

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""The C library's names (glibc) for how much unused memory a thread keeps, and for the size from which
memory is the system's own, and goes back to it."""
_LARGE_ARRAY, _KEPT_BYTES = 4 << 20, 64 << 20


def load_numba() -> None:
    """Load numba without what compiled kernels do not need, which takes longer than the rest.

    Only a process of our own may decide that, so this is for commands, never for the library. What is left
    out:

    - scipy, which numba looks for to have linear algebra; no kernel has any.
    - Settings of numba in the working directory (``.numba_config.yaml``), and with them YAML: what lies there
      came with somebody's data, and has no say in where code is loaded from.
    - coverage, which numba loads where it is installed, to count lines that it compiles. A process that
      counts lines has loaded it before.
    - Extensions of numba in other packages, for which it reads what every installed package says of itself,
      while other threads wait for their kernels. No kernel uses any, and no such code is run.
    - What only compiling needs, before a kernel is taken from the cache (`_load_without_compiler`).

    Kernels are compiled for the processor that shipped ones are for.
    """
    compile_for_common_processor()
    left_out: dict[str, ModuleType | None] = {
        "scipy": None,  # importing it fails, and numba does without
        "yaml": None,  # numba warns where there are settings, and does without
        "coverage": None,  # as scipy
    }
    with _instead(left_out), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A Numba config file is found")
        _import("numba.np.arraymath")  # kernels name it, and it names scipy
        from numba.core import config, entrypoints
    _check_that_it_compiles()
    config._config_fname = os.devnull  # it is looked for again before each compilation
    entrypoints._already_initialized = True  # numba looks for extensions once, before it loads a kernel

    _load_without_compiler()


def _load_without_compiler() -> None:
    """Have kernels be loaded from the cache without the parts of numba that only compiling needs.

    Before numba loads the first kernel it imports everything that it can translate, and compiles its own
    runtime, which takes longer than the rest. This is left until a kernel has to be compiled.

    With a kernel comes the module of every function in it, numba's own among them, for names that only code
    in Python looks up. Modules that are not there yet are left out.
    """
    import llvmlite.binding as llvm
    from numba.core import environment
    from numba.core.runtime import _nrt_python

    from overlapper.runtime.compile.cache import KernelCache

    for name, address in _nrt_python.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
    KernelCache.prepare = staticmethod(lambda target_context: None)
    environment._rebuild_env = _environment  # kept kernels name it


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """Return the environment of a function: what its module holds, if that is there, and its constants."""
    from numba.core.environment import Environment, lookup_environment

    known = lookup_environment(name)
    if known is not None:
        return known
    made = Environment(vars(sys.modules[module]) if module in sys.modules else {"__name__": module})
    made.consts[:] = constants
    made.env_name = name
    Environment._memo[name] = made
    return made


def _import(module: str) -> None:
    """Import a module of numba, which reads its settings from the environment meanwhile."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", r"\s*Environment variable 'NUMBA_", RuntimeWarning)
        try:
            importlib.import_module(module)
        except (RuntimeWarning, ValueError) as error:
            settings = [f"{name}={value}" for name, value in os.environ.items() if name.startswith("NUMBA_")]
            if not settings:
                raise
            reason = str(error).strip().splitlines()[0].rstrip(".")
            raise ParameterError(
                f"numba cannot be used with {', '.join(settings)}: {reason}. Unset or correct it"
            ) from None


def _check_that_it_compiles() -> None:
    from numba.core import config

    if config.DISABLE_JIT:
        raise ParameterError(
            "NUMBA_DISABLE_JIT is set: kernels would not be compiled, and take a thousand times as long. "
            "Unset it"
        )


@contextlib.contextmanager
def _instead(modules: dict[str, ModuleType | None]) -> Iterator[None]:
    """Import other modules, or none, under some names meanwhile, unless they were imported before."""
    modules = {name: module for name, module in modules.items() if name not in sys.modules}
    sys.modules.update(modules)  # type: ignore[arg-type] # importing None fails, by Python's own rule
    try:
        yield
    finally:
        for name in modules:
            del sys.modules[name]


def tune_malloc() -> None:
    """Tell malloc to return the memory of large arrays when they are freed, and to keep that of others.

    The system takes long to give memory, so what blocks of work need again and again is kept. The C library
    would return most of it, and would keep arrays up to the size of the largest one freed so far.
    """
    c_library = ctypes.CDLL(None)
    if hasattr(c_library, "mallopt"):
        c_library.mallopt(_MMAP_THRESHOLD, _LARGE_ARRAY)
        c_library.mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
