"""Exact matches of reads in a text, as files: TSV and PAF.

TSV has a line of column names, `TSV_COLUMNS`, and then a match a line: 0-based half-open intervals on the
forward strands of the read and of a sequence of the text. PAF has the same in its twelve columns, and
``NM:i:0``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import numpy as np

from overlapper.io.outputs import OutputFile, check_format
from overlapper.runtime.threads import map_in_order

if TYPE_CHECKING:
    from overlapper.kernels.text.match_formatting import MatchRows
    from overlapper.kernels.text.paf_formatting import Names

TSV_COLUMNS = ("query", "q_start", "q_end", "strand", "target", "t_start", "t_end")
ENDINGS = (".tsv", ".tsv.gz", ".paf", ".paf.gz")

_ROWS_A_BLOCK = 1 << 15


WriteMatches = Callable[["MatchRows"], None]
"""Writes matches to an open file."""


def open_matches(
    path: str, reads: Names, text: Names, *, threads: int = 1
) -> AbstractContextManager[WriteMatches]:
    """Open a file for matches, in the format that its name ends in; ``-`` is TSV on standard output.

    The file appears when the context is left, and does not when it is left by an error.

    Parameters
    ----------
    reads, text : Names
        Names and lengths of what queries and targets number.
    threads : int
        The bytes written do not depend on it.
    """
    from overlapper.kernels.text.match_formatting import format_paf, format_tsv

    check_format(path, ENDINGS)
    if path.removesuffix(".gz").endswith(".paf"):
        return _text_writer(path, format_paf, b"", reads, text, threads)
    return _text_writer(path, format_tsv, "\t".join(TSV_COLUMNS).encode() + b"\n", reads, text, threads)


@contextlib.contextmanager
def _text_writer(
    path: str, formatter: Callable[..., int], head: bytes, reads: Names, text: Names, threads: int
) -> Iterator[WriteMatches]:
    """Open text, of which several threads format blocks of rows."""
    from overlapper.kernels.text.match_formatting import ROW_BYTES

    row_bytes = ROW_BYTES + sum(int(np.diff(n.name_offsets).max(initial=0)) for n in (reads, text))

    def write(rows: MatchRows) -> None:
        def text_of(start: int) -> memoryview:
            stop = min(start + _ROWS_A_BLOCK, len(rows.query))
            out = np.empty((stop - start) * row_bytes, np.uint8)
            return out[: formatter(rows, reads, text, start, stop, out)].data

        for block in map_in_order(text_of, range(0, len(rows.query), _ROWS_A_BLOCK), threads):
            output.write(block)

    with OutputFile(path, threads=threads) as output:
        output.write(head)
        yield write
