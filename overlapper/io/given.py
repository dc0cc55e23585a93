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
        When they are none of this, as a sequence is.
    InputError
        When a file cannot be read; as `read_fastx`.
    """
    if isinstance(given, Reads):
        return given
    paths = [given] if isinstance(given, str | os.PathLike) else given
    if not isinstance(paths, Sequence) or not all(isinstance(path, str | os.PathLike) for path in paths):
        raise ParameterError(f"reads are {shortened(given)}, expected Reads, or paths of files of reads")
    for path in paths:
        is_sequence = isinstance(path, str) and path and not set(path.upper()) - set("ACGTUN")
        if is_sequence and not os.path.exists(path):
            raise ParameterError(
                f"reads are the sequence {shortened(path)}, expected Reads, or paths of files of reads: "
                "Reads.from_sequences(['name'], [sequence]) makes Reads of sequences"
            )
    return read_fastx(*paths, threads=threads)
