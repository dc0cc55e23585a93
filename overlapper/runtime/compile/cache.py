"""`njit` for kernels: numba's, but with a cache of compiled kernels of our own.

numba loads what it finds in its cache: damaged files, and files that others wrote, too. It takes the place
of the cache from a file in the working directory, if there is one. It lists the kernels of a function in a
file, whose entries two processes that compile at the same time mix up. And it looks at the file of a function
alone, so that an upgrade of overlapper leaves kernels which call what is no longer there.

Here a kernel is a file of its own for each function, types of arguments and processor, in the places and
under the digest that `overlapper.runtime.compile.places` tells of. It is made from the source file of the
function and the versions of overlapper, numba and LLVM.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import caching, compiler, serialize, types

from overlapper.errors import OutputError
from overlapper.runtime.compile import places
from overlapper.runtime.compile.linking import Compiler, Library
from overlapper.runtime.compile.plain import is_plain
from overlapper.version import __version__

_VERSIONS = __version__, numba.__version__, llvmlite.__version__


def njit(*, cache: bool, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Do as `numba.njit`; compiled kernels are kept in a `KernelCache` if ``cache`` is true.

    A kernel calls the long functions in it where they are (`overlapper.runtime.compile.linking`). For other
    kernels it is compiled by itself, without the code that takes arguments from Python, which is longer than
    most kernels; ``for_kernels()`` of the kernel is what does that.
    """
    if is_plain():
        options.pop("_nrt", None)
        return numba.njit(cache=cache, **options)
    # Without no_cfunc_wrapper numba makes a function for C of each, which nobody calls.
    options |= {"pipeline_class": Compiler, "no_cfunc_wrapper": True}

    def compiled(function: Callable[..., Any], for_kernels: bool) -> Any:
        kernel = numba.njit(**options | {"no_cpython_wrapper": for_kernels})(function)
        if cache:
            kernel._cache = KernelCache(function, for_kernels)
        return kernel

    def decorated(function: Callable[..., Any]) -> Any:
        kernel = compiled(function, for_kernels=False)
        inner = functools.cache(lambda: compiled(function, for_kernels=True))
        # numba asks these of what a kernel calls.
        kernel.get_call_template = lambda args, kws: inner().get_call_template(_without_literals(args), kws)
        kernel.get_overload = lambda signature: inner().get_overload(signature)
        kernel.for_kernels = inner
        return kernel

    return decorated


