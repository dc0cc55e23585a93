"""A comparison of methods as one page of HTML."""

from __future__ import annotations

from overlapper.compare.comparison import Comparison, Method
from overlapper.drawing import Axis, Plane, element
from overlapper.report.page import Cell, Figure, Remark, Section, Table, page

_COLOURS = "abcd"
_JUDGES = {
    "placements": "Judged by where the reads come from.",
    "consensus": "Judged by what more than half of the methods agree on, as no placements were given: a "
    "method that finds what others miss is counted as wrong there.",
}


def build_comparison(comparison: Comparison, *, title: str = "Comparison of methods") -> str:
    """Return the page.

    Parameters
    ----------
    comparison : Comparison
    title : str
    """
    methods = comparison.methods
    fastest = min(methods, key=lambda method: method.costs.wall_s)
    leanest = min(methods, key=lambda method: method.costs.peak_mb)
    facts = [
        ("Methods", str(len(methods))),
        ("Fastest", f"{fastest.name}, {fastest.costs.wall_s:.1f} s"),
        ("Least memory", f"{leanest.name}, {leanest.costs.peak_mb:,.0f} MB"),
    ]
    sections = [
        Section("Results", [_table(comparison), Remark(_JUDGES[comparison.judged_by])]),
        Section("Quality and time", [_scatter(comparison, measure) for measure in comparison.measures]),
        Section("Time and memory", [*_costs(comparison)]),
        Section("Options", [Table("All methods had", ("option", "value"), _options(comparison))]),
    ]
    return page(title, f"Made from {', '.join(comparison.files)}.", facts, sections)


def _table(comparison: Comparison) -> Table:
    head = ("method", *comparison.measures, "seconds", "MB")
    rows: list[tuple[Cell, ...]] = [
        (method.name, *(_cell(method, measure) for measure in comparison.measures),
         round(method.costs.wall_s, 2), round(method.costs.peak_mb))
        for method in comparison.methods
    ]  # fmt: skip
    return Table("All methods", head, rows)


def _cell(method: Method, measure: str) -> Cell:
    value = method.scores[measure]
    return "-" if value is None else float(value)


def _scatter(comparison: Comparison, measure: str) -> Figure:
    """Draw a measure against time, a dot a method, coloured by extender."""
    points = [(m, m.costs.wall_s, m.scores[measure]) for m in comparison.methods]
    shown = [(m, seconds, float(value)) for m, seconds, value in points if value is not None]
    seconds = [point[1] for point in shown] or [1.0]
    values = [point[2] for point in shown] or [0.0]
    margin = 0.05 * (max(values) - min(values)) or 0.05 * abs(max(values)) or 0.5
    plane = Plane(
        Axis("seconds", min(seconds) / 1.2, max(seconds) * 1.2, log=True),
        Axis(measure, min(values) - margin, max(values) + margin),
    )
    extenders = list(dict.fromkeys(method.second for method in comparison.methods))
    for method, x, y in shown:
        colour = _COLOURS[extenders.index(method.second) % len(_COLOURS)]
        dot = element(
            "circle", element("title", method.name), cx=float(plane.across(x)), cy=float(plane.up(y)), r=5,
            class_=f"fill-{colour}",
        )  # fmt: skip
        plane.draw(dot)
    caption = f"{comparison.measures[measure]}, against time; a dot is a method and says its name."
    caption = caption[0].upper() + caption[1:]
    rows = [(method.name, x, y) for method, x, y in shown]
    return Figure(
        measure, caption, plane.inline(measure, caption), Table(measure, ("method", "seconds", measure), rows)
    )


def _costs(comparison: Comparison) -> list[Table]:
    costs = {method.name: method.costs for method in comparison.methods}
    stages = list(dict.fromkeys(stage for taken in costs.values() for stage in taken.stages))
    by_stage: list[tuple[Cell, ...]] = [
        (name, *(round(taken.stages.get(stage, 0.0), 3) for stage in stages)) for name, taken in costs.items()
    ]
    return [
        _bars("Wall time", "s", {name: taken.wall_s for name, taken in costs.items()}),
        _bars("Processor time", "s", {name: taken.cpu_s for name, taken in costs.items()}),
        _bars("Peak memory", "MB", {name: taken.peak_mb for name, taken in costs.items()}),
        Table("Seconds by stage", ("method", *stages), by_stage),
    ]


def _bars(title: str, unit: str, values: dict[str, float]) -> Table:
    return Table(title, ("method", unit), list(values.items()), bars=True)


def _options(comparison: Comparison) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in comparison.options.items() if value != ""]
