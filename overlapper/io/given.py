"""Reads as callers may give them: a table, or names of files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from overlapper.errors import ParameterError, shortened
from overlapper.io.fastx import read_fastx
from overlapper.tables import Reads

GivenReads = Reads | str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""Reads, or the path of a file of reads, or those of several."""


def reads_given(given: GivenReads, threads: int = 1) -> Reads:
    """Return the reads themselves.

    Raises
    ------
    ParameterError
        When they are none of this.
    InputError
        When a file cannot be read; as `read_fastx`.
    """
    if isinstance(given, Reads):
        return given
    paths = [given] if isinstance(given, str | os.PathLike) else given
    if not isinstance(paths, Sequence) or not all(isinstance(path, str | os.PathLike) for path in paths):
        raise ParameterError(f"reads are {shortened(given)}, expected Reads, or paths of files of reads")
    return read_fastx(*paths, threads=threads)
