"""`njit` for kernels: numba's, but with a cache of compiled kernels of our own.

numba loads what it finds in its cache: damaged files, and files that others wrote, too. It takes the place
of the cache from a file in the working directory, if there is one. It lists the kernels of a function in a
file, whose entries two processes that compile at the same time mix up. And it looks at the file of a function
alone, so that what a kernel calls in another file stays as it was.

Here a kernel is a file of its own for each function, types of arguments and processor, in the places and
under the digest that `overlapper.runtime.compile.places` tells of. It is made from the source file of the
function, all files of overlapper that this one imports, and the versions of numba and LLVM. Only functions
that Python calls are kept: the code of a kernel holds that of all functions it calls.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import caching, compiler, event, serialize, types

from overlapper.runtime.compile import places
from overlapper.runtime.compile.processor import common_processor, spelled

_VERSIONS = numba.__version__, llvmlite.__version__
_PACKAGE = Path(__file__).parents[2]
_IMPORT = re.compile(rb"^(?:from|import) overlapper\.([\w.]+)(?: import \(?([\w, ]*))?", re.MULTILINE)


def njit(*, cache: bool, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Do as `numba.njit`; compiled kernels are kept in a `KernelCache` if ``cache`` is true."""

    def decorated(function: Callable[..., Any]) -> Any:
        # Without no_cfunc_wrapper numba makes a function for C of each, which nobody calls.
        kernel: Any = numba.njit(**options | {"no_cfunc_wrapper": True})(function)
        if cache:
            kernel._cache = KernelCache(function)
        template = kernel.get_call_template
        kernel.get_call_template = lambda args, kws: template(_without_literals(args), kws)
        return kernel

    return decorated


