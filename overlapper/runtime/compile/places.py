"""Folders and files in which compiled kernels are kept, safe from damage and from other users.

Places, the best first:

1. In the folder that NUMBA_CACHE_DIR names, if it is set: ``overlapper-0``, what root keeps there for all,
   and ``overlapper-N``, N the number of the user.
2. ``__pycache__`` beside the sources.
3. ``overlapper`` in the user's folder for caches (XDG_CACHE_HOME, or ``~/.cache``).

Loading a kernel runs its code, so a place counts only if nobody but the user and root can write to it: it
belongs to one of them, and neither its group nor others may write. The working directory is none, nor does it
say where one is. Kernels are read from the places up to the first that can be written, and written there.

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

_DIGEST_BYTES = 32
_MODE = 0o755
_WAIT_SECONDS, _LONGEST_WAIT = 0.02, 300
"""How long a process sleeps between two looks, and how long it waits at most: for the longest kernel, where
many processes share a core. A process that ends, however it does, is waited for no longer."""
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def folders(beside: Path, name: str = "") -> tuple[Path, ...]:
    """Return where kernels may lie, the best place first; `usable` tells which of them are used.

    Parameters
    ----------
    beside : Path
        Folder of the sources.
    name : str
        Of the folder within places that are not the sources' own.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    users = sorted({0, os.geteuid()}) if named else []
    places = [Path(named or "", f"overlapper-{user}", name) for user in users]
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return (*places, beside / "__pycache__", Path(caches, "overlapper", name))


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
    kept = memoryview(content)[_DIGEST_BYTES:]
    return bytes(kept) if content[:_DIGEST_BYTES] == _digest(made_from, kept) else None


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
    """Return which of some folders are used: those that are safe, up to the first that can be written.

    That one is made if need be.
    """
    read: list[Path] = []
    for folder in folders:
        with contextlib.suppress(OSError):
            if not folder.exists():
                _make(folder)
        if is_safe(folder):
            read.append(folder)
            if os.access(folder, os.W_OK | os.X_OK):
                return Places(tuple(read), folder)
    return Places(tuple(read), None)


def _make(folder: Path) -> None:
    """Make a folder, with its parents, that nobody else can write to whatever the user's mask is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=_MODE, exist_ok=True)
