"""The kernels of a first run, compiled by several processes.

numba compiles one kernel at a time in a process. A command that finds nothing compiled therefore starts
helpers: they compile the kernels that it will come to, the longest first, the others from the last one on,
while it compiles from the first one on itself. What they made it finds in our cache. The longest kernel
takes as long as all others of its command: several helpers compile the functions that it calls, and the one
that compiles the kernel takes them from the cache.

There are as many helpers as threads: the command waits for them now and then, and they for each other.

``first_kernels.toml`` lists, for a command, the kernels of an ordinary run in the order in which it comes to
them, with the types of their arguments; ``python -m docs.tools.kernels`` writes it. A kernel that is not
listed is compiled by the command itself.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import queue
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from overlapper.errors import ParameterError
from overlapper.runtime import cleanup
from overlapper.runtime.compile.plain import is_plain
from overlapper.runtime.signals import end_on_signals
from overlapper.runtime.threads import available_threads, map_in_order

LISTED = Path(__file__).with_suffix(".toml")
_KERNELS, _FOLDER = "overlapper.kernels.", Path(__file__).parents[1] / "kernels"
MOST_HELPERS = 7
"""Each takes 200 MB, and the longest kernels take a tenth of the whole: more would not be done sooner."""


PARTS = (
    "consensus.consensus._consensus",
    "consensus.layer_paths.first_paths",
    "consensus.copy_filter.chosen_rows",
)
"""Functions that the longest kernel calls, three quarters of it together, the longest first."""
WHOLE = "consensus.consensus.correct_windows"
_LONGEST = *PARTS, WHOLE, "pairwise.pairwise."
"""Beginnings of the lines of what takes as long to compile as many other kernels together, and is compiled
first, in this order."""
_FOR_KERNELS = " for kernels"
"""End of the line of a function that kernels call, and Python does not."""


@contextlib.contextmanager
def helpers(command: str, processes: int) -> Iterator[None]:
    """Start processes that compile the kernels of a command; stop those still running at the end.

    Parameters
    ----------
    command : str
        As it is listed; others get no helpers.
    processes : int
        How many at most.
    """
    processes = min(processes, MOST_HELPERS) if command in _listed() else 0
    call = [sys.executable, "-P", "-m", __name__, command]
    nowhere: Any = subprocess.DEVNULL
    started: list[subprocess.Popen[bytes]] = []
    with contextlib.ExitStack() as noted:
        for share in range(processes):
            words = [*call, f"{share}", f"{processes}"]
            with cleanup.undisturbed():
                process = subprocess.Popen(
                    words, env=_environment(), stdin=nowhere, stdout=nowhere, stderr=nowhere
                )
                noted.enter_context(cleanup.child(process))
            started.append(process)
        try:
            yield
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait()


def kernels_of(commands: Sequence[str], everything: bool = False) -> list[str]:
    """Return the listed kernels of commands, each once, in the order in which they are best compiled.

    Raises
    ------
    ParameterError
        When nothing is listed for one, or none is named.
    """
    listed = _listed()
    names = sorted({name.partition("_")[0] for name in listed})
    if not everything and (not commands or not set(commands) <= set(names)):
        raise ParameterError(f"compile takes --all, or some of: {', '.join(names)}")
    of = [name for name in listed if everything or name.partition("_")[0] in commands]
    return _best_order(line for name in of for line in reversed(listed[name]))


def _best_order(lines: Iterable[str]) -> list[str]:
    """Return lines, each once, with the longest first: one that is left to the end is waited for."""

    def rank(line: str) -> int:
        return next((i for i, begins in enumerate(_LONGEST) if line.startswith(begins)), len(_LONGEST))

    return sorted(dict.fromkeys(lines), key=rank)


def compile_all(lines: Sequence[str], processes: int) -> Iterator[str]:
    """Compile kernels in processes, as many as asked for, but no more than there are processors.

    Yields
    ------
    str
        For each kernel the folder that it was written to; empty for one that was there before.
    """
    processes = min(processes, len(lines), available_threads())
    with contextlib.ExitStack() as ended:
        free: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for _ in range(processes):
            free.put(ended.enter_context(_compiler()))

        def compiled(line: str) -> str:
            process = free.get()
            print(line, file=process.stdin, flush=True)
            answer = process.stdout.readline()
            free.put(process)
            if not answer:
                raise RuntimeError(f"the process that compiled {line} has ended")
            return str(answer.rstrip("\n"))

        yield from map_in_order(compiled, lines, processes)


@contextlib.contextmanager
def _compiler() -> Iterator[subprocess.Popen[str]]:
    """Start a process that compiles the kernels whose lines it is sent (`compile_sent`)."""
    with contextlib.ExitStack() as noted:
        with cleanup.undisturbed():
            pipe: Any = subprocess.PIPE
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__], env=_environment(), stdin=pipe, stdout=pipe, text=True
            )
            noted.enter_context(cleanup.child(process))
        try:
            yield process
        finally:
            process.terminate()
            process.communicate()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def compile_sent() -> None:
    """Compile the kernels whose lines come on standard input; answer as `compile_all` yields."""
    from overlapper.runtime.compile.startup import load_numba

    load_numba()
    for line in sys.stdin:
        kernel, types = kernel_of(line.rstrip("\n"))
        kernel.compile(types)
        print(kernel._cache.cache_path if kernel.stats.cache_misses[types] else "", flush=True)


def compile_share(command: str, share: int, of: int) -> None:
    """Compile every ``of``-th kernel that all reads need, the longest first, unless it was compiled."""
    from overlapper.runtime.compile.startup import load_numba

    load_numba()
    parent = os.getppid()
    for line in _best_order(reversed(_always_needed(command)))[share::of]:
        if os.getppid() != parent:
            return
        kernel, types = kernel_of(line)
        kernel.compile(types)


def _always_needed(command: str) -> list[str]:
    """Return the lines of a command that it has in all runs that are listed, as of noisy and accurate reads.

    When the helpers start, the reads are not known yet, and what they do not need is compiled in vain.
    """
    listed = _listed()
    runs = [lines for name, lines in listed.items() if name.startswith(command)]
    return [line for line in listed[command] if all(line in lines for lines in runs)]


def kernel_of(line: str) -> tuple[Any, tuple[Any, ...]]:
    """Return a listed kernel and the types of its arguments."""
    called = line.removesuffix(_FOR_KERNELS)
    name, _, arguments = called.removesuffix(")").partition("(")
    kernel = eval(name, {}, _Words())
    if called != line and not is_plain():
        kernel = kernel.for_kernels()
    return kernel, tuple(map(_type_of, eval(f"({arguments},)", {}, _Words())))


def spelled(kernel: Any, signature: tuple[Any, ...], for_kernels: bool = False) -> str:
    """Return the line of a kernel; `kernel_of` reads it."""
    return f"{_name(kernel)}({', '.join(map(_spelled, signature))}){_FOR_KERNELS * for_kernels}"


class _Words(dict):
    """The names that a line of the list may use: numba's types, and families of kernels."""

    def __missing__(self, word: str) -> Any:
        from numba.core import types

        if word == "ReadOnly":
            return partial(types.Array.copy, readonly=True)
        if word == "bool":
            return types.boolean
        return _Family(word) if (_FOLDER / word).is_dir() else getattr(types, word)


