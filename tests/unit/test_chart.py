"""The charts of the README and of the benchmarks are those of their figures, and these are measured ones."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from docs.tools import chart

NOTES = chart.FOLDER.parent / "notes"


@pytest.mark.parametrize("name", chart.CHARTS)
def test_the_picture_is_that_of_the_recorded_figures(name):
    title, parts = chart.CHARTS[name]
    picture = chart.picture(title, [panel for part in parts for panel in part()])
    assert (chart.FOLDER / f"{name}.svg").read_text() == picture, "run python -m docs.tools.chart"
    ElementTree.fromstring(picture)


def test_every_recorded_time_is_one_of_the_notes():
    page = (NOTES / "speed.md").read_text()
    for each in chart.sets_of("speed"):
        row = row_of(page, each["reads"].partition(" (")[0])
        for program in ("ours", "minimap2"):
            for seconds in each[program]["seconds"]:
                assert re.search(rf"\b{re.escape(f'{seconds:.3g}')}\b|{seconds:.2f}", row), seconds
            assert f"{each[program]['megabytes']} MB" in row


def test_every_recorded_accuracy_is_one_of_the_notes():
    page = (NOTES / "overlaps.md").read_text()
    for each in chart.sets_of("accuracy"):
        cells = [cell.strip() for cell in row_of(page, each["name"]).split("|")[2:6]]
        recorded = [
            each[program][measure] for program in ("ours", "minimap2") for measure in ("recall", "precision")
        ]
        assert [float(cell.partition(" ")[0]) for cell in cells] == recorded


def test_every_recorded_assembly_is_one_of_the_notes():
    lines = (NOTES / "assembly.md").read_text().splitlines()
    for each in chart.sets_of("contigs"):
        for program, figures in each.items():
            if program != "reads":
                row = f"| {each['reads']} | {program} | {figures['cpu_seconds']} | {figures['megabytes']:,} |"
                assert any(line.startswith(row) for line in lines), row


def row_of(page, name):
    """Return the row of a table that begins with a name."""
    return next(line for line in page.splitlines() if line.startswith(f"| {name} |"))
