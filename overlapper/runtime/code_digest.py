"""A digest of source files, by which kept results of other versions of the code are told."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
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
        for path in sorted(folder.rglob("*.py")):
            digest.update(b"\0" + path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
