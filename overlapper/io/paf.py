"""PAF out and in: the Pairwise mApping Format of minimap2, one overlap a line.

Columns: query name, length, start, end; strand; target name, length, start, end; matching bases; block
length; mapping quality, always 255 (missing), as overlaps have none. Then tags:

========  ==============================================================================================
``tp:A``  ``P``; ``S`` where a line next to it has a better overlap of the same two reads
``cm:i``  seeds of the chain
``s1:i``  score of the chain, where there is no alignment
``AS:i``  score of the alignment
``NM:i``  mismatching and gap bases of the alignment
``dv:f``  estimated differences a base, where there is no alignment; left out when there is no estimate
``de:f``  differences a base of the alignment
``cl:A``  class (ours): ``d`` dovetail, ``q`` query contained, ``t`` target contained, ``i`` internal match
``cd:i``  differences of copies (ours), where they were told; -1 where the reads are too unlike
``cg:Z``  CIGAR, along the forward strand of the target
========  ==============================================================================================

Of two overlaps the one of the higher score is better, then that of the forward strand, then the one that
begins earlier on the read of the smaller number, on the other read, ends earlier on the first, on the other.
What a file that was read marks ``tp:A:S`` stays so where it is written again.

What is read is any PAF with the twelve columns, and of its tags those above but ``cd``, ``AS`` before ``s1``
and ``de`` before ``dv``. The reads of a row change places where need be, so that the query has the smaller
number, and with them ``cl`` and the CIGAR. Lines where a read matches itself are left out.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from overlapper.errors import FormatError, shortened
from overlapper.io.lines import LONGEST, name_problem, text_lines, whole
from overlapper.io.outputs import OutputFile
from overlapper.io.sources import check_rereadable, line_blocks
from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.tables import Overlaps, Reads

if TYPE_CHECKING:
    from overlapper.kernels.text import paf_formatting, paf_parsing

_BLOCK_BYTES = 1 << 20
_DTYPES = {f.name: f.metadata["dtype"] for f in Overlaps.fields_of("column", "ragged", "offsets")}
_COLUMN_NAMES = (
    *("query name", "query length", "query start", "query end", "strand"),
    *("target name", "target length", "target start", "target end"),
    *("matches", "block length", "mapping quality"),
)
_NOT_PAF = "Check that the file is PAF."
_OTHER_READS = "Give the reads that the overlaps were found on."
_BAD_TAG = "Repair the tag or remove it."


@contextlib.contextmanager
def paf_writer(path: str | os.PathLike[str], reads: Reads, *, threads: int = 1) -> Iterator[PafWriter]:
    """Open a file for overlaps, written block by block with ``write(overlaps)``.

    The file appears when the context is left, and does not when it is left by an error.

    Parameters
    ----------
    path : str or path
        ``.gz`` at its end compresses; ``-`` is standard output.
    reads : Reads
        Names and lengths of the reads that the overlaps number.
    threads : int
        The bytes written do not depend on it.
    """
    with OutputFile(os.fspath(path), threads=threads) as output:
        yield PafWriter(output, reads, threads)


class PafWriter(NamedTuple):
    """An open PAF file; see `paf_writer` for the parameters."""

    output: OutputFile
    reads: Reads
    threads: int

    def write(self, overlaps: Overlaps) -> None:
        """Write the rows of a table, in their order."""
        for text in format_paf(overlaps, self.reads, threads=self.threads):
            self.output.write(text)


def format_paf(overlaps: Overlaps, reads: Reads, *, threads: int = 1) -> Iterator[memoryview]:
    """Yield the lines of overlaps, many at a time; see `paf_writer` for the parameters."""
    from overlapper.kernels.text import paf_formatting

    names = paf_formatting.Names(reads.name_bytes, reads.name_offsets, reads.lengths)
    rows = _rows_of(overlaps)
    name_lengths = np.diff(reads.name_offsets)
    sizes = name_lengths[overlaps.query] + name_lengths[overlaps.target] + paf_formatting.ROW_BYTES
    if overlaps.cigar_offsets is not None:
        sizes += paf_formatting.OPERATION_BYTES * np.diff(overlaps.cigar_offsets)

    def text_of(block: tuple[int, int]) -> memoryview:
        start, stop = block
        out = np.empty(sizes[start:stop].sum(), np.uint8)
        return out[: paf_formatting.format_paf(rows, names, start, stop, out)].data

    return map_in_order(text_of, even_ranges(sizes, _BLOCK_BYTES), threads)


def _rows_of(overlaps: Overlaps) -> paf_formatting.Rows:
    from overlapper.kernels.text import paf_formatting

    columns = {field: getattr(overlaps, field) for field in paf_formatting.Rows._fields}
    absent = {field: np.empty(0, _DTYPES[field]) for field in columns if columns[field] is None}
    return paf_formatting.Rows(**(columns | absent))


def read_paf(path: str | os.PathLike[str], reads: Reads | Sequence[str], *, threads: int = 1) -> Overlaps:
    """Read overlaps from a PAF file of ours, minimap2's or others'.

    Parameters
    ----------
    path : str or path
        Plain or gzip, told apart by content; ``-`` is standard input.
    reads : Reads or sequence of str
        The reads that the file is about, or their names; their order numbers them. With reads, the lengths
        in the file must be theirs.

    Returns
    -------
    Overlaps
        In the order of the file. ``score`` and ``seeds`` are 0, ``divergence`` is NaN and ``kind`` INTERNAL
        where a line has no such tag. ``edits`` are there if all lines have ``NM``, ``cigar`` if any has
        ``cg``, ``secondary`` if the marks ``tp`` are not those that are written of the other columns.
    """
    file_name = os.fspath(path)
    return parse_paf(line_blocks(file_name), reads, file_name, threads=threads)


def parse_paf(
    blocks: Iterable[bytes], reads: Reads | Sequence[str], path: str, *, threads: int = 1
) -> Overlaps:
    """Read overlaps from blocks of complete lines.

    Parameters
    ----------
    path : str
        The file to name in errors; those are `read_paf`'s.
    """
    return _PafParser(path, reads).parse_all(blocks, threads)


def reads_of_paf(path: str | os.PathLike[str]) -> Reads:
    """Return names and lengths of the reads that a PAF file names, without bases.

    Reads are in the order in which they appear as queries, then those that are targets alone in the order in
    which they appear. So the rows of a file of ours keep their queries when they are read with these reads.

    Raises
    ------
    FormatError
        When a line has too few columns, a name that is none, or a length that is no number.
    InputError
        When the file cannot be read to its end, or is standard input, which cannot be read twice.
    """
    file_name = os.fspath(path)
    check_rereadable(file_name, "is read twice, once for the names of the reads")
    queries: dict[str, int] = {}
    targets: dict[str, int] = {}
    with contextlib.closing(text_lines(file_name)) as lines:
        for number, line in enumerate(lines, 1):
            fields = line.split("\t", 7)
            if len(fields) < 8:
                if line:
                    raise _fault(f"has {len(fields)} columns, expected at least 12", file_name, number)
                continue
            for known, name, column in ((queries, fields[0], 1), (targets, fields[5], 6)):
                if name in known:
                    continue
                length = whole(fields[column])
                if problem := name_problem(name):
                    raise _fault(problem, file_name, number)
                if length is None:
                    raise _fault(_no_number(_where(column), fields[column]), file_name, number)
                known[name] = length
    lengths = queries | {name: length for name, length in targets.items() if name not in queries}
    return Reads.without_bases(list(lengths), list(lengths.values()))


def _fault(problem: str, path: str, line: int) -> FormatError:
    return FormatError(problem, file=path, record=f"on line {line}", remedy=_NOT_PAF)


def _where(column: int) -> str:
    name = _COLUMN_NAMES[column] if column < len(_COLUMN_NAMES) else "tag"
    return f"column {column + 1} ({name})"


def _no_number(where: str, value: str) -> str:
    return f"{where} is {shortened(value)}, expected a number from 0 to {LONGEST}"


class _Part(NamedTuple):
    """What a block of lines holds."""

    lines: bytes
    rows: paf_parsing.Rows
    state: np.ndarray
    stopped_at: int


def _join(parts: list[paf_parsing.Rows], edited: bool, marked: bool) -> Overlaps:
    """Return the rows of all parts; whether all have ``edits``, and any a mark of ``secondary``, is told."""
    from overlapper.kernels.text.paf_parsing import INTEGERS

    columns: dict[str, Any] = {
        field: np.concatenate([np.empty(0, np.int32), *(rows.integers[i] for rows in parts)])
        for i, field in enumerate(INTEGERS)
        if edited or field != "edits"
    }
    columns["divergence"] = np.concatenate([np.empty(0, np.float32), *(rows.divergence for rows in parts)])
    cigar = np.concatenate([np.empty(0, np.uint32), *(rows.cigar for rows in parts)])
    if len(cigar):
        before = np.cumsum([0, *(len(rows.cigar) for rows in parts)])
        ends = [rows.cigar_offsets[1:] + b for rows, b in zip(parts, before, strict=False)]
        columns |= {"cigar": cigar, "cigar_offsets": np.concatenate([np.zeros(1, np.int64), *ends])}
    overlaps = Overlaps(**columns)
    return overlaps if marked and _needs_marks(overlaps) else dataclasses.replace(overlaps, secondary=None)


def _needs_marks(overlaps: Overlaps) -> bool:
    """Return whether marks would be others if they were worked out, or might be where rows are sorted."""
    from overlapper.kernels.text.paf_formatting import mark_secondary

    steps = np.diff(overlaps.query.astype(np.int64) << 32 | overlaps.target)
    marks = np.asarray(overlaps.secondary)
    if not (marks.any() or (steps == 0).any()):
        return False
    worked_out = np.empty(len(overlaps), np.bool_)
    mark_secondary(_rows_of(overlaps), worked_out)
    together = bool((steps >= 0).all())
    return not (together and np.array_equal(worked_out, marks))


class _PafParser:
    """Parses blocks of complete lines into columns of `Overlaps`."""

    def __init__(self, path: str, reads: Reads | Sequence[str]) -> None:
        from overlapper.kernels.text import paf_formatting, paf_parsing

        self._path = path
        self._kernel = paf_parsing
        if not isinstance(reads, Reads):
            reads = Reads.without_bases(reads, [paf_parsing.UNKNOWN_LENGTH] * len(reads))
        names = paf_formatting.Names(reads.name_bytes, reads.name_offsets, reads.lengths)
        self._index = paf_parsing.name_index(names)

    def parse(self, lines: bytes) -> _Part:
        """Parse lines up to the first fault."""
        kernel = self._kernel
        state = np.zeros(kernel.STATE_FIELDS, np.int64)
        text = np.frombuffer(lines, np.uint8)
        room = np.count_nonzero(text == ord("\n"))
        rows = kernel.Rows(
            integers=np.empty((len(kernel.INTEGERS), room), np.int32),
            divergence=np.empty(room, np.float32),
            # Most of this is never touched, and so takes no memory.
            cigar=np.empty(len(lines) // 2, np.uint32),
            cigar_offsets=np.zeros(room + 1, np.int64),
        )
        stopped_at = kernel.parse_paf(text, state, self._index, rows)
        filled = state[kernel.ROWS]
        rows = kernel.Rows(
            rows.integers[:, :filled],
            rows.divergence[:filled],
            rows.cigar[: state[kernel.OPERATIONS]].copy(),
            rows.cigar_offsets[: filled + 1],
        )
        return _Part(lines, rows, state, stopped_at)

    def parse_all(self, blocks: Iterable[bytes], threads: int) -> Overlaps:
        """Parse blocks on several threads."""
        kernel = self._kernel
        parts = []
        lines = edited = marked = 0
        for part in map_in_order(self.parse, blocks, threads):
            lines += int(part.state[kernel.LINES])
            edited += int(part.state[kernel.EDITED])
            marked += int(part.state[kernel.MARKED])
            if part.state[kernel.PROBLEM] != kernel.NONE:
                raise self._error(part, lines)
            parts.append(part.rows)
        rows = sum(len(part.divergence) for part in parts)
        return _join(parts, edited=0 < rows == edited, marked=marked > 0)

    def _error(self, part: _Part, line_number: int) -> FormatError:
        kernel, state = self._kernel, part.state
        line = part.lines[part.stopped_at : part.lines.index(b"\n", part.stopped_at)]
        column = int(state[kernel.COLUMN])
        found = line.decode(errors="backslashreplace").split("\t")
        value = found[column] if column < len(found) else ""
        said = shortened(value)
        where, expected = _where(column), state[kernel.EXPECTED]
        what, remedy = {
            kernel.FEW_COLUMNS: (f"has {len(found)} columns, expected at least 12", _NOT_PAF),
            kernel.NO_NUMBER: (_no_number(where, value), _NOT_PAF),
            kernel.BAD_STRAND: (f"{where} is {said}, expected + or -", _NOT_PAF),
            kernel.UNKNOWN_READ: (f"{where} is {said}, which is none of the reads", _OTHER_READS),
            kernel.OTHER_LENGTH: (f"{where} is {value}, but the read has {expected} bases", _OTHER_READS),
            kernel.BAD_INTERVAL: (f"{where} and the end beside it are no interval of the read", _NOT_PAF),
            kernel.BAD_TAG: (f"{where} is {said}, which does not fit its type", _BAD_TAG),
            kernel.BAD_END: ("has a carriage return before its end", _NOT_PAF),
            kernel.BAD_CIGAR: (
                "has a CIGAR of more than =XIDM, or that does not fit the intervals",
                _BAD_TAG,
            ),
        }[int(state[kernel.PROBLEM])]
        return FormatError(what, file=self._path, record=f"on line {line_number}", remedy=remedy)
