"""The pages that speak of commands and tables are true."""

import dataclasses
import re

import pytest

import overlapper
from docs.tools import commands, manual
from overlapper import cli, graph, index, plots, report, tables
from tests.cli.runner import ROOT
from tests.cli.runner import overlapper as run_overlapper


def test_the_command_reference_is_that_of_the_commands():
    assert commands.PATH.read_text() == commands.reference(), "run python -m docs.tools.commands"


def test_the_manual_pages_are_those_of_the_commands():
    kept = {path.name: path.read_text() for path in manual.FOLDER.iterdir()}
    assert kept == manual.pages(), "run python -m docs.tools.commands"


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_option_that_help_shows_is_in_the_reference(command):
    words = cli.words_of(command)
    text = run_overlapper(*words, "--help", text=True).stdout
    shown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - {"--help"}
    page = commands.PATH.read_text()
    start = page.index(f"## {' '.join(words)}\n")
    section = page[start:].partition("\n## ")[0]
    assert shown <= set(re.findall(r"--[a-z-]+", section))


def columns_on_the_page(table):
    """Return the types by column that the page names, those of a table that a section refers to first."""
    page = (ROOT / "docs" / "data-model.md").read_text()
    section = page[page.index(f"## {table}\n") :].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| `(.+?)` \|", section, re.MULTILINE))
    of_another = re.search(r"The columns of `(\w+)`", section)
    return (columns_on_the_page(of_another[1]) if of_another else {}) | rows


@pytest.mark.parametrize(
    "table", [getattr(tables, name) for name in tables.__all__ if not name.endswith(("Class", "Kind"))]
)
def test_the_data_model_names_every_column_and_type(table):
    rows = columns_on_the_page(table.__name__)
    columns = {f.name: f.metadata["dtype"].name for f in dataclasses.fields(table) if "dtype" in f.metadata}
    assert {name: kind.partition("[")[0] for name, kind in rows.items()} == columns


@pytest.mark.parametrize("package", [overlapper, graph, index, plots, report], ids=lambda p: p.__name__)
def test_the_library_page_names_every_public_name(package):
    page = (ROOT / "docs" / "api.md").read_text()
    homes = ("overlapper", package.__name__)
    wanted = set(package.__all__) - {"__version__", "OverlapperError"}
    assert [name for name in wanted if not any(f":: {home}.{name}\n" in page for home in homes)] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "algorithms").iterdir()), ids=lambda path: path.name)
def test_every_algorithm_has_a_drawing(page):
    drawings = re.findall(r"^ *```\n((?:.*\n)*?) *```$", page.read_text(), re.MULTILINE)
    assert any(len(re.findall("[─═●│]", drawing)) > 5 or "column" in drawing for drawing in drawings)


def test_the_page_of_examples_names_every_script():
    page = (ROOT / "docs" / "examples.md").read_text()
    scripts = [path.name for path in (ROOT / "examples").iterdir() if path.suffix in (".py", ".ipynb")]
    assert [name for name in scripts if f"| [{name}](../examples/{name}) |" not in page] == []


def test_the_messages_that_tuning_explains_are_messages():
    source = "".join(path.read_text() for path in (ROOT / "overlapper").rglob("*.py"))
    source = re.sub(r'"\s*f?"', "", source)  # strings that go on in the next line
    page = (ROOT / "docs" / "tuning.md").read_text()
    messages = re.findall(r"^\| `(.+?)`", page[page.index("## By message") :], re.MULTILINE)
    parts = [part.strip() for message in messages for part in message.split("…") if part.strip()]
    assert len(messages) > 5
    assert [part for part in parts if part not in source] == []


@pytest.mark.parametrize(
    "page", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]), ids=lambda path: path.name
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text()):
        assert (page.parent / target).exists(), target
