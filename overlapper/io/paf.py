"""PAF out: the Pairwise mApping Format of minimap2, one overlap a line.

Columns: query name, length, start, end; strand; target name, length, start, end; matching bases; block
length; mapping quality, always 255 (missing), as overlaps have none. Then tags:

========  ==============================================================================================
``tp:A``  ``P``: every overlap stands for itself
``cm:i``  seeds of the chain
``s1:i``  score of the chain, where there is no alignment
``AS:i``  score of the alignment
``NM:i``  mismatching and gap bases of the alignment
``dv:f``  estimated differences a base, where there is no alignment; left out when there is no estimate
``de:f``  differences a base of the alignment
``cl:A``  class (ours): ``d`` dovetail, ``q`` query contained, ``t`` target contained, ``i`` internal match
``cg:Z``  CIGAR, along the forward strand of the target
========  ==============================================================================================
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

import numpy as np

from overlapper.io.outputs import OutputFile
from overlapper.tables import Overlaps, Reads
from overlapper.threads import cut_evenly, map_in_order

_BLOCK_BYTES = 1 << 20
_OPTIONAL = {"edits": np.int32, "cigar": np.uint32, "cigar_offsets": np.int64}


def write_paf(overlaps: Overlaps, reads: Reads, path: str | os.PathLike[str], *, threads: int = 1) -> None:
    """Write all overlaps to a file.

    Parameters
    ----------
    overlaps : Overlaps
    reads : Reads
        Names and lengths of the reads that the overlaps number.
    path : str or path
        ``.gz`` at its end compresses; ``-`` is standard output.
    threads : int
        The bytes written do not depend on it.

    Raises
    ------
    OutputError
        When the file cannot be written; none is left behind.
    """
    with PafWriter(path, reads, threads=threads) as writer:
        writer.write(overlaps)


class PafWriter:
    """Writes a PAF file block by block, as a context manager; see `write_paf` for the parameters.

    The file appears when the context is left, and does not when it is left by an error.

    Examples
    --------
    >>> with PafWriter("out.paf", reads) as writer:  # doctest: +SKIP
    ...     for overlaps in blocks:
    ...         writer.write(overlaps)
    """

    def __init__(self, path: str | os.PathLike[str], reads: Reads, *, threads: int = 1) -> None:
        self._output = OutputFile(os.fspath(path), threads=threads)
        self._reads = reads
        self._threads = threads

    def __enter__(self) -> Self:
        self._output.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._output.__exit__(kind, error, trace)

    def write(self, overlaps: Overlaps) -> None:
        """Write the rows of a table, in their order."""
        from overlapper.kernels.cpu import formatting

        reads = self._reads
        names = formatting.Names(reads.name_bytes, reads.name_offsets, reads.lengths)
        columns = {field: getattr(overlaps, field) for field in formatting.Rows._fields}
        absent = {field: np.empty(0, _OPTIONAL[field]) for field in columns if columns[field] is None}
        rows = formatting.Rows(**(columns | absent))
        name_lengths = np.diff(reads.name_offsets)
        sizes = name_lengths[overlaps.query] + name_lengths[overlaps.target] + formatting.ROW_BYTES
        if overlaps.cigar_offsets is not None:
            sizes += formatting.OPERATION_BYTES * np.diff(overlaps.cigar_offsets)
        bounds = cut_evenly(sizes, _BLOCK_BYTES)

        def text_of(block: int) -> memoryview:
            start, stop = bounds[block], bounds[block + 1]
            out = np.empty(sizes[start:stop].sum(), np.uint8)
            return out[: formatting.format_paf(rows, names, start, stop, out)].data

        for text in map_in_order(text_of, range(len(bounds) - 1), self._threads):
            self._output.write(text)
