"""Scores of contigs as ``overlapper evaluate`` writes them: text, JSON and a table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from overlapper.cli.tables import aligned, number

if TYPE_CHECKING:
    from overlapper.evaluation.contig_scores import ContigScore, ContigScores

_FIGURES = (
    ("contigs", "contigs", "{:,}"),
    ("circles", "circles", "{:,}"),
    ("closed", "  closed right", "{:,}"),
    ("bases", "bases", "{:,}"),
    ("longest", "longest", "{:,}"),
    ("n50", "N50", "{:,}"),
    ("ng50", "NG50", "{:,}"),
    ("nga50", "NGA50", "{:,}"),
    ("breaks", "breaks", "{:,}"),
    ("unplaced", "contigs without a place", "{:,}"),
    ("missing", "k-mers that no haplotype has", "{:,}"),
    ("kmers", "  of", "{:,}"),
    ("qv", "QV", "{:.1f}"),
    ("markers", "markers", "{:,}"),
    ("minority", "  not of their contig's haplotype", "{:,}"),
    ("phase_error", "phase error", "{:.5f}"),
    ("switches", "switches", "{:,}"),
    ("switches_per_mb", "  a million bases", "{:.2f}"),
)
"""Name in JSON, in print, and form of what is said of all contigs."""
_SHOWN = 20
"""Breaks that are printed."""


def _figure(scores: ContigScores, name: str) -> Any:
    return len(scores.contigs) if name == "contigs" else getattr(scores, name)


def as_document(scores: ContigScores, path: str, references: Sequence[str]) -> dict[str, Any]:
    """Return what ``--json`` writes; what is not defined for so many haplotypes is null."""
    return {
        "judged": "contigs",
        "file": path,
        "reference_bases": scores.reference_bases,
        **{name: _figure(scores, name) for name, _, _ in _FIGURES},
        "haplotypes": {
            name: {
                "kmers": have.all, "found": have.found, "completeness": have.share,
                "own_kmers": own.all, "own_found": own.found, "own": own.share,
            }
            for name, have, own in zip(references, scores.completeness, scores.own, strict=True)
        },
        "breaks_at": [place for contig in scores.contigs for place in _breaks(contig)],
    }  # fmt: skip


def _breaks(contig: ContigScore) -> list[dict[str, Any]]:
    return [
        {"contig": contig.name, "end": one.end, "start": other.start, "from": one.last, "to": other.first}
        for one, other in pairwise(contig.stretches)
    ]


def as_tsv(scores: ContigScores, references: Sequence[str]) -> str:
    """Return what ``--tsv`` writes: a line a contig; what is undefined is empty."""
    head = ["name", "length", "circular", "closed", "kmers", "missing", "qv", "breaks", "switches"]
    lines = ["\t".join(head + [f"markers_{i + 1}" for i in range(len(references))])]
    for c in scores.contigs:
        breaks = max(0, len(c.stretches) - 1) if scores.haploid and c.stretches else ""
        fields = (
            c.name, c.length, _yes(c.circular), _yes(c.closed), c.kmers, c.missing,
            "" if c.qv is None else f"{c.qv:.2f}", breaks, "" if scores.haploid else c.switches, *c.markers,
        )  # fmt: skip
        lines.append("\t".join(map(str, fields)))
    return "\n".join(lines) + "\n"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def as_text(scores: ContigScores, references: Sequence[str]) -> str:
    """Return what is printed."""
    figures = [
        (title, number(value, form))
        for name, title, form in _FIGURES
        if (value := _figure(scores, name)) is not None
    ]
    haplotypes = [("reference", "completeness", "own k-mers")]
    for name, have, own in zip(references, scores.completeness, scores.own, strict=True):
        alone = "-" if scores.haploid else number(own.share, "{:.5f}")
        haplotypes.append((name, number(have.share, "{:.5f}"), alone))
    text = f"{aligned(figures)}\n{aligned(haplotypes)}"
    places = [place for contig in scores.contigs for place in _breaks(contig)]
    if places:
        text += "\n" + aligned([("break in", "from", "to", "between", "and"), *map(_cells, places[:_SHOWN])])
    if len(places) > _SHOWN:
        text += f"and {len(places) - _SHOWN:,} more, which --json writes\n"
    return text


def _cells(place: dict[str, Any]) -> tuple[str, ...]:
    return place["contig"], f"{place['end']:,}", f"{place['start']:,}", place["from"], place["to"]
