"""Pipes, devices, open files and the like among paths."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable

_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_OPEN = re.compile(r"/(?:dev|proc/self)/fd/([0-9]{1,9})")


def descriptor(path: str) -> int | None:
    """Return the descriptor that a path names, as ``/dev/stdout`` or ``/dev/fd/3`` do; None for others.

    What it stands for may be a plain file, which a shell has opened and may go on with.
    """
    named = _OPEN.fullmatch(path)
    return int(named[1]) if named else _STANDARD.get(path)


def is_stream(path: str) -> bool:
    """Tell whether a path is a pipe, a device or the like, which can be gone through once.

    ``-`` is one, and so are names of descriptors.
    """
    if path == "-" or descriptor(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def tells_no_format(path: str, endings: Iterable[str]) -> bool:
    """Tell whether a path is a stream with none of these endings: it holds what ``-`` would hold."""
    return is_stream(path) and not path.endswith(tuple(endings))
