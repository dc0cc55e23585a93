"""What a report says of how good overlaps, contigs and reads are, from the JSON that ``evaluate`` writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from overlapper.errors import FormatError
from overlapper.report.page import Cell, Part, Remark, Section, Table
from overlapper.report.stats import Each, Maybe, misfit

REMEDY = "Give a file that overlapper evaluate --json wrote."
_MOST_BREAKS = 100

_OF_CONTIGS = {
    "contigs": "contigs", "circles": "circles", "closed": "circles that close right", "bases": "bases",
    "longest": "longest", "n50": "N50", "ng50": "NG50", "nga50": "NGA50", "breaks": "breaks",
    "unplaced": "contigs without a place", "qv": "quality (QV)", "missing": "k-mers that no haplotype has",
    "kmers": "k-mers", "phase_error": "phase error", "switches": "switches",
    "switches_per_mb": "switches per million bases",
}  # fmt: skip
_OF_READS = {
    "reads": "reads with a place", "reads_judged": "reads judged", "bases": "bases",
    "elsewhere": "not at their place",
    "missing": "placed, but not among the reads", "unplaced": "without a place, or with several",
    "sites": "sites of the reference",
}  # fmt: skip
_OF_COLUMNS = {
    "identity": "identity", "mismatches": "mismatches", "inserted": "bases inserted",
    "deleted": "bases deleted", "own_kept": "own bases kept", "own": "sites with the own base",
    "other": "sites with another one's", "neither": "sites with neither",
}  # fmt: skip
_OF_CHANGES = {
    "mended": "bases mended", "left": "bases left wrong (under-corrected)",
    "introduced": "bases made wrong (over-corrected)", "sites_mended": "sites mended",
    "sites_left": "sites left (under-corrected)", "sites_lost": "sites lost (over-corrected)",
}  # fmt: skip
_OF_OVERLAPS = {
    "overlaps": "overlaps", "true_pairs": "true pairs", "recall": "recall", "claimed": "claimed pairs",
    "precision": "precision", "strand_errors": "strand errors", "end_error": "end error, median",
    "end_error_p95": "end error, 95 %", "min_overlap": "judged from so many bases on",
}  # fmt: skip


def _figures(names: Iterable[str]) -> dict[str, Any]:
    """Return the shape of figures, of which some may be null."""
    return {name: Maybe(float) if name in _UNKNOWN else float for name in names}


_UNKNOWN = {
    "nga50", "breaks", "unplaced", "phase_error", "switches", "switches_per_mb", "own_kept", "identity",
    "end_error", "end_error_p95",
}  # fmt: skip
"""Figures that there may be none for."""
_COLUMNS = _figures(_OF_COLUMNS)
_SHAPES: dict[str, dict[str, Any]] = {
    "contigs": _figures(_OF_CONTIGS)
    | {"haplotypes": Each({"completeness": float, "own": Maybe(float)})}
    | {"breaks_at": [{"contig": str, "end": float, "start": float, "from": str, "to": str}]},
    "reads": _figures(_OF_READS)
    | {"corrected": _COLUMNS, "raw": Maybe(_COLUMNS), "changes": Maybe(Each(float))},
    "overlaps": _figures(_OF_OVERLAPS),
}
"""What the files hold that is shown, by what is judged."""


def checked_scores(scores: Any, path: str) -> Mapping[str, Any]:
    """Return what ``evaluate --json`` wrote, without what is null.

    Raises
    ------
    FormatError
        When it is damaged.
    """
    scores = _without_none(scores)
    shape = _SHAPES.get(str(scores.get("judged")))
    problem = "it does not say what is judged" if shape is None else misfit(scores, shape)
    if problem:
        raise FormatError(f"is damaged: {problem}", file=path, remedy=REMEDY)
    return scores


def _without_none(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _without_none(part) for name, part in value.items() if part is not None}


def evaluation_sections(scores: Mapping[str, Mapping[str, Any]]) -> list[Section]:
    """Describe scores, by the name of their file; those of one kind stand beside each other."""
    made: dict[str, tuple[str, Callable[[Mapping[str, Mapping[str, Any]]], list[Part]]]] = {
        "overlaps": ("Overlaps judged", _overlap_parts),
        "reads": ("Corrected reads judged", _read_parts),
        "contigs": ("Contigs judged", _contig_parts),
    }
    sections = []
    for kind, (title, parts) in made.items():
        given = {path: values for path, values in scores.items() if values["judged"] == kind}
        if given:
            sections.append(Section(title, parts(given)))
    return sections


def _beside(title: str, what: Mapping[str, str], columns: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return a table with a column for each file, and a row for each value that any file has."""
    rows = [
        (said, *(_cell(values.get(name)) for values in columns.values()))
        for name, said in what.items()
        if any(name in values for values in columns.values())
    ]
    return Table(title, ("what", *columns), rows, wide=len(columns) > 2)


def _cell(value: float | None) -> Cell:
    if value is None:
        return "-"
    return value if isinstance(value, int) else f"{value:,.5f}"


def _overlap_parts(scores: Mapping[str, Mapping[str, Any]]) -> list[Part]:
    return [_beside("Overlaps compared with the placements of reads", _OF_OVERLAPS, scores)]


def _read_parts(scores: Mapping[str, Mapping[str, Any]]) -> list[Part]:
    parts: list[Part] = [_beside("Reads", _OF_READS, scores)]
    aligned = {}
    for path, values in scores.items():
        aligned[path] = values["corrected"]
        if "raw" in values:
            aligned[f"{path}, raw"] = values["raw"]
    parts.append(_beside("Reads compared with the reference", _OF_COLUMNS, aligned))
    changes = {path: values["changes"] for path, values in scores.items() if "changes" in values}
    if changes:
        parts.append(_beside("What correction changed", _OF_CHANGES, changes))
    parts.append(
        Remark(
            "A site is a base that differs in another haplotype or copy, between the same 15 bases on "
            "either side. Own bases kept is the share of sites at which a read has the base of its own place."
        )
    )
    return parts


def _contig_parts(scores: Mapping[str, Mapping[str, Any]]) -> list[Part]:
    parts: list[Part] = [_beside("Contigs compared with the reference", _OF_CONTIGS, scores)]
    rows: list[tuple[Cell, ...]] = [
        (path, name, _cell(h["completeness"]), _cell(h.get("own")) if len(values["haplotypes"]) > 1 else "-")
        for path, values in scores.items()
        for name, h in values["haplotypes"].items()
    ]
    parts.append(Table("k-mers that contigs have", ("of", "reference", "share", "of its own"), rows))
    places = [(path, place) for path, values in scores.items() for place in values["breaks_at"]]
    if places:
        head = ("of", "contig", "from", "to", "between", "and")
        shown: Sequence[Sequence[Cell]] = [
            (path, p["contig"], p["end"], p["start"], p["from"], p["to"]) for path, p in places[:_MOST_BREAKS]
        ]
        parts.append(Table(f"Breaks, {len(shown)} of {len(places)}", head, shown, wide=True))
    parts.append(
        Remark(
            "All figures are counts of 31-mers. At a break, a contig joins sequences that are apart in "
            "the reference. NGA50 is taken over the stretches between breaks. Markers are k-mers that "
            "occur once in all haplotypes together. The phase error is the share of markers that are not "
            "from the haplotype of their contig."
        )
    )
    return parts
