"""``overlapper evaluate``: overlaps against known placements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from overlapper.cli.outputs import check_outputs
from overlapper.cli.sizes import parse_size

if TYPE_CHECKING:
    from overlapper.evaluate import Bin, Evaluation, Scores

EXAMPLES = """
overlapper evaluate truth.tsv overlaps.paf
overlapper evaluate truth.tsv.gz overlaps.paf.gz --min-overlap 500 --json scores.json --tsv scores.tsv
overlapper evaluate truth.tsv overlaps.paf --circular genome=200k
"""

COLUMNS = (
    "true_pairs",
    "found",
    "claimed",
    "correct",
    "strand_errors",
    "recall",
    "precision",
    "f1",
    "end_error",
    "end_error_p95",
)


def evaluate(
    truth: Annotated[
        str, typer.Argument(metavar="TRUTH", help="Where reads come from, as overlapper simulate writes it.")
    ],
    paf: Annotated[
        str, typer.Argument(metavar="PAF", help="Overlaps, ours or another program's; - is standard input.")
    ],
    min_overlap: Annotated[
        int,
        typer.Option("--min-overlap", parser=parse_size, metavar="BASES", help="Shortest overlap asked for."),
    ] = 2000,
    circular: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[REF=]LENGTH", help="Length of a circular reference; may be repeated with different REF."
        ),
    ] = None,
    json_file: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write JSON.")] = None,
    tsv_file: Annotated[str | None, typer.Option("--tsv", metavar="FILE", help="Write a table.")] = None,
) -> None:
    """Judge overlaps by where the reads come from.

    Prints recall, precision and the errors of the ends, in all, by overlap length and by identity of the
    pair.
    """
    check_outputs({"--json": json_file, "--tsv": tsv_file}, [truth, paf])

    from overlapper.evaluate import evaluate_overlaps
    from overlapper.io.outputs import write_text
    from overlapper.io.reported import read_paf
    from overlapper.io.truth import read_truth

    circles = parse_circles(circular or [])
    result = evaluate_overlaps(read_truth(truth), read_paf(paf), min_overlap=min_overlap, circular=circles)
    if json_file:
        import json

        write_text(json_file, f"{json.dumps(as_document(result), indent=2)}\n")
    if tsv_file:
        write_text(tsv_file, as_tsv(result))
    print(as_text(result), end="")


def parse_circles(options: list[str]) -> int | dict[str, int]:
    """Return one length for all references, or lengths by reference."""
    if len(options) == 1 and "=" not in options[0]:
        return parse_size(options[0])
    named: dict[str, int] = {}
    for option in options:
        name, _, length = option.rpartition("=")
        if not name or name in named:
            raise typer.BadParameter("several --circular need the form REF=LENGTH, each with another REF")
        named[name] = parse_size(length)
    return named or 0


def as_document(result: Evaluation) -> dict[str, Any]:
    """Return what ``--json`` writes; a bin without upper end has null there."""
    return {
        "min_overlap": result.min_overlap,
        "overlaps": result.overlaps,
        "reported_pairs": result.reported_pairs,
        "unjudged_pairs": result.unjudged_pairs,
        **_values(result.total),
        "by_length": [_bin(b) for b in result.by_length],
        "by_identity": [_bin(b) for b in result.by_identity],
    }


def _values(scores: Scores) -> dict[str, float | None]:
    return {name: getattr(scores, name) for name in COLUMNS}


def _bin(b: Bin) -> dict[str, float | None]:
    return {"low": b.low, "high": None if b.high == float("inf") else b.high, **_values(b.scores)}


def as_tsv(result: Evaluation) -> str:
    """Return what ``--tsv`` writes: a line in all, then one a bin; what is undefined is empty."""
    lines = [("by", "low", "high", *COLUMNS), ("all", "", "", *_values(result.total).values())]
    for by, bins in (("length", result.by_length), ("identity", result.by_identity)):
        lines += [(by, *_bin(b).values()) for b in bins]
    return "".join("\t".join("" if v is None else str(v) for v in line) + "\n" for line in lines)


def as_text(result: Evaluation) -> str:
    """Return what is printed."""
    head = ("", "true pairs", "recall", "claimed", "precision", "strand errors", "end error", "(95 %)")
    rows = [head, ("all", *_cells(result.total))]
    for title, bins, form in (
        ("bases", result.by_length, "{:.0f}"),
        ("identity", result.by_identity, "{:.3f}"),
    ):
        if bins:
            rows.append((title, *[""] * (len(head) - 1)))
        for b in bins:
            to = "" if b.high == float("inf") else form.format(b.high)
            rows.append((f"  {form.format(b.low)}-{to}", *_cells(b.scores)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = []
    for title, *cells in rows:
        aligned = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        table.append("  ".join([title.ljust(widths[0]), *aligned]).rstrip())
    summary = (
        f"{result.overlaps} overlaps of {result.reported_pairs} pairs, judged at {result.min_overlap} bases "
        f"or more; {result.unjudged_pairs} pairs with a read that has no single place are not judged"
    )
    return "\n".join([summary, "", *table]) + "\n"


def _cells(scores: Scores) -> tuple[str, ...]:
    def number(value: float | None, form: str) -> str:
        return "-" if value is None else form.format(value)

    return (
        str(scores.true_pairs),
        number(scores.recall if scores.true_pairs else None, "{:.5f}"),
        str(scores.claimed),
        number(scores.precision if scores.claimed else None, "{:.5f}"),
        str(scores.strand_errors),
        number(scores.end_error, "{:.1f}"),
        number(scores.end_error_p95, "{:.1f}"),
    )
