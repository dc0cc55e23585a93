"""Kernels by name, and how they are started.

Host code names a kernel by the module that defines it, and need not import that module, which would load
numba-cuda. A kernel is compiled for the types of its arguments when it is first launched with them, unless an
earlier process did so (`cubins`).
"""

from __future__ import annotations

import ctypes
import functools
import re
import struct
import threading
from typing import Any

import numpy as np

from overlapper.runtime.gpu import cubins, driver
from overlapper.runtime.gpu.memory import Arena, DeviceArray

THREADS = 128
"""Threads of a block."""


class Kernel:
    """A GPU kernel by its name, compiled and loaded when it is first launched.

    Parameters
    ----------
    module : str
        Family and file that define it: ``gact.gact_runs`` is kernels/gact/cuda/gact_runs.py.
    name : str
        Of the function decorated with ``cuda.jit`` there, or, with constants, of the one that returns it.
    *constants : int
        What that function is called with.

    Attributes
    ----------
    source : cubins.Source
        The same.
    """

    def __init__(self, module: str, name: str, *constants: int) -> None:
        self.source = cubins.Source(module, name, tuple(map(int, constants)))
        self._loaded: dict[tuple[int, str], tuple[Any, struct.Struct]] = {}
        # Two threads that launch it for the first time would both compile it.
        self._loading = threading.Lock()

    def launch(self, blocks: int, threads: int, stream: driver.Stream, *arguments: Any) -> None:
        """Start the kernel on the current GPU.

        Parameters
        ----------
        blocks, threads : int
            Blocks, and threads of each; without blocks nothing is started.
        stream : Stream
        *arguments : DeviceArray, numpy scalar, int, bool or named tuple of these
            An int is an int64. Named tuples are classes of kernels, which get them as such.
        """
        if not blocks:
            return
        types, fields = zip(*map(_described, arguments), strict=True)
        key = driver.current(), " ".join(types)
        kernel, layout = self._loaded.get(key) or self._load(*key)
        parameters = ctypes.create_string_buffer(layout.size)
        layout.pack_into(parameters, 0, *(number for numbers in fields for number in numbers))
        driver.launch_kernel(kernel, blocks, threads, stream, parameters)

    def load(self, device: int, types: str, entry: str, cubin: bytes) -> None:
        """Have what was compiled for these types ready to start; the device is the current one."""
        self._loaded[device, types] = driver.load_kernel(cubin, entry), layout_of(types)

    def _load(self, device: int, types: str) -> tuple[Any, struct.Struct]:
        with self._loading:
            if (device, types) not in self._loaded:
                capability = driver.properties(device).capability
                self.load(device, types, *cubins.compiled(self.source, types, capability))
            return self._loaded[device, types]


named = functools.cache(Kernel)
"""The kernel of these arguments of `Kernel`, the same object every time."""


def load_kept(module: str) -> None:
    """Load what earlier processes compiled onto the current GPU, of all modules whose names begin so.

    A kernel that is loaded later waits for those that run.
    """
    device = driver.current()
    for source, types, entry, cubin in cubins.kept(module, driver.properties(device).capability):
        named(source.module, source.name, *source.constants).load(device, types, entry, cubin)


def kernel_of(function: Any) -> Kernel:
    """Return the kernel of a function that ``cuda.jit`` decorates at the top of a module."""
    python = function.py_func
    if "." in python.__qualname__:
        raise ValueError(f"{python.__qualname__} depends on more than its name: name it by a Kernel")
    family, _, file = python.__module__.removeprefix("overlapper.kernels.").partition(".cuda.")
    return named(f"{family}.{file}", python.__name__)


def launch(kernel: Any, items: int, arena: Arena, *arguments: Any) -> None:
    """Start a kernel that has a thread for each item, in the stream of an arena.

    Parameters
    ----------
    kernel : Kernel or function
        What `kernel_of` takes.
    items : int
    arena : Arena
    *arguments
        As of `Kernel.launch`.
    """
    kernel = kernel if isinstance(kernel, Kernel) else kernel_of(kernel)
    kernel.launch(max(1, -(-items // THREADS)), THREADS, arena.stream, *arguments)


def layout_of(types: str) -> struct.Struct:
    """Return the memory layout of the parameters of a kernel.

    Those of an array are, all of 64 bits: two addresses that only numba's CPU code uses, its items, the bytes
    of an item, its address, its shape and its strides in bytes. Those of a tuple are those of its fields.
    """
    words = re.findall(r"[^ ,()]+(?=[ ,)]|$)", types)
    return struct.Struct("@" + "".join("q" * (5 + 2 * int(t[1])) if len(t) > 1 else t for t in words))


def _described(argument: Any) -> tuple[str, tuple]:
    """Return the type of an argument, as `cubins.Source` has it, and what it takes of the parameters."""
    if isinstance(argument, DeviceArray):
        return argument.type, argument.fields
    if isinstance(argument, np.generic):
        return argument.dtype.char, (argument,)
    if isinstance(argument, tuple):
        types, fields = zip(*map(_described, argument), strict=True)
        made = type(argument)
        name = f"{made.__module__.removeprefix('overlapper.kernels.')}.{made.__qualname__}"
        return f"{name}({','.join(types)})", sum(fields, ())
    return "?" if isinstance(argument, bool) else "l", (argument,)
