"""The processes that compile the kernels of a first run beside it."""

import subprocess

import pytest

from overlapper.cli import first_kernels
from tests.cli.kernels import listed
from tests.cli.runner import python


@pytest.mark.slow
def test_listed_kernels_are_those_that_commands_call():
    assert first_kernels.LISTED.read_text() == listed(), "run python -m tests.cli.kernels"


def test_a_helper_compiles_its_share(tmp_path):
    lines = first_kernels._listed()["layout"]
    share = next(i for i, line in enumerate(lines[::-1]) if line.startswith("packing.hash_names("))
    python(
        "-m", "overlapper.cli.first_kernels", "layout", str(share), str(len(lines)),
        env={"NUMBA_CACHE_DIR": str(tmp_path)}, check=True,
    )  # fmt: skip
    compiled = {path.name.partition("-")[0] for path in tmp_path.rglob("*.nbc")}
    assert compiled == {"packing.hash_names", "packing.hash_bytes"}


@pytest.fixture
def started(monkeypatch):
    """Return the list of the processes that are started."""
    processes = []

    class Process(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Process)
    return processes


def test_helpers_end_with_their_context(started):
    with first_kernels.helpers("overlap_chain", 2):
        assert len(started) == 2
    assert all(process.poll() is not None for process in started)


@pytest.mark.parametrize(("command", "processes"), [("overlap_chain", 0), ("simulate", 3)])
def test_one_thread_and_short_commands_have_no_helpers(started, command, processes):
    with first_kernels.helpers(command, processes):
        assert not started
