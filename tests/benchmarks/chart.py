"""Draw the chart of the README, ``docs/figures/speed.svg``: ``python -m tests.benchmarks.chart``."""

import statistics
import tomllib
from pathlib import Path

from overlapper.drawing import Drawing, element, standalone, written

FOLDER = Path(__file__).parents[2] / "docs" / "figures"
PROGRAMS = {"ours": ("overlapper", "a"), "minimap2": ("minimap2 2.24", "b")}
BAR, GAP, HEAD, ROOM = 16, 18, 46, 74


def drawing(sets, panels, columns):
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
                        "rect", x=x, y=at, width=length, height=BAR - 3, class_=f"fill-{PROGRAMS[program][1]}"
                    )
                )
                body.append(
                    written(f"{value:,.3g}" if value < 100 else f"{value:,.0f}", x + length + 5, at + 12)
                )
    for number, (name, colour) in enumerate(PROGRAMS.values()):
        body.append(
            element("rect", x=left + 150 * number, y=10, width=14, height=12, class_=f"fill-{colour}")
        )
        body.append(written(name, left + 20 + 150 * number, 21))
    height = HEAD + rows * -(-len(panels) // columns)
    return Drawing("".join(body), float(columns * (width + 30) + left), float(height))


def chart():
    """Return the picture."""
    sets = tomllib.loads((FOLDER / "speed.toml").read_text())["set"]
    seconds = [{name: statistics.median(each[name]["seconds"]) for name in PROGRAMS} for each in sets]
    memory = [{name: each[name]["megabytes"] for name in PROGRAMS} for each in sets]
    panels = [("Time", "seconds", seconds), ("Memory", "megabytes", memory)]
    names = [each["reads"] for each in sets]
    said = "; ".join(
        f"{name}: {s['ours']:.3g} and {s['minimap2']:.3g} seconds, {m['ours']} and {m['minimap2']} megabytes"
        for name, s, m in zip(names, seconds, memory, strict=True)
    )
    title = "All overlaps of a read set on two threads, overlapper and minimap2"
    return standalone(drawing(names, panels, 2), drawing(names, panels, 1), title, f"{said}.")


if __name__ == "__main__":
    (FOLDER / "speed.svg").write_text(chart())
