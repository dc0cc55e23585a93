"""GPU kernels: compiled, and kept on disk for later processes.

numba-cuda keeps what it compiled, too, but has to be loaded to find it, with all that it knows of types, and
looks at the file of a kernel alone. Here a kernel is found by the name of its file, which says all that it
depends on:

- the kernel, its constants and the types of its arguments,
- what it is compiled for: ``sm_90``,
- a digest of all sources of kernels, and of the versions of what compiles them.

So nothing is ever out of date: what does not fit has another name. `overlapper.runtime.compile.places` tells
where the files lie, and keeps from loading what is damaged; where nothing can be written every process
compiles for itself.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from overlapper.runtime.code_digest import digest_of_code
from overlapper.runtime.compile import places

_PACKAGE = "overlapper.kernels"
_KERNELS = Path(__file__).parents[2] / "kernels"
_COMPILERS = "numba-cuda", "numba", "llvmlite"
_compiling = threading.Lock()
"""Held while a kernel is compiled."""


class Source(NamedTuple):
    """Where the source of a kernel is: module, name and constants, as `Kernel` takes them.

    The types of its arguments are a text of words, one an argument: numpy's letter of a number's type, and
    behind it the number of dimensions where it is an array. ``"I1 l"`` is an array of uint32 and an int64. A
    named tuple is its class, in parentheses its fields: ``"chain.chain.Chaining(l,l,l,l)"``.
    """

    module: str
    name: str
    constants: tuple[int, ...]


def compiled(source: Source, types: str, capability: tuple[int, int]) -> tuple[str, bytes]:
    """Return a kernel for these types of arguments, compiled now or by an earlier process.

    Returns
    -------
    entry : str
        Its name in the code.
    cubin : bytes
    """
    name = f"{_stem(source, types, capability)}.{_sources_digest()}.cubin"
    for folder in places.of_kernels().read:
        content = places.read(folder, name, name.encode())
        if content is not None:
            return _unpacked(content)[1:]
    with _compiling:
        made, cubin = compile_kernel(source, types, capability)
    _keep(_stem(source, types, capability), name, f"{made} {types}\n".encode() + cubin)
    return made, cubin


def kept(module: str, capability: tuple[int, int]) -> Iterator[tuple[Source, str, str, bytes]]:
    """Yield the kernels that earlier processes compiled, of all modules whose names begin so.

    Yields
    ------
    source : Source
    types, entry : str
    cubin : bytes
        As `compiled` takes and returns them.
    """
    pattern = f"{module}*.{_architecture(capability)}.{_sources_digest()}.cubin"
    for path in (path for folder in places.of_kernels().read for path in folder.glob(pattern)):
        content = places.read(path.parent, path.name, path.name.encode())
        if content is not None:
            function, *constants = path.name.rsplit(".", 4)[0].split("-")
            module, _, name = function.rpartition(".")
            yield Source(module, name, tuple(map(int, constants))), *_unpacked(content)


def _unpacked(content: bytes) -> tuple[str, str, bytes]:
    """Return the types of the arguments of a kernel, its name in the code, and the code."""
    head, _, cubin = content.partition(b"\n")
    entry, _, types = head.decode().partition(" ")
    return types, entry, cubin


def compile_kernel(source: Source, types: str, capability: tuple[int, int]) -> tuple[str, bytes]:
    """Compile a kernel; what `compiled` returns. It takes numba-cuda one to three seconds."""
    from cuda.core import Linker, LinkerOptions, ObjectCode
    from numba import cuda
    from numba import types as numba_types

    function = getattr(
        importlib.import_module(f"{_PACKAGE}.{source.module.replace('.', '.cuda.')}"), source.name
    )
    if source.constants:
        function = function(*source.constants)
    ptx, _ = cuda.compile(
        function.py_func, numba_types.void(*map(numba_type, types.split())),
        cc=capability, device=False, abi="numba", output="ptx",
    )  # fmt: skip
    ptx = ptx.encode() if isinstance(ptx, str) else ptx
    entry = re.search(rb"\.entry\s+([\w$]+)", ptx)
    assert entry, "what is compiled as a kernel has an entry"
    options = LinkerOptions(
        arch=_architecture(capability), max_register_count=function.targetoptions.get("max_registers")
    )
    linker = Linker(ObjectCode.from_ptx(ptx), options=options)
    return entry[1].decode(), bytes(linker.link("cubin").code)


def numba_type(word: str) -> Any:
    """Return numba's type for a word of `Source`."""
    from numba import from_dtype
    from numba import types as numba_types

    if word.endswith(")"):
        name, _, fields = word[:-1].partition("(")
        module, _, made_by = name.rpartition(".")
        of_fields = tuple(map(numba_type, fields.split(",")))
        made = getattr(importlib.import_module(f"{_PACKAGE}.{module}"), made_by)
        return numba_types.BaseTuple.from_types(of_fields, made)
    number = from_dtype(np.dtype(word[0]))
    return numba_types.Array(number, int(word[1:]), "C") if word[1:] else number


def _architecture(capability: tuple[int, int]) -> str:
    return f"sm_{capability[0]}{capability[1]}"


def _stem(source: Source, types: str, capability: tuple[int, int]) -> str:
    """Return the part of a file name that says for what it is used."""
    kernel = "-".join([f"{source.module}.{source.name}", *map(str, source.constants)])
    return f"{kernel}.{hashlib.sha256(types.encode()).hexdigest()[:8]}.{_architecture(capability)}"


@functools.cache
def _sources_digest() -> str:
    """Return a digest of all sources of kernels; those of the CPU too, as GPUs share some functions."""
    compilers = (f"{name} {importlib.metadata.version(name)}" for name in _COMPILERS)
    return digest_of_code([_KERNELS], compilers)


def _keep(stem: str, name: str, content: bytes) -> None:
    """Write a file, in place of what older sources made of the kernel."""
    folder = places.of_kernels().write
    if folder is None or not places.write(folder, name, name.encode(), content):
        return
    for other in folder.glob(f"{stem}.*.cubin"):
        if other.name != name:
            with contextlib.suppress(OSError):
                other.unlink()
