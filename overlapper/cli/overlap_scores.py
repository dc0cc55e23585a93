"""Scores of overlaps as ``overlapper evaluate`` writes them: text, JSON and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overlapper.cli.tables import aligned, number

if TYPE_CHECKING:
    from overlapper.evaluation.overlaps import Bin, Evaluation, Scores

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


def as_document(result: Evaluation) -> dict[str, Any]:
    """Return what ``--json`` writes; a bin without upper end has null there."""
    return {
        "judged": "overlaps",
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
    summary = (
        f"{result.overlaps} overlaps of {result.reported_pairs} pairs, judged at {result.min_overlap} "
        f"bases or more; {result.unjudged_pairs} pairs are not judged, because one of the reads has no "
        "place, or several"
    )
    return f"{summary}\n\n{aligned(rows)}"


def _cells(scores: Scores) -> tuple[str, ...]:
    return (
        str(scores.true_pairs),
        number(scores.recall if scores.true_pairs else None, "{:.5f}"),
        str(scores.claimed),
        number(scores.precision if scores.claimed else None, "{:.5f}"),
        str(scores.strand_errors),
        number(scores.end_error, "{:.1f}"),
        number(scores.end_error_p95, "{:.1f}"),
    )
