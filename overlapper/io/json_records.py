"""JSON that we write for ourselves: durable, with a digest of its own, and checked whenever it is read."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

from overlapper.errors import InputError
from overlapper.io.folders import sync

_DIGEST = "digest"


def write_record(path: Path, content: dict[str, Any]) -> None:
    """Write a record to a file that is not there, durably.

    Parameters
    ----------
    path : Path
    content : dict
        JSON can hold it; ``digest`` is none of its names.
    """
    text = json.dumps({**content, _DIGEST: _digest_of(content)}, indent=1) + "\n"
    path.write_text(text, encoding="ascii")
    sync(path)


def read_record(path: Path, remedy: str) -> dict[str, Any]:
    """Read a record from a plain file; links are not followed, and pipes not waited for.

    Parameters
    ----------
    path : Path
    remedy : str
        What to do about one that is not what was written.

    Raises
    ------
    InputError
        When it is not what was written.
    """
    try:
        content = json.loads(_bytes_of(path))
        if content.pop(_DIGEST, None) == _digest_of(content):
            return content
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        pass
    raise InputError("is not what was written there", file=str(path), remedy=remedy)


def _bytes_of(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("not a file")
        return file.read()


def _digest_of(content: dict[str, Any]) -> str:
    """Return a digest of what a record says, not of how it is laid out."""
    text = json.dumps(json.loads(json.dumps(content)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
