"""A digest of source files, by which kept results of other versions of the code are told."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path


def digest_of_code(folders: Iterable[Path], notes: Iterable[str] = ()) -> str:
    """Return a digest, of 16 letters, of all Python files below some folders.

    Parameters
    ----------
    folders : iterable of Path
    notes : iterable of str
        What else the result of the code depends on, such as the versions of compilers.
    """
    digest = hashlib.blake2b("\n".join(notes).encode(), digest_size=8)
    for folder in folders:
        above = len(os.fspath(folder)) + 1
        for path in sorted(_python_files(folder)):
            with open(path, "rb") as file:
                digest.update(b"\0" + os.fsencode(path[above:]) + b"\0" + file.read())
    return digest.hexdigest()


def _python_files(folder: Path) -> Iterator[str]:
    """Yield the paths; sooner than ``Path.rglob`` does, as runs on GPUs begin with it."""
    for inside, _, names in os.walk(folder):
        yield from (os.path.join(inside, name) for name in names if name.endswith(".py"))
