"""What a report says of runs, from the JSON that ``overlap``, ``layout`` and ``assemble`` write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from overlapper.report.page import Part, Remark, Section, Table

NEEDS_RUN = (
    "The funnel of the overlap run is left out: it needs the file that overlapper overlap --stats writes, or "
    "keeps next to the overlaps."
)
NEEDS_LAYOUT = (
    "The graph before and after each step, and chimeras, are left out: they need the file that overlapper "
    "layout --stats writes, or keeps next to the unitigs."
)
_CALLS = ("reads without enough overlaps", "reads trimmed", "chimeric reads cut", "missed adapters cut")
_STEPS = {
    "build": "after trimming and containment",
    "reduce": "after transitive reduction",
    "clean": "after cleaning",
    "remnants": "without remnants",
    "join": "after joining dead ends",
}


def funnel_section(run: Mapping[str, Any]) -> Section:
    """Describe the funnel of an overlap run: what every filter dropped."""
    funnel: dict[str, int] = run["funnel"]
    after = [
        name for name in funnel if name == "candidates" or name.startswith("dropped") or name == "overlaps"
    ]
    before = [(name, funnel[name]) for name in funnel if name not in after]
    parts: list[Part] = [
        Table("What went in", ("what", "count"), before, zeros_folded=True),
        Table(
            "From candidates to overlaps",
            ("step", "count"),
            [(name, funnel[name]) for name in after],
            bars=True,
            zeros_folded=True,
        ),
    ]
    if run.get("chosen"):
        parts.append(Remark(f"Chosen for these reads: {run['chosen']}."))
    return Section("Funnel", parts)


def graph_parts(layout: Mapping[str, Any]) -> list[Part]:
    """Describe the graph before and after each step, and which reads were called bad."""
    counts, sizes = layout["counts"], layout.get("sizes", {})
    parts: list[Part] = []
    if sizes:
        rows = [(_STEPS.get(step, step), size["reads"], size["edges"]) for step, size in sizes.items()]
        parts.append(Table("The graph after each step", ("graph", "reads", "edges"), rows, bars=True))
    calls = [(name, counts["build"][name]) for name in _CALLS if name in counts.get("build", {})]
    parts.append(
        Table(
            "Chimeras and other reads that were cut", ("call", "reads"), calls, bars=True, zeros_folded=True
        )
    )
    for step, taken in counts.items():
        others = [(name, count) for name, count in taken.items() if name not in _CALLS]
        parts.append(Table(f"Step {step}: what it counted", ("what", "count"), others, zeros_folded=True))
    return parts


def costs_section(runs: Mapping[str, Mapping[str, Any]]) -> Section:
    """Describe time and memory by stage of each run, by the name of its command."""
    parts: list[Part] = []
    for name, run in runs.items():
        seconds: dict[str, float] = run["seconds"]
        rows = [*seconds.items()]
        parts.append(Table(f"Seconds of overlapper {name}", ("stage", "seconds"), rows, bars=True))
        total = sum(seconds.values())
        said = f"overlapper {name}: {total:,.1f} s in its stages, reading and writing files not counted."
        memory: dict[str, int] = run.get("memory", {})
        if memory:
            held = [(stage, round(peak / 1e6)) for stage, peak in memory.items()]
            parts.append(
                Table(f"Memory of overlapper {name}", ("by the end of stage", "MB"), held, bars=True)
            )
            said += " Memory is the largest that the process held so far, its programs and reads included."
        parts.append(Remark(said))
    return Section("Time and memory", parts)


def params_section(runs: Mapping[str, Mapping[str, Any]]) -> Section:
    """List versions and all parameters of each run, by the name of its command."""
    parts = [
        Table(
            f"Parameters of overlapper {name}",
            ("parameter", "value"),
            [
                *_flat({name: run[name] for name in ("version", "devices") if name in run}),
                *_flat(run["params"]),
            ],
            folded=True,
        )
        for name, run in runs.items()
    ]
    return Section("Parameters and versions", parts)


def _flat(params: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{name}.")
        elif isinstance(value, list):
            yield f"{path}{name}", ", ".join(map(str, value))
        else:
            yield f"{path}{name}", "none" if value is None else str(value)
