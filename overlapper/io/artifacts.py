"""Folders that are complete or not there: what a run leaves behind for the one that goes on after it.

An artifact is written as ``NAME.part``; then its files are synced, their sizes and digests written to
``done.json``, and the folder is renamed. A killed run leaves a ``.part`` folder at most, which the next
attempt replaces.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from overlapper import leaving
from overlapper.errors import InputError, OutputError
from overlapper.threads import available_threads, map_in_order, start

RECORD = "done.json"
_PIECE = 1 << 20


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

    def save(self, name: str, values: np.ndarray) -> None:
        """Write an array; its type is for the reader to know."""
        self._write(name, values, "wb")

    def append(self, name: str, values: np.ndarray) -> None:
        """Write an array behind what the file holds."""
        self._write(name, values, "ab")

    def _write(self, name: str, values: np.ndarray, mode: str) -> None:
        # Not by `ndarray.tofile`, whose error does not say what the system complained of.
        with open(self.folder / name, mode) as file:
            file.write(np.ascontiguousarray(values).reshape(-1).view(np.uint8))

    def load(self, name: str, dtype: Any, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Read values ``[start, stop)`` of an array; all by default.

        Parameters
        ----------
        name : str
        dtype : numpy type
            With which it was written.
        start, stop : int, optional
        """
        dtype = np.dtype(dtype)
        count = -1 if stop is None else stop - start
        return np.fromfile(self.folder / name, dtype, count, offset=start * dtype.itemsize)

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
        name : str
        dtype : numpy type
        firsts, sizes : ndarray of int64, shape (n,)
            First value of each stretch, and how many it has.
        """
        values, place = np.empty(sizes.sum(), dtype), 0
        with open(self.folder / name, "rb", buffering=0) as file:
            for first, size in zip(firsts.tolist(), sizes.tolist(), strict=True):
                file.seek(first * values.itemsize)
                file.readinto(values[place : place + size].data)
                place += size
        return values

    def release(self, name: str) -> None:
        """Give back the memory in which the system holds a file that will hardly be read again."""
        if hasattr(os, "posix_fadvise"):
            with open(self.folder / name, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def remove(self, name: str) -> None:
        """Remove a file that later steps do not need."""
        os.remove(self.folder / name)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Artifact]:
    """Write an artifact; it is there, durably, when the context is left without an error.

    Raises
    ------
    OutputError
        When something cannot be written; the finished artifacts beside it are kept.
    """
    with _complaints(path):
        artifact = _begin(path)
        yield artifact
        _finish(artifact, path)


class Finisher:
    """Finishes artifacts in a thread of its own, one at a time, while the next one is written.

    Used as a context manager: all are there, durably, when it is left without an error.
    """

    def __init__(self) -> None:
        self._last: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._wait()

    def _wait(self) -> None:
        """Wait for the artifact that is being finished; raise the error that this met with."""
        if self._last is not None:
            last, self._last = self._last, None
            last.result()

    @contextlib.contextmanager
    def writing(self, path: Path) -> Iterator[Artifact]:
        """Write an artifact, which is finished after the context is left without an error.

        Raises
        ------
        OutputError
            When something of it, or of the one before, cannot be written.
        """
        with _complaints(path):
            artifact = _begin(path)
            yield artifact
        self._wait()

        def finish() -> None:
            with _complaints(path):
                _finish(artifact, path)

        self._last = start(finish)


@contextlib.contextmanager
def _complaints(path: Path) -> Iterator[None]:
    """Leave nothing of an artifact that cannot be written, and say why it cannot."""
    try:
        yield
    except OSError as error:
        with contextlib.suppress(OSError):
            shutil.rmtree(_unfinished(path))
        leaving.forget(_unfinished(path))
        raise OutputError(
            f"folder {path.parent} cannot be written: {error.strerror or error}. Make room or check its "
            "rights, and run the same command again: what is finished is kept"
        ) from None


def _unfinished(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def _begin(path: Path) -> Artifact:
    """Return an empty artifact, in the place of what a killed run left there."""
    part = _unfinished(path)
    shutil.rmtree(part, ignore_errors=True)
    with leaving.undisturbed():
        part.mkdir(parents=True)
        leaving.note(part)
    return Artifact(part, {})


def _finish(artifact: Artifact, path: Path) -> None:
    """Sync the files of an artifact, note their digests, and give it its name."""
    part = artifact.folder
    paths = sorted(part.iterdir())
    states = map_in_order(_synced, paths, available_threads())
    files = {path.name: state for path, state in zip(paths, states, strict=True)}
    record = part / RECORD
    record.write_text(json.dumps({"facts": artifact.facts, "files": files}, indent=1) + "\n")
    _sync(record)
    _sync(part)
    if path.exists():
        shutil.rmtree(path)
    with leaving.undisturbed():
        os.rename(part, path)
        leaving.forget(part)
    _sync(path.parent)


def finished(path: Path, *, verify: bool = False) -> Artifact | None:
    """Return an artifact if it is there.

    Parameters
    ----------
    path : Path
    verify : bool
        Read all files and compare their digests, not just their sizes.

    Raises
    ------
    InputError
        When a file of it is not what was written.
    """
    record = path / RECORD
    if not record.exists():
        return None
    content = json.loads(record.read_text())
    for name, written in content["files"].items():
        file = path / name
        same = file.exists() and file.stat().st_size == written["bytes"]
        if not same or (verify and digest_of(file) != written["digest"]):
            raise InputError(
                "is not what was written there", file=str(file), remedy=f"Remove the folder {path}."
            )
    return Artifact(path, content["facts"])


def digest_of(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 digest of a file: most processors have instructions for it."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _synced(path: Path) -> dict[str, Any]:
    _sync(path)
    return {"bytes": path.stat().st_size, "digest": digest_of(path)}


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
