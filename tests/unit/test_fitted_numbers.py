"""What docs/notes/fitted-numbers.md names is there, where it says."""

import re

from tests.cli.runner import ROOT

PAGE = ROOT / "docs" / "notes" / "fitted-numbers.md"
NAMED = re.compile(r"`([^`]+)`")
CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")
WHERE = 2


def places():
    """Return the number and what its place is called, row by row, of all tables of the page."""
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) > WHERE and cells[WHERE] not in ("where", "---"):
            yield cells[0], NAMED.findall(cells[WHERE])


def defines(text, name):
    """Tell whether a module has a constant, alone or with others, or a function of a name."""
    return re.search(rf"^((\w+, )*{name}(, \w+)* = |def {name}\()", text, re.MULTILINE)


def test_every_place_is_there_and_has_what_is_named():
    files = {path: path.read_text() for top in ("overlapper", "graph") for path in (ROOT / top).rglob("*.py")}
    found = 0
    for number, names in places():
        assert names, f"{number}: no place is named"
        wanted = []
        for name in names:
            if CLASS.fullmatch(name):
                assert any(f"class {name}" in text for text in files.values()), f"{number}: no class {name}"
            elif not name.endswith(".py"):
                wanted.append(name)
            else:
                texts = [text for path, text in files.items() if f"/{path}".endswith(f"/{name}")]
                assert texts, f"{number}: there is no {name}"
                for constant in wanted:
                    assert any(defines(text, constant) for text in texts), f"{name} has no {constant}"
                wanted = []
            found += 1
        assert not wanted, f"{number}: no file is named behind {wanted}"
    assert found > 150