class _Family:
    """A folder of kernels, its files as attributes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, file: str) -> Any:
        return importlib.import_module(f"{_KERNELS}{self._name}.{file}")


def _type_of(value: Any) -> Any:
    """Return the type of an argument; that of a named tuple is written as one of the types of its fields."""
    from numba.core import types

    if not isinstance(value, tuple):
        return value
    fields = list(map(_type_of, value))
    if len(set(fields)) == 1:
        return types.NamedUniTuple(fields[0], len(fields), type(value))
    return types.NamedTuple(fields, type(value))


def _spelled(kind: Any) -> str:
    from numba.core import types

    from overlapper.kernels.common.vectors import LanesType

    if isinstance(kind, types.Array):
        axes = [":"] * (kind.ndim - 1) + ["::1" if kind.layout == "C" else ":"]
        array = f"{kind.dtype}[{', '.join(axes)}]"
        return array if kind.mutable else f"ReadOnly({array})"
    if hasattr(kind, "instance_class"):  # a named tuple
        return f"{_name(kind.instance_class)}({', '.join(map(_spelled, kind.types))})"
    return f"{_name(LanesType)}({kind.count})" if isinstance(kind, LanesType) else str(kind)


def _name(thing: Any) -> str:
    """Return the name of a kernel or a class, with its family and file."""
    return f"{thing.__module__.removeprefix(_KERNELS)}.{thing.__name__}"


def _listed() -> dict[str, list[str]]:
    return tomllib.loads(LISTED.read_text())


if __name__ == "__main__":
    end_on_signals(quiet=True)
    if sys.argv[1:]:
        compile_share(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        compile_sent()
