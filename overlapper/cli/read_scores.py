"""Scores of corrected reads as ``overlapper evaluate`` writes them: text, JSON and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from overlapper.cli.tables import aligned, number

if TYPE_CHECKING:
    from overlapper.evaluation.read_scores import Columns, ReadScores

_COUNTS = ("judged", "bases", "elsewhere", "missing", "unplaced", "sites")


def _values(columns: Columns | None) -> dict[str, Any] | None:
    if columns is None:
        return None
    return {**columns._asdict(), "identity": columns.identity, "own_kept": columns.own_kept}


def as_document(scores: ReadScores, path: str, references: Sequence[str]) -> dict[str, Any]:
    """Return what ``--json`` writes; what raw reads would tell is null without them."""
    return {
        "judged": "reads",
        "file": path,
        "references": list(references),
        "reads": len(scores.reads),
        **{f"reads_{name}" if name == "judged" else name: getattr(scores, name) for name in _COUNTS},
        "corrected": _values(scores.corrected),
        "raw": _values(scores.raw),
        "changes": scores.changes._asdict() if scores.changes else None,
    }


def as_tsv(scores: ReadScores) -> str:
    """Return what ``--tsv`` writes: a line a read that has a place."""
    rows: list[dict[str, Any]] = []
    for read in scores.reads:
        row: dict[str, Any] = {
            "name": read.name,
            "length": read.length,
            "judged": "yes" if read.judged else "no",
        }
        row |= read.corrected._asdict()
        if read.raw and read.changes:
            row |= {f"raw_{name}": value for name, value in read.raw._asdict().items()}
            row |= read.changes._asdict()
        rows.append(row)
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    return "".join("\t".join(map(str, line)) + "\n" for line in lines)


def as_text(scores: ReadScores) -> str:
    """Return what is printed."""
    summary = (
        f"{scores.judged:,} of {len(scores.reads):,} reads judged, {scores.bases:,} bases; "
        f"{scores.elsewhere:,} are not at their place; {scores.unplaced:,} have none or several; "
        f"of {scores.missing:,} with a place there is no corrected read"
    )
    both = [("corrected", scores.corrected), *([("raw", scores.raw)] if scores.raw else [])]
    rows = [("", "identity", "mismatches", "inserted", "deleted", "sites", "own kept", "other", "neither")]
    for name, c in both:
        identity, kept = number(c.identity, "{:.6f}"), number(c.own_kept, "{:.5f}")
        counts = (f"{c.mismatches:,}", f"{c.inserted:,}", f"{c.deleted:,}", f"{c.sites:,}")
        rows.append((name, identity, *counts, kept, f"{c.other:,}", f"{c.neither:,}"))
    text = f"{summary}\n\n{aligned(rows)}"
    if scores.changes:
        m, left, wrong, sites_m, sites_left, lost = (f"{count:,}" for count in scores.changes)
        changes = [
            ("", "mended", "left (under-corrected)", "made wrong (over-corrected)"),
            ("bases", m, left, wrong),
            ("sites", sites_m, sites_left, lost),
        ]  # fmt: skip
        text += f"\n{aligned(changes)}"
    return text
