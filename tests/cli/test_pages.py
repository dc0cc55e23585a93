"""Every block of commands and of Python in the documentation runs, page by page, on small files.

The blocks of a page run in order, in a folder that holds the files of `given`. Words behind ``sh`` tell what
a block needs (programs, `NEEDS`) or why it is not run here (`ELSEWHERE`).
"""

import re
import shlex
import shutil
import subprocess

import pytest

from tests.cli.given import write_given
from tests.cli.runner import ROOT, shell

ELSEWHERE = {
    "first": "installs, and runs the tests: .ci/run does it word for word",
    "install": "changes the environment: .ci/run makes new ones",
    "develop": "runs the tests, or what .ci/run runs",
    "cluster": "needs several processes or hosts: tests of tiles run it",
    "gpu": "needs GPUs: the tests in tests/gpu run it",
    "benchmark": "takes minutes to hours",
    "parents": "tests/cli/test_parents.py runs it",
    "hic": "tests/cli/test_hic.py runs it",
    "ul": "tests/cli/test_ultra_long.py runs it",
    "snakemake": "tests/cli/test_pipelines.py runs it",
    "outside": "needs what is not on the package index, or not in the extra for tests",
}
NEEDS = "needs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```(sh|python)[ ]?(.*)\n((?:.*\n)*?)^```$", re.MULTILINE)


def blocks_of(page):
    """Return language, words behind it and text of each block that is to run."""
    return [m.groups() for m in BLOCK.finditer(page.read_text()) if m[2] not in ELSEWHERE]


@pytest.fixture(scope="session")
def given(tmp_path_factory):
    """A folder of the files that the pages speak of."""
    folder = tmp_path_factory.mktemp("given")
    write_given(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks_of(page)], ids=lambda path: str(path.relative_to(ROOT))
)
def test_the_blocks_of_a_page_run(page, given, command, tmp_path):
    shutil.copytree(given, tmp_path, dirs_exist_ok=True)
    names: dict = {}
    for language, words, text in blocks_of(page):
        if not set(words.removeprefix(NEEDS).split()) <= installed(words):
            continue
        if language == "python":
            exec(compile(text, str(page), "exec"), names)
            continue
        for line in text.replace("\\\n", " ").splitlines():
            run_line(line, command)


def installed(words):
    """Return which of the programs that a block needs are there."""
    assert not words or words.startswith(NEEDS), f"'{words}' behind sh is none of {', '.join(ELSEWHERE)}"
    return {word for word in words.split() if shutil.which(word)}


def run_line(line, command):
    """Run a line within this process if it is a plain command of ours, which is quicker, else in bash."""
    plain = line.startswith("overlapper ") and not set("|<>&;$*") & set(line.partition(" #")[0])
    if plain:
        result = command(*shlex.split(line, comments=True)[1:])
        assert result.code == 0, f"{line}\n{result.err}"
    else:
        result = shell(line, stderr=subprocess.STDOUT, text=True)
        assert result.returncode == 0, f"{line}\n{result.stdout}"


def test_the_script_finds_blocks():
    text = (ROOT / "docs" / "tutorial.md").read_text()
    assert len(blocks_of(ROOT / "docs" / "tutorial.md")) == text.count("```sh") + text.count("```python") > 5


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_all_blocks_that_look_like_commands_are_labelled(page):
    """A block without a language is output or a drawing: no line of it starts with a program."""
    for label, text in re.findall(r"^```(.*)\n((?:.*\n)*?)^```$", page.read_text(), re.MULTILINE):
        assert label.partition(" ")[0] in ("", "sh", "python", "toml", "{include}", "{eval-rst}")
        assert label or not re.search(
            r"^(\$|overlapper|pip|python|snakemake|nextflow) ", text, re.MULTILINE
        ), text
