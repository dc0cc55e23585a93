"""The statistics of a run, kept beside its output as ``OUTPUT.stats.json`` for ``overlapper report``."""

from __future__ import annotations

import os

from overlapper.runtime.streams import is_stream

_ENDING = ".stats.json"


def stats_beside(output: str) -> str | None:
    """Return the path of the statistics of an output; None for standard output, pipes and devices."""
    return None if is_stream(output) else output + _ENDING


def size_of(path: str) -> int:
    """Return the bytes of a file: 0 where nothing is there."""
    return os.path.getsize(path) if os.path.exists(path) else 0