class KernelCache(caching._Cache):
    """The compiled kernels of a function; its places are looked for when it is first used.

    Parameters
    ----------
    function : callable
    """

    prepare: Callable[[Any], None] = staticmethod(lambda target_context: target_context.refresh())
    """``prepare(target_context)`` is called before a kernel is loaded: numba registers all that it can
    translate. Commands do without (`overlapper.runtime.compile.startup`)."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function, self._is_enabled = function, True
        self._locks: dict[str, places.CompileLock] = {}

    @functools.cached_property
    def _stem(self) -> str:
        """What the names of all files of the function begin with."""
        code = self._function.__code__
        path = Path(code.co_filename)
        inside = path.relative_to(_PACKAGE) if path.is_relative_to(_PACKAGE) else Path(path.name)
        name = ".".join(inside.with_suffix("").parts) + "." + self._function.__qualname__
        python = f"py{sys.version_info[0]}{sys.version_info[1]}"
        return f"{name.replace('<locals>', 'locals')}-{code.co_firstlineno}.{python}"

    @property
    def cache_path(self) -> str | None:
        """Where kernels are written; None where they cannot be."""
        folder = places.of_kernels().write
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a kernel compiled before, None if there is none."""
        if not self._is_enabled:
            return None
        self.prepare(target_context)
        codegen = target_context.codegen()
        found = self._kept(sig, codegen, target_context)
        folder = places.of_kernels().write
        name, _ = self._name_and_origin(sig, _processor_of(codegen))
        if found is None and folder is not None and name not in self._locks:
            self._locks[name] = places.CompileLock(folder, name)  # waits while another process compiles it
            found = self._kept(sig, codegen, target_context)
            if found is not None:
                self._locks.pop(name).release()
        return found

    def _kept(self, signature: Any, codegen: Any, target_context: Any) -> Any:
        """Return a kernel from the first place that has it, for this processor or for all of its kind."""
        for processor in dict.fromkeys([_processor_of(codegen), spelled(common_processor())]):
            name, made_from = self._name_and_origin(signature, processor)
            for folder in places.of_kernels().read:
                content = places.read(folder, name, made_from)
                if content is not None:
                    self._keep_nearer(folder, name, made_from, content)
                    return compiler.CompileResult._rebuild(target_context, *pickle.loads(content))
        return None

    @staticmethod
    def _keep_nearer(found: Path, name: str, made_from: bytes, content: bytes) -> None:
        """Copy a kernel to where they are written, if it was found in a place behind it."""
        read, write = places.of_kernels()
        if write is not None and read.index(found) > read.index(write):
            places.write(write, name, made_from, content)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel that Python calls; on a full disk it is compiled again the next time."""
        if not self._is_enabled:
            return
        name, made_from = self._name_and_origin(sig, _processor_of(data.codegen))
        folder = places.of_kernels().write
        if folder is not None and not _Compiling.depth and not data.library.has_dynamic_globals:
            places.write(folder, name, made_from, serialize.dumps(data._reduce()))
        if name in self._locks:
            self._locks.pop(name).release()

    def enable(self) -> None:
        """Use the cache from now on."""
        self._is_enabled = True

    def disable(self) -> None:
        """Do not use the cache from now on."""
        self._is_enabled = False

    def flush(self) -> None:
        """Remove the kept kernels of the function."""
        folder = places.of_kernels().write
        for path in folder.glob(f"{self._stem}.*.nbc") if folder else ():
            path.unlink(missing_ok=True)

    def _name_and_origin(self, signature: Any, processor: str) -> tuple[str, bytes]:
        """Return the name of the file of a kernel, and all that the kernel is made from."""
        arguments = getattr(signature, "args", signature)
        used = f"{_spelled(arguments)} {processor}"
        cells = [cell.cell_contents for cell in self._function.__closure__ or ()]
        sources = _digest_of_sources(Path(self._function.__code__.co_filename))
        made_from = f"{self._stem} {used} {sources} {_VERSIONS} ".encode() + serialize.dumps(cells)
        return f"{self._stem}.{hashlib.sha256(used.encode()).hexdigest()[:16]}.nbc", made_from


class _Compiling(event.Listener):
    """Counts the functions that are being compiled: those that a kernel calls are compiled within it."""

    depth = 0

    def on_start(self, event: Any) -> None:
        _Compiling.depth += 1

    def on_end(self, event: Any) -> None:
        _Compiling.depth -= 1


event.register("numba:compile", _Compiling())


def _processor_of(codegen: Any) -> str:
    """Return what machine code is made for."""
    _, name, features = codegen.magic_tuple()
    return spelled(name, features)


def _without_literals(kinds: Iterable[Any]) -> tuple[Any, ...]:
    """Return types with that of all integers, or of all truth values, for that of one of them.

    numba would compile the function, and all that it calls, once more for each.
    """
    literals = types.IntegerLiteral, types.BooleanLiteral
    return tuple(types.unliteral(kind) if isinstance(kind, literals) else kind for kind in kinds)


@functools.cache
def _digest_of_sources(path: Path) -> str:
    """Return a digest of a source file, and of all files of overlapper that it imports."""
    found, left = {path}, [path]
    while left:
        new = _imported(left.pop()) - found
        found |= new
        left += new
    digests = sorted(hashlib.sha256(_content(path)).hexdigest() for path in found)
    return hashlib.sha256("".join(digests).encode()).hexdigest()


@functools.cache
def _content(path: Path) -> bytes:
    return path.read_bytes()


@functools.cache
def _imported(path: Path) -> frozenset[Path]:
    """Return the files of overlapper that one imports at its top."""
    files = set()
    for module, names in _IMPORT.findall(_content(path)):
        place = _PACKAGE.joinpath(*module.decode().split("."))
        files |= {place.with_suffix(".py")}
        files |= {place / f"{name.strip()}.py" for name in names.decode().split(",")}
    return frozenset(file for file in files if file.is_file())


def _spelled(kinds: Iterable[Any]) -> str:
    """Return types as text; named tuples with the modules of their classes, as two may have one name."""
    words = []
    for kind in kinds:
        parts = _spelled(getattr(kind, "types", ()))
        made_by = getattr(kind, "instance_class", None)
        words.append(f"{kind!r} {getattr(made_by, '__module__', '')} ({parts})" if parts else repr(kind))
    return ", ".join(words)
