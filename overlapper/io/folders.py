"""Folders that overlapper makes, and the one place where folders are removed.

Such a folder holds a file, `MARK`. Its first line says what the folder is, each other line names a file that
overlapper writes there (parts of the name may be ``*``). A folder without a mark that lies in one with a mark
belongs to it, and its files are named there with their path; so does an empty mark in it, whose process was
killed before it wrote there. What no mark names is somebody else's: it is never removed, nor is the folder
that it lies in. Links are not followed, and removed where a name with ``@`` behind it says that they
are ours.

A *temporary folder*, ``.overlapper-`` and eight hexadecimal digits, lies beside what will be written. The
process that made it holds a lock on its mark until it ends, however it ends: those of killed processes are
known by that, and go when the next one makes one there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import socket
import stat
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from overlapper.runtime import cleanup

MARK = ".overlapper"
WORK, ARTIFACT, TEMPORARY = "work folder", "artifact", "temporary folder"
"""What a folder can be."""
ANYTHING = "**"
"""The name, in a mark, of all files: for folders in which programs work that we start."""
LINK = "@"
"""What is behind the name of a link."""
_HEAD, _FORM = "overlapper", "form 1"
_TEMPORARY_NAME = re.compile(r"\.overlapper-[0-9a-f]{8}")
_PART_NAME = re.compile(r".+\.[0-9a-f]{8}\.part")
_MARK_BYTES = 1 << 22
"""Marks are not longer."""
_BEGINNING_SECONDS = 60
"""A temporary folder without its mark may be one that is just made, unless it is older."""


def make(folder: Path, kind: str, *names: str) -> None:
    """Make a folder and its mark.

    Raises
    ------
    OSError
        When it is there, or cannot be made.
    """
    folder.mkdir(parents=True)
    try:
        mark(folder, kind, *names)
    except BaseException:
        with contextlib.suppress(OSError):
            if not remove(folder):
                _remove_begun(folder)
        raise


def mark(folder: Path, kind: str, *names: str) -> None:
    """Write on disk that a folder is ours, and which files we write there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK  # nor wait for a pipe
    handle = os.open(folder / MARK, flags, 0o666)
    try:
        _write_whole(handle, _mark_of(kind, *names))
        os.fsync(handle)
    finally:
        os.close(handle)
    sync(folder)


def _write_whole(handle: int, text: bytes) -> None:
    """Write a mark; where not all of it finds room, leave none of it: a part would name nothing as ours."""
    try:
        while text:
            text = text[os.write(handle, text) :]
    except OSError:
        os.ftruncate(handle, 0)
        raise


def note(folder: Path, name: str) -> None:
    """Name one more file that we write in a folder of ours, before it is made.

    The line is in the hands of the system then, which a killed process does not change; where the power fails
    before it is on disk, the file is left alone.
    """
    with open(folder / MARK, "ab") as file:
        file.write(f"{name}\n".encode())


def kind_of(folder: Path) -> str | None:
    """Return what a folder is, by its mark; None if it has no mark of ours, or is a link."""
    lines = None if folder.is_symlink() else _lines(folder)
    return lines[0] if lines else None


def part_of(path: Path) -> Path:
    """Return an unused name beside a path, for a folder that gets the path when it is complete."""
    return path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")


def is_part(path: Path) -> bool:
    """Tell whether a name is one that `part_of` gives."""
    return _PART_NAME.fullmatch(path.name) is not None


def foreign(folder: Path) -> Path | None:
    """Return something in a folder of ours that we did not write, None if there is no such thing."""
    return next((path for path, ours in _content(folder) if not ours), None)


def remove(folder: Path) -> bool:
    """Remove a folder of ours; if there is anything else in it, leave it as it is.

    Returns
    -------
    bool
        Whether it is gone.
    """
    content = list(_content(folder)) if kind_of(folder) else [(folder, False)]
    if not all(ours for _, ours in content):
        return False
    for path, _ in content:
        if path.is_symlink() or not path.is_dir():
            path.unlink()
        else:
            path.rmdir()
    return True


def remove_in_use(path: str) -> None:
    """Remove a folder of ours to which other threads may be writing."""
    # Under another name nothing more is put into it. Those who make folders with their parents may do so
    # once more under the old one.
    for number in range(3):
        away = Path(f"{path}.{number}")
        os.rename(path, away)
        with contextlib.suppress(OSError):
            if not remove(away):
                _remove_begun(away)


def remove_parts(folder: Path) -> None:
    """Remove what killed processes left unfinished in a folder that no other process works in."""
    for path in list(folder.iterdir()):
        if is_part(path) and not path.is_symlink() and path.is_dir():
            with contextlib.suppress(OSError):
                if not remove(path):
                    _remove_begun(path)


