"""PAF for correctors (``--both-sides``, ``--group-by target``): each overlap from both sides, by target.

Rows are sorted by the name of the target, then by that of the query. They are held up to some bytes;
more go to disk as sorted runs, which are merged, a range of targets at a time.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from overlapper.errors import OutputError, ParameterError
from overlapper.io.folders import temporary_folder
from overlapper.io.writers import FORMATS, OverlapWriter, check_format, open_overlaps
from overlapper.runtime.streams import is_stream, tells_no_format
from overlapper.runtime.threads import even_ranges
from overlapper.tables import Overlaps, Reads
from overlapper.tables.ragged import offsets_of

HELD_BYTES = 1 << 27
"""Bytes of overlaps that are held before they go to disk."""
_RUNS = "run*.npy"
_COPIES = 3
"""Times that rows are in memory while they are put in order."""


@contextlib.contextmanager
def open_sided(
    path: str | os.PathLike[str],
    reads: Reads,
    *,
    both_sides: bool = False,
    by_target: bool = False,
    threads: int = 1,
    held_bytes: int = HELD_BYTES,
) -> Iterator[OverlapWriter]:
    """Open a file for overlaps; with neither side asked for, this is `open_overlaps`.

    Parameters
    ----------
    path : str or path
        PAF, if anything is asked for.
    reads : Reads
        Names and lengths of the reads that the overlaps number.
    both_sides : bool
        Write each overlap a second time, query and target exchanged.
    by_target : bool
        Write the rows of each target together, targets sorted by name.
    threads : int
        The bytes written do not depend on it.
    held_bytes : int
        Bytes of overlaps to hold before they go to disk, beside the file. The bytes written do not depend on
        it.
    """
    if both_sides or by_target:
        check_paf(path)
    with contextlib.ExitStack() as stack:
        writer: OverlapWriter = stack.enter_context(open_overlaps(path, reads, threads=threads))
        grouped = None
        if by_target:
            writer = grouped = _ByTarget(writer, os.fspath(path), reads, held_bytes, stack)
        yield _BothSides(writer) if both_sides else writer
        if grouped:
            grouped.finish()


def check_paf(path: str | os.PathLike[str]) -> None:
    """Raise a `ParameterError` if the name of a file is not one of PAF."""
    check_format(path)
    path = os.fspath(path)
    if not path.endswith((".paf", ".paf.gz")) and not tells_no_format(path, FORMATS):
        raise ParameterError(f"both sides of overlaps, and groups by target, are for PAF, not for {path}")


class _BothSides:
    """Writes the overlaps of each pair and then their mirrors, query and target exchanged.

    So all overlaps of a query with a target stay together, among which the best one is marked.
    """

    def __init__(self, writer: OverlapWriter) -> None:
        self._writer = writer

    def write(self, overlaps: Overlaps) -> None:
        turned = Overlaps.concat([overlaps, overlaps.mirrored()])
        others = (np.diff(overlaps.query) != 0) | (np.diff(overlaps.target) != 0)
        pair = offsets_of(others)[: len(overlaps)]
        self._writer.write(turned.take(np.argsort(np.tile(pair, 2), kind="stable")))


class _ByTarget:
    """Sorts rows by target before they are written."""

    def __init__(
        self, writer: OverlapWriter, path: str, reads: Reads, held_bytes: int, stack: contextlib.ExitStack
    ) -> None:
        names = [name.encode() for name in reads.names]
        self._rank = np.empty(len(names), np.int64)
        self._rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        self._bytes_of_target = np.zeros(len(names), np.int64)
        self._writer, self._path, self._held_bytes, self._stack = writer, path, held_bytes, stack
        self._held: list[Overlaps] = []
        self._runs: list[Overlaps] = []
        self._folder: Path | None = None

    def write(self, overlaps: Overlaps) -> None:
        if len(overlaps):
            self._held.append(overlaps)
            each = overlaps.nbytes / len(overlaps)
            self._bytes_of_target += np.ceil(
                each * np.bincount(self._rank[overlaps.target], minlength=len(self._rank))
            ).astype(np.int64)
        if sum(part.nbytes for part in self._held) * _COPIES > self._held_bytes:
            self._keep()

    def finish(self) -> None:
        """Write all rows."""
        runs = [*self._runs, self._sorted(self._held)]
        ranks = [self._rank[run.target] for run in runs]
        for targets in even_ranges(self._bytes_of_target, max(1, self._held_bytes // _COPIES)):
            parts = []
            for run, rank in zip(runs, ranks, strict=True):
                start, stop = np.searchsorted(rank, targets)
                parts.append(run.rows(int(start), int(stop)))
            self._writer.write(self._sorted([part for part in parts if len(part)]))

    def _sorted(self, parts: list[Overlaps]) -> Overlaps:
        rows = Overlaps.concat(parts)
        return rows.take(np.lexsort((self._rank[rows.query], self._rank[rows.target])))

    def _keep(self) -> None:
        """Write what is held to disk, sorted."""
        run, self._held = self._sorted(self._held), []
        columns = {}
        try:
            if self._folder is None:
                beside = (
                    tempfile.gettempdir()
                    if is_stream(self._path)
                    else os.path.dirname(os.path.realpath(self._path))
                )
                self._folder = self._stack.enter_context(temporary_folder(beside, _RUNS))
            for field in run.fields_of("column", "offsets", "ragged"):
                if (values := getattr(run, field.name)) is not None:
                    file = self._folder / f"run{len(self._runs)}.{field.name}.npy"
                    np.save(file, values)
                    columns[field.name] = np.load(file, mmap_mode="r")
        except OSError as error:
            raise OutputError(
                f"overlaps sorted by target cannot be kept next to {self._path}: {error.strerror}. Check the "
                "free space"
            ) from None
        self._runs.append(Overlaps(**columns))
