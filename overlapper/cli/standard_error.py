"""A standard error that may be full or closed."""

from __future__ import annotations

import io
import sys
from typing import Any


class _Forgiving(io.FileIO):
    """A file that drops what it cannot take."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except OSError:
            return len(data)


def forgive_standard_error() -> None:
    """Have standard error drop what it cannot take (a full disk, a pipe that nobody reads).

    A run is not worse for it, and there is nowhere else to say so; its exit code still tells how it ended.
    """
    try:
        is_plain = sys.stderr.fileno() == 2
    except (AttributeError, OSError, ValueError):
        is_plain = False
    if is_plain:
        raw = _Forgiving(2, "w", closefd=False)
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(raw), sys.stderr.encoding, "backslashreplace", line_buffering=True
        )
