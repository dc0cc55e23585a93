"""Reads as callers may give them: a table, names of files, or sequences."""

from __future__ import annotations

import os
from collections.abc import Sequence

from overlapper.errors import ParameterError, shortened
from overlapper.io.fastx import read_fastx
from overlapper.tables import Reads

GivenReads = Reads | str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""Reads, or the path of a file of reads, or those of several, or a list of sequences."""
_EXPECTED = "the path of a file, a list of paths, a list of sequences, or Reads"


def reads_given(
    given: GivenReads, threads: int = 1, *, keep_qualities: bool = False, name: str = "reads"
) -> Reads:
    """Return the reads themselves; those of sequences are named by their number, from 1.

    Parameters
    ----------
    keep_qualities : bool
        Keep those of files.
    name : str
        What to call them in an error message.

    Raises
    ------
    ParameterError
        When they are none of this, as a single sequence is.
    InputError
        When a file cannot be read; as `read_fastx`.
    """
    if isinstance(given, Reads):
        return given
    paths = [given] if isinstance(given, str | os.PathLike) else given
    if not isinstance(paths, Sequence) or not all(isinstance(path, str | os.PathLike) for path in paths):
        raise ParameterError(f"{name}: {shortened(given)} is given, expected {_EXPECTED}")
    if not isinstance(given, str) and paths and all(map(_is_sequence, paths)):
        return Reads.from_sequences([str(number + 1) for number in range(len(paths))], map(str, paths))
    for path in paths:
        if _is_sequence(path):
            raise ParameterError(f"{name}: the sequence {shortened(path)} is given, expected {_EXPECTED}")
    return read_fastx(*paths, threads=threads, keep_qualities=keep_qualities)


def _is_sequence(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is none, but bases."""
    return (
        isinstance(path, str)
        and bool(path)
        and not (set(path.upper()) - set("ACGTUN") or os.path.exists(path))
    )