class KernelCache(caching._Cache):
    """The compiled kernels of a function; its places are looked for when it is first used.

    Parameters
    ----------
    function : callable
    for_kernels : bool
        Whether kernels call it, and Python does not.

    Attributes
    ----------
    prepare : callable
        ``prepare(target_context)`` is called before a kernel is loaded: numba registers all that it can
        translate. Commands do without.
    """

    prepare: Callable[[Any], None] = staticmethod(lambda target_context: target_context.refresh())

    def __init__(self, function: Callable[..., Any], for_kernels: bool = False) -> None:
        self._function, self._for_kernels, self._is_enabled = function, for_kernels, True
        self._locks: dict[str, places.CompileLock] = {}

    @property
    def _places(self) -> places.Places:
        home = Path(self._function.__code__.co_filename).parent
        name = f"{home.name}-{hashlib.sha256(bytes(home)).hexdigest()[:16]}"
        return places.usable(places.folders(home, name))

    @functools.cached_property
    def _stem(self) -> str:
        """What the names of all files of the function begin with."""
        code = self._function.__code__
        name = f"{Path(code.co_filename).stem}.{self._function.__qualname__}".replace("<locals>", "locals")
        caller = "kernels" if self._for_kernels else "python"
        return f"{name}-{code.co_firstlineno}.{caller}.py{sys.version_info[0]}{sys.version_info[1]}"

    @property
    def cache_path(self) -> str | None:
        """Where kernels are written; None where they cannot be."""
        folder = self._places.write
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a kernel compiled before, None if there is none.

        Raises
        ------
        OutputError
            When there is none, and nowhere to keep one.
        """
        if not self._is_enabled:
            return None
        self.prepare(target_context)
        name, made_from = self._name_and_origin(sig, target_context.codegen())
        found = self._kept(name, made_from, target_context)
        if found is not None:
            return found
        folder = self._places.write
        if folder is None:
            raise OutputError(
                "compiled kernels can be kept neither beside the code nor in ~/.cache/overlapper. Name a "
                "folder for them in the environment variable NUMBA_CACHE_DIR"
            )
        if name not in self._locks:
            self._locks[name] = places.CompileLock(folder, name)
            found = self._kept(name, made_from, target_context)
            if found is not None:
                self._locks.pop(name).release()
        return found

    def _kept(self, name: str, made_from: bytes, target_context: Any) -> Any:
        """Return a kernel from the first place that has it."""
        for folder in self._places.read:
            content = places.read(folder, name, made_from)
            if content is not None:
                try:
                    return _rebuilt(target_context, *pickle.loads(content))
                except (AttributeError, ImportError):
                    continue  # it names what other source files no longer hold
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel; on a full disk it is compiled again the next time."""
        folder = self._places.write
        if not self._is_enabled or folder is None:
            return
        name, made_from = self._name_and_origin(sig, data.codegen)
        if not data.library.has_dynamic_globals:
            places.write(folder, name, made_from, serialize.dumps(_reduced(data)))
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
        folder = self._places.write
        for path in folder.glob(f"{self._stem}.*.nbc") if folder else ():
            path.unlink(missing_ok=True)

    def _name_and_origin(self, signature: Any, codegen: Any) -> tuple[str, bytes]:
        """Return the name of the file of a kernel, and all that the kernel is made from."""
        arguments = getattr(signature, "args", signature)
        used = f"{_spelled(arguments)} {codegen.magic_tuple()}"
        cells = [cell.cell_contents for cell in self._function.__closure__ or ()]
        source = _source_digest(self._function.__code__.co_filename)
        made_from = f"{self._stem} {used} {source} {_VERSIONS} ".encode() + serialize.dumps(cells)
        return f"{self._stem}.{hashlib.sha256(used.encode()).hexdigest()[:16]}.nbc", made_from


def _reduced(compiled: Any) -> tuple[Any, ...]:
    """Return what `_rebuilt` takes, the part of `CompileResult._reduce` that is needed."""
    fndesc = compiled.fndesc
    fndesc.typemap = fndesc.calltypes = None  # these may not be picklable
    initialise = tuple(compiled.reload_init)
    environments = tuple(compiled._find_referenced_environments())
    library = compiled.library.state()
    return library, fndesc, compiled.environment, compiled.signature, initialise, environments


def _rebuilt(
    target: Any, state: Any, fndesc: Any, environment: Any, signature: Any, initialise: Any, environments: Any
) -> Any:
    """Return a kernel that was compiled before (`CompileResult._rebuild`)."""
    for function in initialise:
        function()
    library = Library.loaded(target.codegen(), state)
    made = compiler.compile_result(
        target_context=target, typing_context=target.typing_context, library=library,
        environment=environment, entry_point=target.get_executable(library, fndesc, environment),
        fndesc=fndesc, signature=signature, objectmode=False, reload_init=initialise,
        referenced_envs=environments,
    )  # fmt: skip
    for referenced in environments:
        library.codegen.set_env(referenced.env_name, referenced)
    return made


def _without_literals(kinds: Iterable[Any]) -> tuple[Any, ...]:
    """Return types with that of all integers, or of all truth values, for that of one of them.

    Each of them would be a copy of the function and of all that it calls. numba has such types for what a
    variable starts with, too, until it has seen the loop that changes it.
    """
    literals = types.IntegerLiteral, types.BooleanLiteral
    return tuple(types.unliteral(kind) if isinstance(kind, literals) else kind for kind in kinds)


@functools.cache
def _source_digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _spelled(kinds: Iterable[Any]) -> str:
    """Return types as text; named tuples with the modules of their classes, as two may have one name."""
    words = []
    for kind in kinds:
        parts = _spelled(getattr(kind, "types", ()))
        made_by = getattr(kind, "instance_class", None)
        words.append(f"{kind!r} {getattr(made_by, '__module__', '')} ({parts})" if parts else repr(kind))
    return ", ".join(words)
