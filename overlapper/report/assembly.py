"""What a report says of an assembly, from the folder that ``overlapper assemble`` wrote."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from overlapper.errors import FormatError, InputError, shortened
from overlapper.graph.gfa import Gfa
from overlapper.io.arrays import load_arrays
from overlapper.io.artifacts import Artifact, finished
from overlapper.io.identity import digest_of_reads
from overlapper.io.lines import text_lines, whole
from overlapper.io.read_store import ReadStore
from overlapper.report.circles import GRAPH, circle_parts
from overlapper.report.doubt import DOUBT, doubt_parts
from overlapper.report.page import Part, Remark, Section, Table
from overlapper.report.stats import LAYOUT, RUN, Each, Maybe, misfit, read_json
from overlapper.runtime.messages import counted
from overlapper.sketch.canonical import canonical_order
from overlapper.sketch.depth import ASIDE, ChosenReads, told
from overlapper.tables import Overlaps, Reads

_STATS, _CONTIGS, _GRAPH = "stats.json", "contigs.tsv", "contigs.gfa"
_MOST_LISTED = 20
_COLUMNS = (
    "name",
    "length",
    "quality",
    "unconfirmed",
    "contradicted",
    "deepest",
    "depth",
    "copies",
    "reads",
    "circular",
)
_CONSENSUS = ("bases", "bases not confirmed")
_LARGEST = 10**12
_STAGE = {"folder": str, "seconds": float, **{fact: Maybe(float) for fact in _CONSENSUS}}
_ADAPTERS = {**_STAGE, "bases cut": float}
_DEPTH = {**_STAGE, **dict.fromkeys(("depth kept", "reads set aside", "bases set aside", "deepest"), float)}
_OVERLAPS = {**_STAGE, "chosen": str, "error rate": float, "reads": float, "bases": float}
_HAPLOTYPES, _OF_EACH = ("hap1", "hap2", "primary"), ("number", "bases", "longest", "n50")
_SHAPE = {
    "version": str,
    "params": dict,
    "left_out": Maybe(Each(float)),
    "contigs": {"bases cut off ends": float},
    "run": Maybe(RUN),
    "held": dict.fromkeys(("reads", "of reads"), float),
    "warnings": Maybe([str]),
    "stages": {
        "adapters": Maybe(_ADAPTERS),
        "depth": Maybe(_DEPTH),
        "overlaps": _OVERLAPS,
        "layout": {**_STAGE, **LAYOUT},
    },
    "haplotypes": Maybe(
        {"phase blocks": float, "phased bases": float}
        | dict.fromkeys(_HAPLOTYPES, dict.fromkeys(_OF_EACH, float))
    ),
}
"""What ``stats.json`` holds, as far as it is read here."""
_AGAIN = "Run the same overlapper assemble again."


@dataclasses.dataclass(frozen=True)
class AssemblyFolder:
    """A folder of ``overlapper assemble``."""

    folder: Path
    stats: Mapping[str, Any]
    """What ``stats.json`` holds."""
    contigs: Sequence[Sequence[str]]
    """The rows of ``contigs.tsv``, its head first."""

    @property
    def graphs(self) -> list[str]:
        """Path of the contigs as GFA, if there are any."""
        return [str(self.folder / _GRAPH)] if len(self.contigs) > 1 else []

    @property
    def run(self) -> dict[str, Any]:
        """Version, parameters and seconds by stage, as the JSON of other commands has them."""
        seconds = {name: facts["seconds"] for name, facts in self.stats["stages"].items()}
        parts = ("version", "params", "run")
        return {part: self.stats[part] for part in parts if part in self.stats} | {"seconds": seconds}

    @property
    def lengths(self) -> dict[str, int]:
        """Bases of each contig, by name, the longest first."""
        head, *rows = self.contigs
        return {row[head.index("name")]: int(row[head.index("length")]) for row in rows}

    @property
    def used(self) -> dict[str, float]:
        """Reads that were assembled, those of them in contigs, bases of contigs, and bases cut off these."""
        return {
            "reads": self.stats["held"]["of reads"],
            "reads used": self.stats["held"]["reads"],
            "bases": sum(self.lengths.values()),
            "bases cut": self.stats["contigs"]["bases cut off ends"],
        }

    @property
    def funnel(self) -> dict[str, Any]:
        """What ``overlap --stats`` would say of the overlaps of the reads as given."""
        facts = dict(self.stats["stages"]["overlaps"])
        chosen = facts.pop("chosen")
        for name in ("folder", "seconds", "error rate"):
            del facts[name]
        aside = self.stats["stages"].get("depth", {ASIDE: 0})[ASIDE]
        left_out = {**self.stats.get("left_out", {}), **({ASIDE: aside} if aside else {})}
        return {"funnel": {**left_out, **facts}, "chosen": chosen}

    @property
    def layout(self) -> Mapping[str, Any]:
        """Counts of the layout and sizes of its graph, as ``layout --stats`` has them."""
        layout: Mapping[str, Any] = self.stats["stages"]["layout"]
        return layout

    def overlaps(self, reads: Reads) -> tuple[Reads, Overlaps]:
        """Return the reads as they were overlapped, which is without adapters, and their overlaps.

        Raises
        ------
        InputError
            When the reads are others than those assembled, or the stage is no longer there.
        """
        stage, aside, cut = (self.stats["stages"].get(name) for name in ("overlaps", "depth", "adapters"))
        n, bases = (stage[name] + (aside[f"{name} set aside"] if aside else 0) for name in ("reads", "bases"))
        bases += cut["bases cut"] if cut else 0
        if (n, bases) != (len(reads), reads.total_bases):
            raise InputError(
                f"was made of {n:,} reads of {bases:,} bases, but those given are "
                f"{len(reads):,} of {reads.total_bases:,}", file=str(self.folder),
                remedy="Give the reads that were assembled, all their files.",
            )  # fmt: skip
        stages = self.folder / "stages"
        run = finished(stages / "run", verify=True)
        of_reads = run.facts["inputs"].get("reads") if run else None
        if of_reads and of_reads["digest"] != digest_of_reads(reads):
            raise InputError(
                f"was made of other reads, of {', '.join(of_reads['files'])}", file=str(self.folder),
                remedy="Give the reads that were assembled, all their files.",
            )  # fmt: skip
        # Assemblies number reads in the order that their content gives, those alone that were not set aside.
        order = canonical_order(reads)
        if cut:
            store = ReadStore.open(self._kept(stages, cut["folder"]))
            order = order[store.order]
            inside = store.mapped().take(np.argsort(order))
            reads = dataclasses.replace(inside, name_bytes=reads.name_bytes, name_offsets=reads.name_offsets)
        if aside:
            order = order[load_arrays(self._kept(stages, aside["folder"]), ChosenReads).kept]
        overlaps = load_arrays(self._kept(stages, stage["folder"]), Overlaps)
        return reads, overlaps.renumber(order).sort_canonical()

    def _kept(self, stages: Path, folder: str) -> Artifact:
        """Return what a stage made."""
        kept = finished(stages / folder, verify=True)
        if kept is None:
            raise InputError(
                f"no longer has its overlaps in stages/{folder}", file=str(self.folder),
                remedy="Run the same overlapper assemble again, or leave out the reads.",
            )  # fmt: skip
        return kept


def read_assembly(folder: str) -> AssemblyFolder:
    """Read what is to report of an assembly.

    Raises
    ------
    InputError
        When the folder holds no finished assembly.
    """
    path = Path(folder)
    for name in (_STATS, _CONTIGS, _GRAPH, GRAPH, DOUBT):
        if not (path / name).is_file():
            raise InputError(
                f"is a folder without {name}, so not one of a finished assembly", file=folder,
                remedy="Give the folder that overlapper assemble -o wrote, or name files.",
            )  # fmt: skip
    stats = read_json(str(path / _STATS), _AGAIN)
    problem = misfit(stats, _SHAPE) or misfit(stats["stages"], Each(_STAGE))
    if problem := problem or misfit(AssemblyFolder(path, stats, []).funnel["funnel"], Each(float)):
        raise FormatError(
            f"is not what this version of overlapper assemble writes: {problem}",
            file=str(path / _STATS), remedy=_AGAIN,
        )  # fmt: skip
    return AssemblyFolder(path, stats, _read_contigs(str(path / _CONTIGS)))


def _read_contigs(path: str) -> list[list[str]]:
    """Return the rows of the table of contigs, its head first."""
    rows = [line.split("\t") for line in text_lines(path)]
    head = rows[0] if rows else []
    missing = [name for name in _COLUMNS if head.count(name) != 1]
    if missing:
        raise FormatError(f"has no column {missing[0]!r}", file=path, record="on line 1", remedy=_AGAIN)
    numbers = [head.index(name) for name in _COLUMNS[1:-1]]
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(head) or not all(isinstance(_value(row[i]), int | float) for i in numbers):
            raise FormatError(
                f"is damaged: {shortened(' '.join(row))}", file=path, record=f"on line {number}",
                remedy=_AGAIN,
            )  # fmt: skip
    return rows


def contigs_section(assembly: AssemblyFolder, gfa: Gfa | None) -> Section:
    """Describe the contigs, with a map of each that is a circle, and how their consensus was found."""
    head, *rows = assembly.contigs
    chosen = [head.index(column) for column in _COLUMNS]
    stages: Mapping[str, Mapping[str, Any]] = assembly.stats["stages"]
    voted = {name: facts for name, facts in stages.items() if "thresholds" in facts}
    rate = 100 * stages["overlaps"]["error rate"]
    corrected = any(name.startswith("correct-") for name in voted)
    decision = "corrected before they were laid out" if corrected else "laid out as they are"
    if "copies" in stages or "exact-overlaps" in stages:
        decision += ", and copies kept apart"
    parts: list[Part] = [
        Table(f"Longest contigs ({min(len(rows), _MOST_LISTED):,} of {len(rows):,})", _COLUMNS,
              [[_value(row[column]) for column in chosen] for row in rows[:_MOST_LISTED]], wide=True),
        *doubt_parts(assembly.folder, assembly.lengths, _AGAIN),
        Remark(f"The error rate of the reads is {rate:.2g} %: they were {decision}."),
    ]  # fmt: skip
    parts += circle_parts(assembly.folder, gfa, _AGAIN) if gfa else []
    if polished := {name: facts for name, facts in voted.items() if name.startswith("polish-")}:
        rounds = [(name, *(facts.get(fact, "") for fact in _CONSENSUS)) for name, facts in polished.items()]
        parts += [
            Table("Polishing", ("round", "bases", "not confirmed in this round"), rounds),
            Remark("Ends of contigs are cut off after the last round, and with them bases not confirmed."),
        ]
    if (aside := stages.get("depth")) and aside[ASIDE]:
        parts.append(Remark(f"{told(aside)}."))
    parts += [Remark(text.removeprefix("warning: ")) for text in assembly.stats.get("warnings", [])]
    if two := assembly.stats.get("haplotypes"):
        title = f"Haplotypes: {two['phased bases']:,} bases in {counted(two['phase blocks'], 'phase block')}"
        each = [(name, *(two[name][figure] for figure in _OF_EACH)) for name in _HAPLOTYPES]
        parts.insert(1, Table(title, ("", *_OF_EACH), each))
    return Section("Contigs", parts if rows else [Remark("There are no contigs."), *parts[1:]])


def _value(cell: str) -> str | int | float:
    """Return a cell as the number that it is, if it is one; infinite ones are none."""
    count = whole(cell, _LARGEST)
    if count is not None:
        return count
    with contextlib.suppress(ValueError):
        number = float(cell)
        return cell if abs(number) > _LARGEST else number
    return cell
