"""A comparison of methods as one page of HTML."""

from __future__ import annotations

from overlapper.compare.comparison import Comparison, Method
from overlapper.drawing import Axis, Plane, element, written
from overlapper.report.charts import chart
from overlapper.report.page import Cell, Figure, Remark, Section, Table, page

_COLOURS = "abcd"
_JUDGES = {
    "placements": "Judged by where the reads come from.",
    "consensus": "Judged by what more than half of the methods agree on, as no placements were given: a "
    "method that finds what others miss is counted as wrong there.",
}


def build_comparison(comparison: Comparison) -> str:
    """Return the page."""
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
    return page("Comparison of methods", [f"Made from {', '.join(comparison.files)}."], facts, sections)


def _table(comparison: Comparison) -> Table:
    head = ("method", *comparison.measures, "seconds", "MB")
    rows: list[tuple[Cell, ...]] = [
        (f"{number}. {method.name}", *(_cell(method, measure) for measure in comparison.measures),
         round(method.costs.wall_s, 2), round(method.costs.peak_mb))
        for number, method in enumerate(comparison.methods, 1)
    ]  # fmt: skip
    return Table("All methods", head, rows, wide=True)


def _cell(method: Method, measure: str) -> Cell:
    value = method.scores[measure]
    return "-" if value is None else float(value)


def _scatter(comparison: Comparison, measure: str) -> Figure:
    """Draw a measure against time, a numbered dot a method, coloured by extender if there are few."""
    points = [(i, m, m.costs.wall_s, m.scores[measure]) for i, m in enumerate(comparison.methods, 1)]
    shown = [(i, m, seconds, float(value)) for i, m, seconds, value in points if value is not None]
    seconds = [point[2] for point in shown] or [1.0]
    values = [point[3] for point in shown] or [0.0]
    margin = 0.05 * (max(values) - min(values)) or 0.05 * abs(max(values)) or 0.5
    plane = Plane(
        Axis("seconds", min(seconds) / 1.2, max(seconds) * 1.2, log=True),
        Axis(measure, min(values) - margin, max(values) + margin),
    )
    extenders = list(dict.fromkeys(method.extender for method in comparison.methods))
    few = len(extenders) <= len(_COLOURS)
    colours = dict(zip(extenders, _COLOURS if few else _COLOURS[0] * len(extenders), strict=False))
    for extender, colour in colours.items() if few else ():
        plane.draw("", extender, colour)
    for number, method, x, y in shown:
        across, up, colour = float(plane.across(x)), float(plane.up(y)), colours[method.extender]
        dot = element("circle", element("title", method.name), cx=across, cy=up, r=5, class_=f"fill-{colour}")
        plane.draw(dot + written(str(number), across + 7, up + 5))
    caption = f"{comparison.measures[measure]}, against time; the number of a dot is that of its method."
    caption = caption[0].upper() + caption[1:]
    rows = [(method.name, x, y) for _, method, x, y in shown]
    return chart(measure, caption, plane, ("method", "seconds", measure), rows)


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
        Table("Seconds by stage", ("method", *stages), by_stage, wide=True),
    ]


def _bars(title: str, unit: str, values: dict[str, float]) -> Table:
    return Table(title, ("method", unit), list(values.items()), bars=True)


def _options(comparison: Comparison) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in comparison.options.items() if value != ""]
