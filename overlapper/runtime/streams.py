"""Pipes, devices and the like among paths."""

from __future__ import annotations

import os
import stat


def is_stream(path: str) -> bool:
    """Tell whether a path is a pipe, a device or the like (``-`` is one), which can be gone through once."""
    if path == "-":
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
