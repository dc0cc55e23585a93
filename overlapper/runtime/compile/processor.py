"""The processor that kernels are compiled for: one that stands for nearly all that are in use.

Kernels for it run on each of them, so that a package can hold them, and no faster for the very processor at
hand (docs/notes/start.md). On x86-64 it has AVX2 and what came with it (x86-64-v3, from 2013 on); elsewhere
it is what all of the kind have.
"""

from __future__ import annotations

import functools
import os
import platform
import sys

_NEEDED = "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"


@functools.cache
def common_processor() -> str:
    """Return the name of that processor, as LLVM knows it; empty where this machine is older than it."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "generic"
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    return "x86-64-v3" if all(features.get(name) for name in _NEEDED) else ""


def spelled(name: str, features: str = "") -> str:
    """Return system, processor and its features, as the names of kept kernels have them."""
    return f"{sys.platform} {platform.machine()} {name} {features}"


def compile_for_common_processor() -> None:
    """Have numba, which is not loaded yet, compile for that processor, unless the user named one."""
    if common_processor() and not {"NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"} & os.environ.keys():
        os.environ.update(NUMBA_CPU_NAME=common_processor(), NUMBA_CPU_FEATURES="")
