"""Exact matches of reads in a text, as files: TSV, PAF and Parquet.

TSV has a line of column names, `TSV_COLUMNS`, and then a match a line: 0-based half-open intervals on the
forward strands of the read and of a sequence of the text. PAF has the same in its twelve columns, and
``NM:i:0``. Parquet has numbers of reads and of sequences, whose names and lengths are in two
files beside it, ``out.reads.parquet`` and ``out.text.parquet``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from overlapper.errors import OutputError
from overlapper.io.outputs import OutputFile, check_format
from overlapper.runtime.threads import map_in_order

if TYPE_CHECKING:
    from overlapper.kernels.text.match_formatting import MatchRows
    from overlapper.kernels.text.paf_formatting import Names

TSV_COLUMNS = ("query", "q_start", "q_end", "strand", "target", "t_start", "t_end")
ENDINGS = (".tsv", ".tsv.gz", ".paf", ".paf.gz", ".parquet")

_ROWS_A_BLOCK = 1 << 15
_GROUP_ROWS = 1 << 20


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
    if path.endswith(".parquet"):
        return _parquet_writer(path, reads, text)
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


@contextlib.contextmanager
def _parquet_writer(path: str, reads: Names, text: Names) -> Iterator[WriteMatches]:
    from overlapper.io.parquet import NAMED, import_pyarrow, names_path, write_names

    pyarrow, parquet = import_pyarrow()
    if path == "-":
        raise OutputError("Parquet cannot be written to standard output. Name a file, or write TSV.")
    types = {"query": "int32", "q_start": "int64", "target": "int32", "t_start": "int64",
             "length": "int32", "reverse": "bool_"}  # fmt: skip
    schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in types.items()])

    def write(rows: MatchRows) -> None:
        table = pyarrow.table(dict(rows._asdict()), schema=schema)
        with output.complaints():
            writer.write_table(table, row_group_size=_GROUP_ROWS)

    with contextlib.ExitStack() as files:
        output = files.enter_context(OutputFile(path))
        for of, names in zip(NAMED, (reads, text), strict=True):
            beside = files.enter_context(OutputFile(names_path(path, of)))
            whole, places = names.name_bytes.tobytes(), pairwise(names.name_offsets.tolist())
            write_names(beside, [whole[start:end].decode() for start, end in places], names.lengths)
        with output.complaints():
            writer = parquet.ParquetWriter(output.file, schema, compression="zstd")
        yield write
        with output.complaints():
            writer.close()
            output.file.flush()
