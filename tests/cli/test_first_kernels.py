"""The processes that compile the kernels of a first run beside it."""

import subprocess

import pytest

from docs.tools.kernels import listed
from overlapper.cli import first_kernels
from tests.cli.runner import python


@pytest.mark.slow
def test_listed_kernels_are_those_that_commands_call():
    assert first_kernels.LISTED.read_text() == listed(), "run python -m docs.tools.kernels"


def test_a_helper_compiles_its_share(tmp_path):
    lines = first_kernels._listed()["layout"]
    share = next(i for i, line in enumerate(lines[::-1]) if line.startswith("text.packing.hash_names("))
    python(
        "-m", "overlapper.cli.first_kernels", "layout", str(share), str(len(lines)),
        env={"NUMBA_CACHE_DIR": str(tmp_path)}, check=True,
    )  # fmt: skip
    compiled = {path.name.partition("-")[0] for path in tmp_path.rglob("*.nbc")}
    assert compiled == {"packing.hash_names", "packing.hash_bytes"}


def test_helpers_leave_what_only_some_reads_need():
    listed, needed = first_kernels._listed(), first_kernels._always_needed("assemble")
    runs = [set(lines) for name, lines in listed.items() if name.startswith("assemble")]
    assert needed == [line for line in listed["assemble"] if line in set.intersection(*runs)]
    widths = [line for line in needed if line.startswith("seeds.seed_index.partition(")]
    assert len(widths) == 1 and len(needed) < len(listed["assemble"])
    assert first_kernels._always_needed("layout") == listed["layout"]


def test_compile_makes_what_is_not_there_and_says_where(command, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    short = [
        line
        for line in first_kernels.kernels_of(["overlap"])
        if line.startswith(("text.packing.hash_names(", "seeds.occurrences.count_hits("))
    ]
    assert len(short) == 2
    monkeypatch.setattr(first_kernels, "kernels_of", lambda *_: short)
    for compiled in (2, 0):
        result = command("compile", "overlap", "-t", "2")
        assert result.code == 0, result.err
        assert f"{compiled} kernels compiled" in result.err
        assert f"{2 - compiled} were there" in result.err
        assert (str(tmp_path / "kept") in result.err) == (compiled > 0)


def test_parts_of_the_longest_kernel_are_compiled_for_kernels(monkeypatch):
    parts = [line for line in first_kernels.kernels_of(["correct"]) if line.startswith(first_kernels.PARTS)]
    assert len(parts) == len(first_kernels.PARTS)
    for line in parts:
        kernel, types = first_kernels.kernel_of(line)
        assert kernel._cache._for_kernels
        assert first_kernels.spelled(kernel, types, for_kernels=True) == line
    monkeypatch.setattr(first_kernels, "is_plain", lambda: True)
    assert not first_kernels.kernel_of(line)[0]._cache._for_kernels


def test_kernels_of_all_ways_of_a_command_are_compiled_once():
    listed = first_kernels._listed()
    of_overlap = {line for name, lines in listed.items() if name.startswith("overlap") for line in lines}
    found = first_kernels.kernels_of(["overlap"])
    assert (set(found), len(found)) == (of_overlap, len(of_overlap))
    assert set(first_kernels.kernels_of([], True)) == set().union(*listed.values())


def test_helpers_compile_the_longest_kernels_first():
    for everything in (first_kernels.kernels_of(["assemble"]), first_kernels.kernels_of([], True)):
        assert everything[0].startswith("consensus.consensus._consensus(")
        longest = everything[: len(first_kernels.PARTS) + 1]
        assert [line.partition("(")[0] for line in longest] == [*first_kernels.PARTS, first_kernels.WHOLE]
        is_long = [line.startswith(first_kernels._LONGEST) for line in everything]
        assert is_long == sorted(is_long, reverse=True)
    assert first_kernels.kernels_of(["layout"]) == first_kernels._listed()["layout"][::-1]
    for begins in first_kernels._LONGEST:
        assert any(line.startswith(begins) for line in everything)


@pytest.mark.parametrize("words", [[], ["simulate"], ["overlap", "overlap_chain"]])
def test_commands_without_listed_kernels_are_told(command, words):
    result = command("compile", *words)
    assert result.code == 1
    assert (
        "compile takes --all, or some of: align, assemble, correct, layout, map, overlap, polish"
        in result.err
    )


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


def test_no_more_processes_compile_than_there_are_processors(started, monkeypatch):
    monkeypatch.setattr(first_kernels, "available_threads", lambda: 1)
    lines = [line for line in first_kernels.kernels_of(["overlap"]) if line.startswith("text.packing.")]
    assert len(list(first_kernels.compile_all(lines, 10**9))) == len(lines) > 1
    assert len(started) == 1


@pytest.mark.parametrize(("command", "processes"), [("overlap_chain", 0), ("simulate", 3)])
def test_one_thread_and_short_commands_have_no_helpers(started, command, processes):
    with first_kernels.helpers(command, processes):
        assert not started
