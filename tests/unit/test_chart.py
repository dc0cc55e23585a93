"""The charts of the README and of the benchmarks are those of their figures, and these are measured ones."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from tests.benchmarks import chart

NOTES = chart.FOLDER.parent / "notes"


@pytest.mark.parametrize("name", chart.CHARTS)
def test_the_picture_is_that_of_the_recorded_figures(name):
    picture = chart.CHARTS[name]()
    assert (chart.FOLDER / f"{name}.svg").read_text() == picture, "run python -m tests.benchmarks.chart"
    ElementTree.fromstring(picture)


def test_every_recorded_time_is_one_of_the_notes():
    page = (NOTES / "speed.md").read_text()
    for each in chart.sets_of("speed"):
        row = row_of(page, each["reads"].partition(" (")[0])
        for program in chart.PROGRAMS:
            for seconds in each[program]["seconds"]:
                assert re.search(rf"\b{re.escape(f'{seconds:.3g}')}\b|{seconds:.2f}", row), seconds
            assert f"{each[program]['megabytes']} MB" in row


def test_every_recorded_accuracy_is_one_of_the_notes():
    page = (NOTES / "overlaps.md").read_text()
    for each in chart.sets_of("accuracy"):
        cells = [cell.strip() for cell in row_of(page, each["name"]).split("|")[2:6]]
        recorded = [
            each[program][measure] for program in chart.PROGRAMS for measure in ("recall", "precision")
        ]
        assert [float(cell.partition(" ")[0]) for cell in cells] == recorded


def row_of(page, name):
    """Return the row of a table that begins with a name."""
    return next(line for line in page.splitlines() if line.startswith(f"| {name} |"))
