"""Folders and files in which compiled kernels are kept, safe from damage and from other users.

Places, the first that is read first:

1. `SHIPPED`, within the package: what a wheel brings (`overlapper.wheel`). It is never
   written, and as safe as the package itself.
2. In the folder that NUMBA_CACHE_DIR names, if it is set: ``overlapper-0``, what root keeps there for all,
   and ``overlapper-N``, N the number of the user.
3. ``overlapper/kernels`` in the user's folder for caches (XDG_CACHE_HOME, or ``~/.cache``).

Loading a kernel runs its code, so a place counts only if nobody but the user and root can write to it: it
belongs to one of them, and neither its group nor others may write. The working directory is none, nor does it
say where one is. Kernels are read from all places, and written to the first one that can be written; where
there is none, each process compiles for itself.

A file begins with a digest of what follows and of all that the kernel was made from, which the reader knows:
a file that is cut off, damaged or out of date does not have it, and is replaced by the kernel compiled anew.
It is written under another name and renamed, so that processes which compile the same kernel at the same time
replace each other's by its like; as a rule one waits for the other (`CompileLock`).
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import stat
import time
from pathlib import Path
from typing import NamedTuple

from overlapper.runtime import cleanup

DIGEST_BYTES = 32
_MODE = 0o755
_WAIT_SECONDS, _LONGEST_WAIT = 0.02, 300
"""How long a process sleeps between two looks, and how long it waits at most: for the longest kernel, where
many processes share a core. A process that ends, however it does, is waited for no longer."""
SHIPPED = Path(__file__).parents[2] / "kernels" / "compiled"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def of_kernels() -> Places:
    """Return where kernels are read from and written to."""
    return usable(_folders())


def _folders() -> tuple[Path, ...]:
    """Return where kernels may lie, beside those that are shipped, the best place first."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    users = sorted({0, os.geteuid()}) if named else []
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return (
        *(Path(named or "", f"overlapper-{user}") for user in users),
        Path(caches, "overlapper", "kernels"),
    )


def is_safe(folder: Path) -> bool:
    """Tell whether a folder is there, and nobody but the user and root can write to it."""
    try:
        state = os.stat(folder)
    except OSError:
        return False
    ours = state.st_uid in (os.geteuid(), 0)
    return stat.S_ISDIR(state.st_mode) and ours and not state.st_mode & _OTHERS_WRITE


def read(folder: Path, name: str, made_from: bytes) -> bytes | None:
    """Return what `write` wrote; None where that is not there, as it was, of the same origin.

    Parameters
    ----------
    folder : Path
        One that is `usable`.
    name : str
    made_from : bytes
        What the content depends on.
    """
    try:
        handle = os.open(folder / name, os.O_RDONLY | os.O_NONBLOCK)  # a pipe is not waited for
        with open(handle, "rb") as file:
            content = file.read() if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    except OSError:
        return None
    kept = memoryview(content)[DIGEST_BYTES:]
    return bytes(kept) if content[:DIGEST_BYTES] == _digest(made_from, kept) else None


def write(folder: Path, name: str, made_from: bytes, content: bytes) -> bool:
    """Keep something for `read`, in place of what is there; tell whether that could be done."""
    temporary = folder / f".{name}.{os.getpid()}.part"
    try:
        with cleanup.undisturbed():
            file = open(temporary, "wb")  # noqa: SIM115 - noted before anything is written
            cleanup.note(temporary)
        with file:
            file.write(_digest(made_from, content) + content)
        os.replace(temporary, folder / name)
    except OSError:
        with contextlib.suppress(OSError):
            os.remove(temporary)
        return False
    finally:
        cleanup.forget(temporary)
    return True


class CompileLock:
    """A lock that says that this process is making a file, so that others wait for it.

    Parameters
    ----------
    folder : Path
        One that is `usable`.
    name : str
        Of the file.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f".{name}.lock"
        try:
            with cleanup.undisturbed():
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
                cleanup.note(self._path)
        except OSError:
            self._file = -1
            return
        waited_until = time.monotonic() + _LONGEST_WAIT
        while not self._is_ours() and time.monotonic() < waited_until:
            time.sleep(_WAIT_SECONDS)

    def _is_ours(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # there are no locks on this file system: both make the file
            return True
        return True

    def release(self) -> None:
        """Give the lock up, so that processes that wait for it go on."""
        with contextlib.suppress(OSError):
            os.remove(self._path)
        cleanup.forget(self._path)
        if self._file >= 0:
            os.close(self._file)


def _digest(made_from: bytes, content: bytes | memoryview) -> bytes:
    """Return a digest of both, and of where the one ends."""
    digest = hashlib.sha256(b"%d\n" % len(made_from))
    digest.update(made_from)
    digest.update(content)
    return digest.digest()


class Places(NamedTuple):
    """Where kernels are read from, the first place first, and where they are written to, if anywhere."""

    read: tuple[Path, ...]
    write: Path | None


@functools.cache
def usable(folders: tuple[Path, ...]) -> Places:
    """Return which of some folders are used: all that are safe, and the first that can be written.

    The latter is made if need be. What is shipped is read before all of them.
    """
    read = [SHIPPED] if SHIPPED.is_dir() else []
    write = None
    for folder in folders:
        if write is None:
            with contextlib.suppress(OSError):
                if not folder.exists():
                    _make(folder)
        if is_safe(folder):
            read.append(folder)
            if write is None and os.access(folder, os.W_OK | os.X_OK):
                write = folder
    return Places(tuple(read), write)


def _make(folder: Path) -> None:
    """Make a folder, with its parents, that nobody else can write to whatever the user's mask is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=_MODE, exist_ok=True)
