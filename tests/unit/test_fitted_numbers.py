"""What docs/notes/fitted-numbers.md names is there, and no number of the consensus is left out."""

import ast
import importlib
import re

import pytest

from tests.cli.runner import ROOT

PAGE = ROOT / "docs" / "notes" / "fitted-numbers.md"
NAMED = re.compile(r"`([^`]+)`")
CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")
WHERE = 2
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
NOT_FITTED = {
    # Time or memory alone.
    "correction/carried_tags.py": "MARGIN _BLOCK_BASES",
    "correction/consensus.py": "BLOCK_BASES",
    "correction/contradictions.py": "SHOWN",
    "correction/read_rounds.py": "_AT_A_TIME _FOR_THREADS _MOST_CONVERTING",
    "correction/reads.py": "_PART_BASES",
    "correction/pileup_source.py": "ROW_BYTES _BUCKET_ROWS _PART_ROWS _BASES_OF_ROW _BYTES_OF_ROW "
    "_PLACED_BITS _LOW BLOCK_OF_WORKER",
    "correction/resources.py": "VOTING A_READ A_UNITIG_BASE",
    "correction/read_consensus.py": "_AT_A_TIME",
    "kernels/consensus/equal_runs.py": "SHORTEST WIDTH AHEAD",
    "kernels/consensus/gap_lanes.py": "WIDTH WORD LOG_WORD MOST_WORDS LONGEST _NOWHERE _NONE "
    "_ROWS _COLUMNS _ROW_BASES _COLUMN_BASES _FIELDS",
    "kernels/consensus/gap_paths.py": "FEW ROOM STEP CLASSES _FIELDS",
    "kernels/consensus/kmer_places.py": "PASSED _LEAST_BUCKETS _LOG_FLAGS _LOG_WORD _AT_ONCE _NEVER _KNOWN",
    # Columns, codes, units, and values beyond all others.
    "correction/leaders.py": "ANY",
    "correction/motifs.py": "_MIDDLE",
    "kernels/consensus/erring_words.py": "_MIDDLE",
    "correction/settled.py": "_TO_THE_END",
    "correction/thresholds.py": "MOST_ASKED EVEN_VOTE",
    "correction/vote_settings.py": "RAW_DOUBT",
    "kernels/consensus/carry_over.py": "_GONE",
    "kernels/consensus/reconsider.py": "_NONE",
    "kernels/consensus/consensus.py": "COUNTS",
    "kernels/consensus/copy_filter.py": "SHARE",
    "kernels/consensus/copy_sites.py": "NOT_COMPARED PLACE NO_BASE",
    "kernels/consensus/error_probabilities.py": "UNIT ORDINARY WHOLE _KNOWN STAYS INNER CHANGED REFUSED",
    "kernels/consensus/haplotype_filter.py": "SAME OTHER",
    "kernels/consensus/crossings.py": "COLUMNS LONGEST _WORD",
    "kernels/consensus/layer_paths.py": "ANY_SURPLUS FARTHEST",
    "kernels/consensus/mem_anchors.py": "DIAGONALS _COLUMNS _WIDTH _STEPS _FAR",
    "kernels/consensus/next_draft.py": "_MOST_AGREED",
    "kernels/consensus/own_bases.py": "MILLION KINDS NOTHING SOMETHING _APART",
    "kernels/consensus/shares.py": "UNIT",
    "kernels/consensus/site_links.py": "UNIT _AT_ONCE _ROUNDED",
    "kernels/consensus/votes.py": "_WIDTH DELETION",
    # A warning alone.
    "correction/strands.py": "SAMPLE_TARGETS MOST_SHARED",
    "correction/unvoted.py": "WELL_COVERED",
}
"""Numbers of the consensus that decide no base, by file."""
OF_THE_CONSENSUS = [
    path
    for folder in ("correction", "kernels/consensus")
    for path in sorted((ROOT / "overlapper" / folder).glob("*.py"))
]


def places():
    """Return the number and what its place is called, row by row, of all tables of the page."""
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) > WHERE and cells[WHERE] not in ("where", "---"):
            yield cells[0], NAMED.findall(cells[WHERE])


def named_files():
    """Yield the files that places name, and the constants that are named before each."""
    for _, names in places():
        waiting = []
        for name in names:
            waiting.append(name)
            if name.endswith(".py"):
                yield name, waiting[:-1]
                waiting = []


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


def numbers_in(path):
    """Return the names of the numbers, and of tuples of numbers, that a module defines in upper case."""
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for statement in ast.parse(path.read_text()).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if not targets or ast.unparse(statement.value).startswith("range("):
            continue
        for name in (node.id for node in ast.walk(targets[0]) if isinstance(node, ast.Name)):
            value = getattr(module, name)
            numbers = value if isinstance(value, tuple) else (value,)
            if CONSTANT.fullmatch(name) and all(type(number) in (int, float) for number in numbers):
                yield name


@pytest.mark.parametrize("path", OF_THE_CONSENSUS, ids=lambda path: path.stem)
def test_every_number_of_the_consensus_is_on_the_page(path):
    file = str(path.relative_to(ROOT / "overlapper"))
    on_page = {constant for name, constants in named_files() if file.endswith(name) for constant in constants}
    not_fitted = set(NOT_FITTED.get(file, "").split())
    there = set(numbers_in(path))
    assert not there - on_page - not_fitted, "neither in docs/notes/fitted-numbers.md nor in NOT_FITTED"
    assert not not_fitted - there, "in NOT_FITTED, but no number of this file"
    assert not not_fitted & on_page, "in NOT_FITTED, and on the page, too"


def test_files_with_numbers_that_are_not_fitted_are_of_the_consensus():
    assert set(NOT_FITTED) <= {str(path.relative_to(ROOT / "overlapper")) for path in OF_THE_CONSENSUS}
