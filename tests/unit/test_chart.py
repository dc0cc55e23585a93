"""The chart of the README is that of its figures."""

import re
import xml.etree.ElementTree as ElementTree

from tests.benchmarks import chart


def test_the_picture_is_that_of_the_recorded_figures():
    assert (chart.FOLDER / "speed.svg").read_text() == chart.chart(), "run python -m tests.benchmarks.chart"
    ElementTree.fromstring(chart.chart())


def test_every_recorded_figure_is_one_of_the_benchmarks():
    page = (chart.FOLDER.parent / "benchmarks.md").read_text()
    for each in chart.tomllib.loads((chart.FOLDER / "speed.toml").read_text())["set"]:
        row = next(
            line for line in page.splitlines() if line.startswith(f"| {each['reads'].partition(' (')[0]} |")
        )
        for program in chart.PROGRAMS:
            for seconds in each[program]["seconds"]:
                assert re.search(rf"\b{re.escape(f'{seconds:.3g}')}\b|{seconds:.2f}", row), seconds
            assert f"{each[program]['megabytes']} MB" in row