def _remove_begun(folder: Path) -> None:
    """Remove a folder that was made, and not marked any more: nothing is in it, or an empty mark."""
    entries = list(folder.iterdir())
    if entries == [folder / MARK] and not entries[0].is_symlink() and not entries[0].stat().st_size:
        entries[0].unlink()
    folder.rmdir()


@contextlib.contextmanager
def temporary_folder(beside: str | os.PathLike[str], *names: str) -> Iterator[Path]:
    """Yield a temporary folder, which is removed when the context is left.

    Parameters
    ----------
    beside : path
        The folder to make it in.
    *names : str
        Files that will be written there, as marks name them.
    """
    _remove_left(Path(beside))
    folder = Path(beside) / f".overlapper-{secrets.token_hex(4)}"
    with cleanup.undisturbed():
        folder.mkdir(mode=0o700)
        cleanup.note(folder, remove_in_use)
    handle = None
    try:
        handle = os.open(folder / MARK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with contextlib.suppress(OSError):  # where there are no locks, what is left behind stays
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _write_whole(handle, _mark_of(_temporary_here(), *names))
        yield folder
    finally:
        with contextlib.suppress(OSError):
            if not remove(folder):
                _remove_begun(folder)
        cleanup.forget(folder)
        if handle is not None:
            os.close(handle)


def within_temporary(path: Path) -> bool:
    """Tell whether a path lies in a temporary folder, of this machine."""
    return any(
        _TEMPORARY_NAME.fullmatch(parent.name) and kind_of(parent) == _temporary_here()
        for parent in path.parents
    )


def sync(path: Path) -> None:
    """Have the system write a file, or the names in a folder, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _temporary_here() -> str:
    return f"{TEMPORARY} on {socket.gethostname()}"


def _mark_of(kind: str, *names: str) -> bytes:
    return "".join(f"{line}\n" for line in (f"{_HEAD} {kind}, {_FORM}", *names)).encode()


def _lines(folder: Path) -> list[str] | None:
    """Return what a folder is and the names in its mark; None if it has none of ours."""
    try:
        handle = os.open(folder / MARK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            return None
        # What does not end with a line feed was being written: the file that it would name is not there.
        head, *names = os.read(handle, _MARK_BYTES).decode(errors="replace").split("\n")[:-1] or [""]
    finally:
        os.close(handle)
    begin, end = f"{_HEAD} ", f", {_FORM}"
    if not (head.startswith(begin) and head.endswith(end)):
        return None
    return [head[len(begin) : -len(end)], *names]


def _content(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield all that is in a folder of ours, and at last the folder, with whether we wrote it.

    What lies in a folder comes before it, and its mark after all else in it: as long as anything of it is
    there, the mark tells whose it is.
    """
    lines = _lines(folder)
    yield from _content_below(folder, folder, lines[1:] if lines else [])


def _content_below(folder: Path, top: Path, names: list[str]) -> Iterator[tuple[Path, bool]]:
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or not path.is_dir():
            if path != top / MARK:
                yield path, _is_ours(path, top, names)
        elif (kind := kind_of(path)) is None:
            yield from _content_below(path, top, names)
        elif kind.startswith(TEMPORARY) and _held(path):
            yield path, False
        else:
            yield from _content(path)
    if folder == top and (folder / MARK).exists():
        yield folder / MARK, True
    yield folder, True


def _is_ours(path: Path, top: Path, names: list[str]) -> bool:
    """Tell whether the mark of a folder names a file, or a link."""
    below = path.relative_to(top)
    if path.is_symlink():
        return _named(below.with_name(below.name + LINK), [name for name in names if name.endswith(LINK)])
    if path.name == MARK and path.is_file() and not path.stat().st_size:
        return True
    return path.is_file() and (ANYTHING in names or _named(below, names))


def _named(path: PurePath, names: list[str]) -> bool:
    for name in names:
        parts = name.split("/")
        if len(parts) == len(path.parts) and all(map(fnmatchcase, path.parts, parts)):
            return True
    return False


def _held(folder: Path) -> bool:
    """Tell whether the process that made a temporary folder may still be running."""
    handle = os.open(folder / MARK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _remove_left(beside: Path) -> None:
    """Remove the temporary folders that killed processes of this user and machine left in a folder."""
    try:
        with os.scandir(beside) as entries:
            found = [beside / entry.name for entry in entries if _TEMPORARY_NAME.fullmatch(entry.name)]
    except OSError:
        return  # who makes one there is told
    for folder in found:
        with contextlib.suppress(OSError):
            about = folder.lstat()
            if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
                continue
            if kind_of(folder) == _temporary_here():
                if not _held(folder):
                    remove(folder)
            elif time.time() - about.st_mtime > _BEGINNING_SECONDS:
                _remove_begun(folder)
