"""Draw the charts of the README and of ``docs/benchmarks.md``: ``python -m docs.tools.chart``."""

import dataclasses
import statistics
import tomllib
from pathlib import Path

from overlapper.drawing import Drawing, element, standalone, written

FOLDER = Path(__file__).parents[2] / "docs" / "figures"
COLOURS = {"overlapper": "a", "minimap2": "b", "hifiasm": "c", "Flye": "d"}
"""Of the bars, by the first word of a program."""
BAR, GAP, HEAD, ROOM, WIDTH, BETWEEN, LEFT = 16, 18, 46, 74, 250, 30, 12


@dataclasses.dataclass(frozen=True)
class Panel:
    """A measure of several sets: by set, values by program."""

    title: str
    unit: str
    values: dict[str, dict[str, float]]

    @property
    def height(self):
        """Pixels."""
        return 40 + (2 * BAR + GAP + 14) * len(self.values)

    def draw(self, x, y):
        """Return bars of each set below each other, from a place on."""
        longest = max(max(pair.values()) for pair in self.values.values())
        body = [written(f"{self.title}, {self.unit}", x, y, font_weight="bold")]
        for row, (name, pair) in enumerate(self.values.items()):
            top = y + 14 + row * (2 * BAR + GAP + 14)
            body.append(written(name, x, top + 10))
            for line, (program, value) in enumerate(pair.items()):
                length = (WIDTH - ROOM) * value / longest
                at = top + 16 + line * BAR
                fill = f"fill-{COLOURS[program.split()[0]]}"
                body.append(element("rect", x=x, y=at, width=length, height=BAR - 3, class_=fill))
                text = f"{value:,.3g}" if value < 100 else f"{value:,.0f}"
                body.append(written(text, x + length + 5, at + 12))
        return "".join(body)

    def told(self):
        """Return the values as a sentence."""
        sets = (
            f"{name} {' and '.join(f'{value:,.6g}' for value in pair.values())}"
            for name, pair in self.values.items()
        )
        return f"{self.title}, {self.unit}: {', '.join(sets)}."


def sets_of(name):
    """Return the sets of a file of recorded figures."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text())["set"]


def drawing(panels, columns):
    """Return panels, so many side by side."""
    versions = {}
    for program in {name: 0 for panel in panels for pair in panel.values.values() for name in pair}:
        name, _, version = program.partition(" ")
        versions.setdefault(name, []).append(version)
    body, x, y = [], LEFT, 10
    for name, each in versions.items():
        body.append(element("rect", x=x, y=y, width=14, height=12, class_=f"fill-{COLOURS[name]}"))
        text = f"{name} {' and '.join(each)}".strip()
        body.append(written(text, x + 20, y + 11))
        x += 34 + 7.5 * len(text)
        if columns == 1:
            x, y = LEFT, y + 22
    if columns == 1:
        y -= 22
    y += HEAD - 10
    for first in range(0, len(panels), columns):
        side = panels[first : first + columns]
        body += [panel.draw(LEFT + i * (WIDTH + BETWEEN), y) for i, panel in enumerate(side)]
        y += max(panel.height for panel in side)
    return Drawing("".join(body), float(columns * (WIDTH + BETWEEN) + LEFT), float(y))


def picture(title, panels):
    """Return a picture of panels, two side by side, or below each other where it is narrow."""
    said = " ".join(panel.told() for panel in panels)
    return standalone(drawing(panels, 2), drawing(panels, 1), title, said)


def speed():
    """Return time and memory of overlaps."""
    sets = {each["reads"]: each for each in sets_of("speed")}
    programs = {"overlapper": "ours", "minimap2 2.24": "minimap2"}
    seconds = {
        name: {program: statistics.median(each[key]["seconds"]) for program, key in programs.items()}
        for name, each in sets.items()
    }
    memory = {
        name: {program: each[key]["megabytes"] for program, key in programs.items()}
        for name, each in sets.items()
    }
    return [Panel("Overlaps: time", "seconds", seconds), Panel("Overlaps: memory", "megabytes", memory)]


def accuracy():
    """Return what is missed and what is wrong of overlaps."""
    programs = {"overlapper": "ours", "minimap2 2.30": "minimap2"}

    def share(measure):
        return {
            each["reads"]: {name: round(100 - 100 * each[key][measure], 2) for name, key in programs.items()}
            for each in sets_of("accuracy")
        }

    return [
        Panel("Overlaps missed", "percent", share("recall")),
        Panel("Overlaps that are wrong", "percent", share("precision")),
    ]


def contigs():
    """Return time and memory of contigs."""

    def measured(measure):
        return {
            each["reads"]: {
                name.replace("ours", "overlapper"): figures[measure]
                for name, figures in each.items()
                if name != "reads"
            }
            for each in sets_of("contigs")
        }

    return [
        Panel("Contigs: time", "CPU seconds", measured("cpu_seconds")),
        Panel("Contigs: memory", "megabytes", measured("megabytes")),
    ]


CHARTS = {
    "beside": ("overlapper compared with minimap2, hifiasm and Flye", (speed, accuracy, contigs)),
    "speed": ("All overlaps of a read set on two threads, overlapper and minimap2", (speed,)),
    "accuracy": ("Overlaps missed and overlaps that are wrong, overlapper and minimap2", (accuracy,)),
}
"""By the name of the file: title, and what gives its panels."""

if __name__ == "__main__":
    for name, (title, parts) in CHARTS.items():
        panels = [panel for part in parts for panel in part()]
        (FOLDER / f"{name}.svg").write_text(picture(title, panels))
