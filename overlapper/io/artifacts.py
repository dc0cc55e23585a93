"""Artifacts: folders of results that are complete or not there, from which a killed run goes on.

An artifact is written as ``NAME.XXXXXXXX.part``; then its files are synced, their sizes and digests written
to ``done.json``, and the folder is renamed. A killed run leaves a ``.part`` folder at most, which the next
run removes. What is removed or replaced is ours by its mark (`overlapper.io.folders`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np

from overlapper.errors import InputError, OutputError
from overlapper.io import folders
from overlapper.io.folders import sync
from overlapper.runtime import cleanup
from overlapper.runtime.threads import BackgroundCalls, available_threads, for_each, map_in_order

RECORD = "done.json"
_DIGEST = "digest"
"""Name, in a record, of the digest of all else in it."""


class Artifact:
    """A folder of arrays and facts.

    Attributes
    ----------
    folder : Path
    facts : dict
        What goes to, or came from, ``done.json``.
    """

    def __init__(self, folder: Path, facts: dict[str, Any]) -> None:
        self.folder = folder
        self.facts = facts
        self.named: set[str] = set()
        """Files written, or removed again, by this process."""

    def save(self, name: str, values: np.ndarray) -> None:
        """Write an array; its type is for the reader to know."""
        self._write(name, values, "wb")

    def append(self, name: str, values: np.ndarray) -> None:
        """Append an array to what the file holds."""
        self._write(name, values, "ab")

    def reserve(self, name: str, size: int) -> Path:
        """Make a file of so many bytes, for which there is room on the disk, and return its path."""
        self._write(name, np.empty(0, np.uint8), "wb")
        path = self.folder / name
        with open(path, "r+b") as file:
            file.truncate(size)
            if size and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
        return path

    def _write(self, name: str, values: np.ndarray, mode: str) -> None:
        if name not in self.named:
            folders.note(self.folder, name)
            self.named.add(name)
        # Not by `ndarray.tofile`, whose error does not say what the system complained of.
        with open(self.folder / name, mode) as file:
            file.write(np.ascontiguousarray(values).reshape(-1).view(np.uint8))

    def load(self, name: str, dtype: Any, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Read values ``[start, stop)`` of an array; all by default.

        Parameters
        ----------
        dtype : numpy type
            With which it was written.
        start, stop : int, optional
        """
        dtype = np.dtype(dtype)
        count = -1 if stop is None else stop - start
        values = np.fromfile(self.folder / name, dtype, count, offset=start * dtype.itemsize)
        self._check_all_read(name, len(values), count)
        return values

    def mapped(self, name: str, dtype: Any, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Return values ``[start, stop)`` of an array, which stay on disk until they are used.

        Nothing is copied: while the system holds the file in memory, this takes a hundredth of the time of
        `load`. What is written to them stays with this process.

        Parameters
        ----------
        name, dtype, start, stop
            As `load` takes them.
        """
        path, size = self.folder / name, np.dtype(dtype).itemsize
        count = path.stat().st_size // size - start if stop is None else stop - start
        if not count:
            return np.empty(0, dtype)
        return np.memmap(path, dtype, "c", offset=start * size, shape=count).view(np.ndarray)

    def gathered(self, name: str, dtype: Any, firsts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Read stretches of an array, one after the other, from wherever they lie in it.

        Parameters
        ----------
        firsts, sizes : ndarray of int64, shape (n,)
            First value of each stretch, and how many it has.
        """
        values, place = np.empty(sizes.sum(), dtype), 0
        with open(self.folder / name, "rb", buffering=0) as file:
            for first, size in zip(firsts.tolist(), sizes.tolist(), strict=True):
                file.seek(first * values.itemsize)
                read = file.readinto(values[place : place + size].data)
                self._check_all_read(name, read, size * values.itemsize)
                place += size
        return values

    def _check_all_read(self, name: str, read: int, wanted: int) -> None:
        """Raise an `InputError` if there was less than wanted: the file was longer when it was checked."""
        if read < wanted:
            raise InputError(
                "was cut off while it was worked with",
                file=str(self.folder / name),
                remedy=f"Remove the folder {self.folder}, and run the same command again.",
            )

    def release(self, name: str) -> None:
        """Give back the memory in which the system holds a file that will hardly be read again."""
        if hasattr(os, "posix_fadvise"):
            with open(self.folder / name, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def remove(self, name: str) -> None:
        """Remove a file that later steps do not need."""
        os.remove(self.folder / name)


class MappedArtifact(Artifact):
    """A finished artifact of which workers use a part: its arrays stay on disk until they are used."""

    load = Artifact.mapped

    @classmethod
    def at(cls, path: Path) -> Self:
        """Open it."""
        return cls(path, finished_artifact(path).facts)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Artifact]:
    """Write an artifact; it is there, durably, when the context is left without an error.

    One that is there already is replaced.

    Raises
    ------
    OutputError
        When something cannot be written, or something that is not ours is in the place; the finished
        artifacts beside it are kept.
    """
    with _begun(path) as artifact:
        yield artifact
        _finish(artifact, path)


def kept_or_made(path: Path, write: Callable[[Artifact], object]) -> Artifact:
    """Return an artifact that is kept, or written now."""
    if kept := finished(path, verify=True):
        return kept
    with writing(path) as artifact:
        write(artifact)
    return finished_artifact(path)


class Finisher(BackgroundCalls):
    """Finishes artifacts in a thread of its own, one at a time, while the next one is written.

    Used as a context manager: all are there, durably, when it is left without an error, or after `wait`.
    """

    @contextlib.contextmanager
    def writing(self, path: Path) -> Iterator[Artifact]:
        """Write an artifact, which is finished after the context is left without an error."""
        with _begun(path) as artifact:
            yield artifact
            self.wait()

        def finish() -> None:
            with _left_whole(artifact):
                _finish(artifact, path)

        self.call(finish)


@contextlib.contextmanager
def _begun(path: Path) -> Iterator[Artifact]:
    """Make an empty artifact under a temporary name beside its path."""
    try:
        _check_place(path)
        part = folders.part_of(path)
        with cleanup.undisturbed():
            folders.make(part, folders.ARTIFACT, RECORD)
            cleanup.note(part, folders.remove_in_use)
    except OSError as error:
        raise _unwritable(path.parent, error) from None
    artifact = Artifact(part, {})
    with _left_whole(artifact):
        yield artifact


@contextlib.contextmanager
def _left_whole(artifact: Artifact) -> Iterator[None]:
    """Remove an artifact that cannot be written or finished, and raise an error that says why."""
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(OSError):
            folders.remove(artifact.folder)
        cleanup.forget(artifact.folder)
        if isinstance(error, OSError):
            raise _unwritable(artifact.folder.parent, error) from None
        raise


def _unwritable(folder: Path, error: OSError) -> OutputError:
    advice = (
        "Make room or check its rights; nothing of this run is kept. --workdir names a folder elsewhere, "
        "which keeps what is finished"
        if folders.within_temporary(folder / RECORD)
        else "Make room or check its rights, and run the same command again: what is finished is kept"
    )
    return OutputError(f"folder {folder} cannot be written: {error.strerror or error}. {advice}")


def _check_place(path: Path) -> None:
    """Raise an `OutputError` if an artifact would take the place of what we did not write."""
    if not os.path.lexists(path):
        return
    found: Path | None = path
    if folders.kind_of(path) == folders.ARTIFACT:
        found = folders.foreign(path)
    elif path.is_dir() and not path.is_symlink():
        found = next(path.iterdir(), None)
    if found is not None:
        raise OutputError(
            f"{found} is in the way, and overlapper did not write it: it stays as it is. Move it elsewhere, "
            "or work in another folder"
        )


def _finish(artifact: Artifact, path: Path) -> None:
    """Sync the files of an artifact, note their digests, and give it its name."""
    part = artifact.folder
    paths = sorted(part / name for name in artifact.named if (part / name).exists())
    for_each(sync, paths, available_threads())
    digests = map_in_order(digest_of, paths, available_threads())
    files = {
        path.name: {"bytes": path.stat().st_size, "digest": digest}
        for path, digest in zip(paths, digests, strict=True)
    }
    write_record(part / RECORD, {"facts": artifact.facts, "files": files})
    sync(part)
    former = None
    if path.is_dir() and any(path.iterdir()):
        former = folders.part_of(path)
        os.rename(path, former)
    with cleanup.undisturbed():
        os.rename(part, path)
        cleanup.forget(part)
    sync(path.parent)
    if former:
        folders.remove(former)


def finished(path: Path, *, verify: bool = False) -> Artifact | None:
    """Return an artifact if it is there and complete.

    Parameters
    ----------
    verify : bool
        Read all files and compare their digests, not just their sizes.

    Raises
    ------
    InputError
        When its record or a file of it is not what was written.
    """
    check_no_link(path)
    record = path / RECORD
    if not os.path.lexists(record):
        return None

    def damaged(file: Path) -> InputError:
        return InputError(
            "is not what was written there", file=str(file), remedy=f"Remove the folder {path}."
        )

    try:
        content = _read_record(record)
        facts, files = dict(content["facts"]), dict(content["files"])
    except (OSError, LookupError, ValueError, TypeError, RecursionError):
        raise damaged(record) from None
    for name, written in files.items():
        if os.path.basename(name) != name or not _is_written(path / name, written, verify):
            raise damaged(path / name)
    return Artifact(path, facts)


def finished_artifact(path: Path) -> Artifact:
    """Return an artifact that is known to be finished."""
    artifact = finished(path)
    assert artifact, path
    return artifact


def check_no_link(path: Path) -> None:
    """Raise an `InputError` if a path is a link."""
    if path.is_symlink():
        raise InputError("is a link, expected a folder", file=str(path), remedy="Remove the link.")


def _is_written(file: Path, written: Any, verify: bool) -> bool:
    """Tell whether a file has the size, and if asked for the digest, with which it was written."""
    if not isinstance(written, dict):
        return False
    try:
        about = file.lstat()
        same = stat.S_ISREG(about.st_mode) and about.st_size == written.get("bytes")
        return same and (not verify or digest_of(file) == written.get("digest"))
    except (OSError, ValueError):
        return False


def digest_of(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 digest of a file: most processors have instructions for it."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_record(path: Path, content: dict[str, Any]) -> None:
    """Write JSON to a file that is not there, durably, with a digest of what it says, not of its layout."""
    text = json.dumps({**content, _DIGEST: _digest_of(content)}, indent=1) + "\n"
    path.write_text(text, encoding="ascii")
    sync(path)


def _read_record(path: Path) -> dict[str, Any]:
    """Read what `write_record` wrote from a plain file; links are not followed, and pipes not waited for."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("not a file")
        content = dict(json.load(file))
    if content.pop(_DIGEST) != _digest_of(content):
        raise ValueError("not what was written")
    return content


def _digest_of(content: dict[str, Any]) -> str:
    text = json.dumps(json.loads(json.dumps(content)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
