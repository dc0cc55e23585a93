"""What a report says of how good overlaps, contigs and reads are, from the JSON that ``evaluate`` writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overlapper.errors import FormatError
from overlapper.report.page import Cell, Part, Remark, Section, Table
from overlapper.report.stats import Each, Maybe, misfit

REMEDY = "Give a file that overlapper evaluate --json wrote."
_MOST_BREAKS = 100

_HAPLOTYPE = {
    "kmers": float, "found": float, "completeness": float,
    "own_kmers": float, "own_found": float, "own": Maybe(float),
}  # fmt: skip
_PAIRS = {
    "true_pairs": float, "recall": float, "claimed": float, "precision": float, "strand_errors": float,
    "end_error": Maybe(float), "end_error_p95": Maybe(float),
}  # fmt: skip
_COLUMNS = {
    "bases": float, "matches": float, "mismatches": float, "inserted": float, "deleted": float, "own": float,
    "other": float, "neither": float, "identity": Maybe(float), "own_kept": Maybe(float),
}  # fmt: skip
_SHAPES: dict[str, dict[str, Any]] = {
    "contigs": {
        "contigs": float, "circles": float, "closed": float, "bases": float, "longest": float, "n50": float,
        "ng50": float, "nga50": Maybe(float), "breaks": Maybe(float), "unplaced": Maybe(float),
        "missing": float, "kmers": float, "qv": float, "markers": float, "phase_error": Maybe(float),
        "switches": Maybe(float), "switches_per_mb": Maybe(float), "haplotypes": Each(_HAPLOTYPE),
        "breaks_at": list,
    },
    "reads": {
        "reads": float, "reads_judged": float, "bases": float, "elsewhere": float, "missing": float,
        "unplaced": float, "sites": float, "corrected": _COLUMNS, "raw": Maybe(_COLUMNS),
        "changes": Maybe(Each(float)),
    },
    "overlaps": {"min_overlap": float, "overlaps": float, "reported_pairs": float, "unjudged_pairs": float}
    | _PAIRS,
}  # fmt: skip
"""What the files hold, by what is judged."""
_BREAK = {"contig": str, "end": float, "start": float, "from": str, "to": str}

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
    for place in scores.get("breaks_at", []) if not problem else []:
        problem = problem or misfit(place, _BREAK, "a break")
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
