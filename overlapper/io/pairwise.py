"""Plain pairwise alignments as PAF, and lists of pairs.

PAF has the twelve columns, mapping quality 255 (missing), and the tags ``tp:A:P``, ``AS:i`` (score), and with
an alignment ``NM:i`` (edits) and ``cg:Z`` (CIGAR). Without starts, the starts are those of the sequences, and
matches and block length 0. A pair of which one sequence is the reverse complement of what was given is on the
reverse strand, and reported on the forward strand of the target. PAF cannot tell of a sequence that was only
reversed or only complemented.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator

import numpy as np

from overlapper.errors import FormatError, ParameterError, shortened
from overlapper.io.lines import text_lines
from overlapper.io.outputs import OutputFile, check_format
from overlapper.tables import Alignments, Pairs, Reads
from overlapper.tables.alignments import COMPLEMENTED, REVERSED
from overlapper.tables.cigars import cigar_text

ENDINGS = (".paf", ".paf.gz")
_BOTH = REVERSED | COMPLEMENTED
_LINES = 4096


def write_alignments(
    alignments: Alignments, queries: Reads, targets: Reads, path: str | os.PathLike[str]
) -> None:
    """Write alignments as PAF; ``.gz`` at the end compresses.

    Parameters
    ----------
    queries, targets : Reads
        The sequences that the alignments number.
    path : str or path
        ``-`` is standard output.

    Raises
    ------
    ParameterError
        When PAF cannot tell of an orientation.
    OutputError
        When the file cannot be written; none is left behind.
    """
    name = os.fspath(path)
    check_format(name, ENDINGS)
    for side in ("q_flags", "t_flags"):
        odd = np.flatnonzero(~np.isin(getattr(alignments, side), (0, _BOTH)))
        if len(odd):
            raise ParameterError(
                f"alignment {odd[0]}: {side} is {getattr(alignments, side)[odd[0]]}, but PAF knows "
                "only sequences as they are (0) and their reverse complements (3)"
            )
    lines = _paf_lines(alignments, queries, targets)
    with OutputFile(name) as file:
        for block in iter(lambda: list(itertools.islice(lines, _LINES)), []):
            file.write("".join(block).encode())


def read_pairs(path: str, queries: Reads, targets: Reads) -> Pairs:
    """Read a list of pairs: query name, target name and perhaps a strand, ``+`` or ``-``, between tabs.

    On the reverse strand the reverse complement of the query is aligned.

    Parameters
    ----------
    path : str
        ``-`` is standard input.
    queries, targets : Reads
        The sequences that the names are of.

    Raises
    ------
    FormatError
        When a line has another form, or a name is not known.
    """
    numbers = [{name: i for i, name in enumerate(reads.names)} for reads in (queries, targets)]
    query, target, flags = [], [], []
    with contextlib.closing(text_lines(path)) as lines:
        for number, line in enumerate(lines, 1):
            fields = line.split("\t")
            if not 2 <= len(fields) <= 3 or (len(fields) == 3 and fields[2] not in ("+", "-")):
                raise FormatError(
                    f"is {shortened(line)}, expected a query, a target and perhaps a strand",
                    file=path, record=f"on line {number}",
                    remedy="Put tabs between them; strands are + and -.",
                )  # fmt: skip
            for side, name, known in zip(("query", "target"), fields, numbers, strict=False):
                if name not in known:
                    raise FormatError(
                        f"there is no {side} {shortened(name)}", file=path, record=f"on line {number}",
                        remedy="Names end at the first blank; queries are those of the first file.",
                    )  # fmt: skip
            query.append(numbers[0][fields[0]])
            target.append(numbers[1][fields[1]])
            flags.append(_BOTH if fields[2:] == ["-"] else 0)
    return Pairs(
        np.array(query, np.int32), np.array(target, np.int32), np.array(flags, np.uint8),
        np.zeros(len(flags), np.uint8),
    )  # fmt: skip


def _rows(alignments: Alignments, queries: Reads, targets: Reads) -> Iterator[dict]:
    """Yield alignments along the forward strand of the target, intervals on the sequences as given."""
    none = np.zeros(len(alignments), np.int64)
    turned = {side: getattr(alignments, f"{side}_flags") == _BOTH for side in "qt"}
    columns = {name: getattr(alignments, name) for name in ("query", "target", "score")}
    columns["reverse"] = turned["q"] != turned["t"]
    for side, lengths in (
        ("q", queries.lengths[alignments.query]),
        ("t", targets.lengths[alignments.target]),
    ):
        start, end = (getattr(alignments, f"{side}_{what}") for what in ("start", "end"))
        start = none if alignments.q_start is None else start
        columns[f"{side}_start"] = np.where(turned[side], lengths - end, start)
        columns[f"{side}_end"] = np.where(turned[side], lengths - start, end)
    known = alignments.q_start is not None and alignments.matches is not None
    columns["matches"] = alignments.matches if known else none
    columns["columns"] = alignments.block_length if known else none
    for k, values in enumerate(zip(*columns.values(), strict=True)):
        runs = []
        if alignments.cigar is not None and alignments.cigar_offsets is not None:
            runs = alignments.cigar[alignments.cigar_offsets[k] : alignments.cigar_offsets[k + 1]].tolist()
        yield dict(zip(columns, values, strict=True)) | {"runs": runs[::-1] if turned["t"][k] else runs}


def _paf_lines(alignments: Alignments, queries: Reads, targets: Reads) -> Iterator[str]:
    for row in _rows(alignments, queries, targets):
        fields = [
            queries.name(row["query"]), queries.lengths[row["query"]], row["q_start"], row["q_end"],
            "-" if row["reverse"] else "+",
            targets.name(row["target"]), targets.lengths[row["target"]], row["t_start"], row["t_end"],
            row["matches"], row["columns"], 255, "tp:A:P", f"AS:i:{row['score']}",
        ]  # fmt: skip
        if alignments.q_start is not None:
            fields.append(f"NM:i:{row['columns'] - row['matches']}")
        if alignments.cigar is not None:
            fields.append(f"cg:Z:{cigar_text(row['runs'])}")
        yield "\t".join(map(str, fields)) + "\n"
