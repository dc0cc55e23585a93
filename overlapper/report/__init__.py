"""A report on a run as one page of HTML that loads nothing from elsewhere.

::

    files -> inputs -> sections (reads, correction, overlaps, runs, unitigs) -> page

A part whose input is missing is left out, and the page says which file would show it. The same files give the
same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from overlapper.drawing import short_number
from overlapper.graph.stats import n50
from overlapper.report import assembly, correction, overlaps, reads, runs, unitigs
from overlapper.report.inputs import Inputs, read_inputs
from overlapper.report.page import Part, Remark, Section, page
from overlapper.report.verdict import verdict
from overlapper.runtime.messages import Report, unreported
from overlapper.sketch.estimates import Estimates, estimate

__all__ = ["Inputs", "build_report", "read_inputs"]


def build_report(
    inputs: Inputs,
    *,
    title: str = "",
    threads: int = 1,
    report: Report = unreported,
) -> str:
    """Return the report, HTML.

    Parameters
    ----------
    inputs : Inputs
    title : str
        Heading of the page, by default what it reports on.
    threads : int
        Changes nothing but the time.
    report : callable
        ``report(step, done, total)`` is told which step begins.
    """
    report("estimating coverage and error rate", 0, 0)
    estimates = estimate(inputs.reads, threads) if inputs.reads else None
    report("drawing", 0, 0)
    sections = [
        *_sections(inputs, estimates),
        Section("Left out", [Remark(text) for text in _missing(inputs)]),
    ]
    lead = [f"Made from {', '.join(inputs.files)}.", *_calls(inputs)]
    title = title or ("Assembly report" if inputs.assembly else "Overlap report")
    lengths = inputs.named.lengths if inputs.named else None
    findings = verdict(
        estimates, inputs.overlaps, lengths, inputs.reads is not None,
        inputs.layout, inputs.gfa, inputs.assembly.used if inputs.assembly else None,
    )  # fmt: skip
    shown = [section for section in sections if section.parts]
    return page(title, lead, _facts(inputs, estimates), shown, findings)


def _calls(inputs: Inputs) -> list[str]:
    """Return what was called when, of runs whose files say so."""
    records = [run["run"] for run in inputs.runs.values() if isinstance(run.get("run"), Mapping)]
    return [f"{record.get('date', '')}: {record.get('command', '')}" for record in records]


def _sections(inputs: Inputs, estimates: Estimates | None) -> list[Section]:
    sections: list[Section] = []
    if inputs.reads and estimates:
        sections.append(reads.reads_section(inputs.reads, estimates))
    if inputs.changes:
        sections.append(correction.correction_section(inputs.changes))
    if inputs.overlaps is not None and inputs.named is not None:
        whole_set = inputs.reads is not None
        sections.append(overlaps.overlaps_section(inputs.overlaps, inputs.named.lengths, whole_set))
    if inputs.funnel:
        sections.append(runs.funnel_section(inputs.funnel))
    if inputs.assembly:
        sections.append(assembly.contigs_section(inputs.assembly, inputs.gfa))
    parts: list[Part] = unitigs.unitig_parts(inputs.gfa) if inputs.gfa else []
    if inputs.layout:
        parts += runs.graph_parts(inputs.layout)
    sections.append(Section("Graph and unitigs", parts))
    if inputs.runs:
        sections += [runs.costs_section(inputs.runs), runs.params_section(inputs.runs)]
    return sections


def _missing(inputs: Inputs) -> list[str]:
    needed = {
        reads.NEEDS_READS: inputs.reads is None,
        correction.NEEDS_CHANGES: inputs.changes is None and inputs.assembly is None,
        overlaps.NEEDS_OVERLAPS: inputs.overlaps is None,
        runs.NEEDS_RUN: inputs.funnel is None,
        unitigs.NEEDS_GFA: inputs.gfa is None,
        runs.NEEDS_LAYOUT: inputs.layout is None,
    }
    return [text for text, missing in needed.items() if missing]


def _facts(inputs: Inputs, estimates: Estimates | None) -> list[tuple[str, str]]:
    """Return the numbers that matter most."""
    facts = []
    if inputs.reads and estimates:
        facts += [
            ("Reads", f"{len(inputs.reads):,}"),
            ("Bases", short_number(inputs.reads.total_bases)),
            ("Read N50", f"{n50(inputs.reads.lengths):,}"),
        ]
        if not math.isnan(estimates.coverage):
            facts.append(("Coverage, estimated", f"{estimates.coverage:.1f}"))
        if not math.isnan(estimates.error_rate):
            facts.append(("Error rate, estimated", f"{100 * estimates.error_rate:.2f} %"))
    if inputs.overlaps is not None:
        facts.append(("Overlaps", f"{len(inputs.overlaps):,}"))
    if inputs.gfa:
        lengths = inputs.gfa.without_contained().lengths
        what = "contig" if inputs.assembly else "unitig"
        facts += [
            (f"{what.title()}s", f"{len(lengths):,}"),
            (f"Longest {what}", f"{lengths.max(initial=0):,}"),
        ]
    return facts
