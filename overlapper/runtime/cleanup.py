"""Temporary files and child processes, which are removed and ended when this process is ended early.

Temporary files and folders, and processes that were started, are noted here while they are there. Whoever
ends the process (`overlapper.console`, on a signal) has all of them removed and ended by `leave_nothing`.
Contexts remove what is theirs when they are left, by an error, too; nothing here is needed for that.

Code that makes something and then notes it, or gives a file its name in several steps, does so in
`undisturbed`: the process is not ended meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator

TYPE_CHECKING = False  # `typing` takes longer to load than all of this
if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    class Child(Protocol):
        """One or several processes that were started, as `subprocess.Popen` has them."""

        def terminate(self) -> None:
            """Ask them to end."""

        def kill(self) -> None:
            """End them."""

        def wait(self, timeout: float | None = None) -> object:
            """Wait until they have ended; raise an exception when that takes longer."""

    SomeChild = TypeVar("SomeChild", bound=Child)


_GRACE_SECONDS = 5
"""How long processes that are asked to end may take."""
_gate, _lock = threading.Lock(), threading.Lock()
"""Who wants the lock takes the gate first: who ends the process keeps the gate, and is the next one."""
_owner = 0
_temporaries: dict[str, Callable[[str], None]] = {}
_children: list[Child] = []
_resumable = 0
owns_process = False
"""Whether the process is that of a command, in which others are at our mercy."""


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hold signals back within this context, which should take a moment only."""
    global _owner
    if _owner == threading.get_ident():
        yield
        return
    with _gate:
        _lock.acquire()
    _owner = threading.get_ident()
    try:
        yield
    finally:
        _owner = 0
        _lock.release()


def note(path: str | os.PathLike[str], remove: Callable[[str], None] = os.remove) -> None:
    """Note a temporary file or folder, to be removed if the process ends early.

    To be called before it is made, or `undisturbed` together with making it.

    Parameters
    ----------
    path : path
    remove : callable
        ``remove(path)`` removes it, while other threads may be writing to it; `OSError` is of no account.
    """
    with undisturbed():
        _temporaries[os.path.abspath(path)] = remove


def forget(path: str | os.PathLike[str]) -> None:
    """Forget a temporary file or folder that was removed, or has its name now."""
    with undisturbed():
        _temporaries.pop(os.path.abspath(path), None)


@contextlib.contextmanager
def temporary_files_in(folder: str) -> Iterator[None]:
    """Set the folder in which libraries make temporary files, if the process is that of a command."""
    import tempfile

    before = tempfile.tempdir
    if owns_process:
        tempfile.tempdir = folder
    try:
        yield
    finally:
        tempfile.tempdir = before


@contextlib.contextmanager
def child(process: SomeChild) -> Iterator[SomeChild]:
    """Note processes that were started, to be ended if this process ends early; else the caller ends them.

    To be called `undisturbed` together with starting them.
    """
    with undisturbed():
        _children.append(process)
    try:
        yield process
    finally:
        with undisturbed():
            _children.remove(process)


@contextlib.contextmanager
def resumable() -> Iterator[None]:
    """Note that what is done in this context is kept: the same command goes on with it."""
    global _resumable
    _resumable += 1
    try:
        yield
    finally:
        _resumable -= 1


def is_resumable() -> bool:
    """Tell whether the same command would go on with what was done so far."""
    return _resumable > 0


def hold() -> None:
    """Stop other threads from noting, forgetting or renaming anything; the caller then ends the process."""
    _gate.acquire()
    _lock.acquire()


def leave_nothing() -> None:
    """End all processes that were started, then remove all temporary files and folders."""
    for process in _children:
        with contextlib.suppress(Exception):
            process.terminate()
    for process in _children:
        try:
            process.wait(_GRACE_SECONDS)
        except Exception:
            process.kill()
            process.wait()
    for path, remove in _temporaries.items():
        with contextlib.suppress(OSError):
            remove(path)
