"""The frame of the command line: start-up, help, errors and exit codes."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from overlapper import cli
from overlapper.version import __version__

HEAVY = ("numba", "numpy", "scipy", "networkx", "pysam", "pandas", "pyarrow")


def run(*args, **options):
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, **options)


def run_with_command(body, *args):
    """Run the command line with one more command, ``probe``, whose body is given."""
    script = (
        "import os, sys\nfrom overlapper import cli\nfrom overlapper.errors import *\n"
        f"@cli.app.command()\ndef probe():\n{textwrap.indent(body, '    ')}\ncli.main()\n"
    )
    return run("-c", script, "probe", *args)


def test_version_is_printed():
    result = run("-m", "overlapper", "--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"overlapper {__version__}\n", "")


def test_reading_the_command_files_loads_nothing_heavy():
    result = run("-c", f"import overlapper.cli, sys; print([m for m in {HEAVY} if m in sys.modules])")
    assert result.stdout == "[]\n"


@pytest.mark.parametrize("module", cli.COMMANDS, ids=lambda m: m.__name__)
def test_every_help_ends_with_examples_line_by_line(module):
    name = module.__name__.rpartition(".")[2]
    result = run("-m", "overlapper", name, "--help", env={**os.environ, "COLUMNS": "200"})
    assert result.returncode == 0
    *_, examples = result.stdout.partition("Examples:\n")
    assert examples.startswith(f"    overlapper {name} ")
    assert [line.strip() for line in examples.splitlines()] == [
        line.strip() for line in module.EXAMPLES.strip().splitlines()
    ]


def test_wrong_usage_exits_2_without_traceback():
    for args in (["nonsense"], ["--nonsense"]):
        result = run("-m", "overlapper", *args)
        assert result.returncode == 2
        assert "nonsense" in result.stderr
        assert "Traceback" not in result.stderr


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


def test_interrupt_exits_130_quietly():
    result = run_with_command(f"os.kill(os.getpid(), {int(signal.SIGINT)}); import time; time.sleep(60)")
    assert result.returncode == 130
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_closed_pipe_is_no_fault(lines):
    body = f"for i in range({lines}): print(i)"
    script = f"from overlapper import cli\n@cli.app.command()\ndef probe():\n    {body}\ncli.main()"
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as closed:
        result = subprocess.run(
            [sys.executable, "-c", script, "probe"], stdout=closed, stderr=subprocess.PIPE, text=True
        )
    assert (result.returncode, result.stderr) == (1, "")
