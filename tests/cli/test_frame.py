"""The frame of the command line: start-up, help, errors and exit codes."""

import os
import shutil
import sys
import textwrap

import pytest

from overlapper import cli
from overlapper.runtime.compile.processor import compile_for_common_processor
from overlapper.version import __version__
from tests.cli import forks
from tests.cli.runner import overlapper, python, run, shell

HEAVY = ("numba", "numpy", "scipy", "networkx", "pysam", "pandas", "pyarrow", "matplotlib")


def run_with_command(body, *args):
    """Run the command line with one more command, ``probe``, whose body is given."""
    script = (
        "import os, sys\nfrom overlapper import cli\nfrom overlapper.errors import *\n"
        f"@cli.app.command()\ndef probe():\n{textwrap.indent(body, '    ')}\ncli.main()\n"
    )
    return python("-c", script, "probe", *args, text=True)


def test_version_is_printed():
    result = python("-m", "overlapper", "--version", text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"overlapper {__version__}\n", "")


def test_reading_the_command_files_loads_nothing_heavy():
    read = "import sys; from overlapper import cli; [cli.module_of(command) for command in cli.COMMANDS]"
    result = python("-c", f"{read}; print([m for m in {HEAVY} if m in sys.modules])", text=True)
    assert result.stdout == "[]\n"


KERNELS_OF_A_COMMAND = """
import sys
from overlapper.runtime.compile.startup import load_numba
load_numba()
import numpy as np
from numba import njit
from overlapper.kernels.common.sorting import sort_few

def ordered(values):
    sort_few(values)
    return values.tolist()

print("scipy" in sys.modules, ordered(np.array([3, 1, 2])), sort_few.stats.cache_hits.total())
compiled = njit(sort_few.py_func), njit(lambda values: sort_few(values))
for kernel in compiled:
    values = np.array([6, 5, 4])
    kernel(values)
    print(values.tolist())
"""


def test_a_command_takes_kernels_from_the_cache_and_compiles_others_that_call_them():
    python("-c", KERNELS_OF_A_COMMAND)
    result = python("-c", KERNELS_OF_A_COMMAND, text=True)
    assert result.stdout.splitlines() == ["False [1, 2, 3] 1", "[4, 5, 6]", "[4, 5, 6]"], result.stderr


INSTALLED = {
    "coverage.py": "print('coverage')\nraise ImportError",
    "extension.py": "def init():\n    print('extension')",
    "extension-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: extension\nVersion: 1\n",
    "extension-1.dist-info/entry_points.txt": "[numba_extensions]\ninit = extension:init\n",
}
"""A folder of packages in which numba finds something to load."""
COMPILING = """
from overlapper.runtime.compile.startup import load_numba
load_numba()
from overlapper.runtime.compile.cache import njit
print(njit(cache=False)(lambda x: x + 1)(1))
"""


def test_numba_loads_no_other_packages_in_a_command(tmp_path):
    for name, text in INSTALLED.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}){COMPILING}"
    result = python("-c", script, env={"NUMBA_CACHE_DIR": str(tmp_path / "kept")}, text=True)
    assert result.stdout == "2\n", result.stderr


def test_a_command_within_this_process_leaves_others_forks():
    """Processes of their own take seconds more for each command of the tests."""
    compile_for_common_processor()
    assert not forks.would_differ(dict(os.environ))
    assert forks.would_differ({**os.environ, "NUMBA_OPT": "1"})


@pytest.mark.parametrize(
    ("arguments", "called"),
    [
        (["layout", "graph", "stats"], ["layout"]),
        (["graph", "stats", "layout"], ["graph_stats"]),
        (["graph"], list(cli.COMMANDS)),
        (["--help"], list(cli.COMMANDS)),
        ([], list(cli.COMMANDS)),
    ],
)
def test_a_call_reads_the_file_of_its_command(arguments, called):
    assert cli.called_by(arguments) == called


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_help_ends_with_examples_line_by_line(command):
    words = cli.words_of(command)
    result = overlapper(*words, "--help", env={"COLUMNS": "200"}, text=True)
    assert result.returncode == 0
    *_, examples = result.stdout.partition("Examples:\n")
    assert examples.startswith(f"    overlapper {' '.join(words)} ")
    assert [line.strip() for line in examples.splitlines()] == [
        line.strip() for line in cli.module_of(command).EXAMPLES.strip().splitlines()
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("overlapper la", {"layout"}),
        ("overlapper plot p", {"pair", "pile"}),
        ("overlapper layout --min", {"--min-overlap", "--min-depth"}),
    ],
)
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_commands_and_options(words, expected):
    program = f"overlapper() {{ {sys.executable} -m overlapper; }}; export -f overlapper"
    script = (
        f'{program}; eval "$(_OVERLAPPER_COMPLETE=source_bash overlapper | sed s/env//)"\n'
        f"COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _overlapper_completion overlapper\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    result = run("bash", "-c", script, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert set(result.stdout.split()) == expected


def test_an_error_of_ours_is_one_line_and_exits_1():
    result = run_with_command('raise FormatError("no @ found", file="a.fq", record="7", remedy="Mend it.")')
    assert result.returncode == 1
    assert result.stderr == "overlapper: error: file a.fq, record 7: no @ found. Mend it.\n"
    assert result.stdout == ""


def test_an_unexpected_exception_shows_its_traceback_and_asks_for_a_report():
    result = run_with_command("[][1]")
    assert result.returncode == 70
    assert result.stderr.startswith("Traceback")
    assert "IndexError: list index out of range" in result.stderr
    assert "please report it" in result.stderr.splitlines()[-1]


def test_what_ends_too_early_within_is_a_fault_and_no_user_who_aborts():
    result = run_with_command("raise EOFError")
    assert result.returncode == 70
    assert "please report it" in result.stderr.splitlines()[-1]


def test_too_little_memory_is_no_fault():
    result = run_with_command("raise MemoryError")
    assert (result.returncode, len(result.stderr.splitlines())) == (1, 1)
    assert "not enough memory" in result.stderr


def test_too_many_open_files_are_no_matter_of_space():
    result = run_with_command(
        "import os, resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))\n"
        "files = [os.open(os.devnull, os.O_RDONLY) for _ in range(50)]"
    )
    assert (result.returncode, len(result.stderr.splitlines())) == (1, 1)
    assert "ulimit -n allows 40" in result.stderr
    assert "space" not in result.stderr


def test_standard_output_that_was_closed_is_an_error():
    result = shell("overlapper --version >&-", text=True)
    assert result.returncode == 1
    said = "overlapper: error: standard output cannot be written: Bad file descriptor. "
    assert result.stderr.startswith(said)
    assert len(result.stderr.splitlines()) == 1


def test_other_standard_streams_may_be_closed():
    result = shell("overlapper --version <&- 2>&-", text=True)
    assert (result.returncode, result.stdout) == (0, f"overlapper {__version__}\n")
