"""Draw the charts of the README and of ``docs/benchmarks.md``: ``python -m tests.benchmarks.chart``."""

import statistics
import tomllib
from pathlib import Path

from overlapper.drawing import Drawing, element, standalone, written

FOLDER = Path(__file__).parents[2] / "docs" / "figures"
PROGRAMS = {"ours": "a", "minimap2": "b"}
"""Of the figures, with the colours of their bars."""
BAR, GAP, HEAD, ROOM = 16, 18, 46, 74


def sets_of(name):
    """Return the sets of a file of recorded figures."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text())["set"]


def drawing(sets, panels, columns, version):
    """Return bars of each set, a panel a measure, the panels in so many columns."""
    width, left = 330, 12
    rows = 40 + (2 * BAR + GAP + 14) * len(sets)
    body = []
    for number, (title, unit, values) in enumerate(panels):
        x, y = left + number % columns * (width + 30), HEAD + number // columns * rows
        longest = max(max(pair.values()) for pair in values)
        body.append(written(f"{title}, {unit}", x, y, font_weight="bold"))
        for row, (name, pair) in enumerate(zip(sets, values, strict=True)):
            top = y + 14 + row * (2 * BAR + GAP + 14)
            body.append(written(name, x, top + 10))
            for line, (program, value) in enumerate(pair.items()):
                length = (width - ROOM) * value / longest
                at = top + 16 + line * BAR
                body.append(
                    element(
                        "rect", x=x, y=at, width=length, height=BAR - 3, class_=f"fill-{PROGRAMS[program]}"
                    )
                )
                body.append(
                    written(f"{value:,.3g}" if value < 100 else f"{value:,.0f}", x + length + 5, at + 12)
                )
    for number, (program, colour) in enumerate(PROGRAMS.items()):
        body.append(
            element("rect", x=left + 150 * number, y=10, width=14, height=12, class_=f"fill-{colour}")
        )
        name = "overlapper" if program == "ours" else f"minimap2 {version}"
        body.append(written(name, left + 20 + 150 * number, 21))
    height = HEAD + rows * -(-len(panels) // columns)
    return Drawing("".join(body), float(columns * (width + 30) + left), float(height))


def picture(names, panels, version, title, said):
    """Return a picture of panels side by side, and below each other where it is narrow."""
    wide, narrow = (drawing(names, panels, columns, version) for columns in (2, 1))
    return standalone(wide, narrow, title, said)


def speed():
    """Return the picture of times and memory."""
    sets = sets_of("speed")
    seconds = [{name: statistics.median(each[name]["seconds"]) for name in PROGRAMS} for each in sets]
    memory = [{name: each[name]["megabytes"] for name in PROGRAMS} for each in sets]
    panels = [("Time", "seconds", seconds), ("Memory", "megabytes", memory)]
    names = [each["reads"] for each in sets]
    said = "; ".join(
        f"{name}: {s['ours']:.3g} and {s['minimap2']:.3g} seconds, {m['ours']} and {m['minimap2']} megabytes"
        for name, s, m in zip(names, seconds, memory, strict=True)
    )
    title = "All overlaps of a read set on two threads, overlapper and minimap2"
    return picture(names, panels, "2.24", title, f"{said}.")


def accuracy():
    """Return the picture of what is missed and what is wrong."""
    sets = sets_of("accuracy")
    missed, wrong = (
        [{name: round(100 - 100 * each[name][measure], 2) for name in PROGRAMS} for each in sets]
        for measure in ("recall", "precision")
    )
    panels = [("Overlaps missed", "percent", missed), ("Overlaps that are wrong", "percent", wrong)]
    names = [each["reads"] for each in sets]
    said = "; ".join(
        f"{name}: {m['ours']:.3g} and {m['minimap2']:.3g} percent missed, "
        f"{w['ours']:.3g} and {w['minimap2']:.3g} wrong"
        for name, m, w in zip(names, missed, wrong, strict=True)
    )
    title = "Overlaps missed and overlaps that are wrong, overlapper and minimap2"
    return picture(names, panels, "2.30", title, f"{said}.")


CHARTS = {"speed": speed, "accuracy": accuracy}

if __name__ == "__main__":
    for name, chart in CHARTS.items():
        (FOLDER / f"{name}.svg").write_text(chart())
