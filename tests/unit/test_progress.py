"""What a run says on stderr."""

import io
import re
import subprocess
import sys
import time

import pytest

from overlapper.cli.progress import Progress, compile_notice
from overlapper.version import __version__

STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d "
FOOTER = [
    rf"overlapper {re.escape(__version__)}: overlapper.*",
    r"\d+\.\d s, \d+\.\d s of CPU time, \d+\.\d\d GB of memory at most",
]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def a_real_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")


def steps(progress):
    for step in ("reading", "overlapping"):
        for done in range(3):
            progress.report(step, done, 3)


def lines_of(text):
    """Return the lines of a log without their stamps, and its footer."""
    lines = text.splitlines()
    assert all(re.match(STAMP, line) for line in lines)
    lines = [line[20:] for line in lines]
    assert [bool(re.fullmatch(wanted, line)) for wanted, line in zip(FOOTER, lines[-2:], strict=True)] == [
        True,
        True,
    ]
    return lines[:-2]


def test_log_has_one_time_stamped_line_a_step():
    stream = io.StringIO()
    with Progress(stream=stream) as progress:
        steps(progress)
        progress.note("done")
    assert lines_of(stream.getvalue()) == ["reading", "overlapping", "done"]


def test_a_long_step_says_how_far_it_is(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with Progress(stream=stream) as progress:
        for done in range(5):
            progress.report("overlapping", done, 5)
            now[0] += 45
    assert lines_of(stream.getvalue()) == ["overlapping", "overlapping 40 %", "overlapping 80 %"]


def test_terminal_shows_a_bar_and_the_step_of_all():
    stream = Terminal()
    with Progress(stream=stream, phases=("reading", "overlapping", "writing")) as progress:
        steps(progress)
        progress._bar.refresh()
    text = stream.getvalue()
    assert "1/3 reading" in text
    assert "2/3 overlapping" in text
    assert "67%" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1, "the cursor comes back"


def test_time_left_is_said_once_it_is_known():
    stream = Terminal()
    with Progress(stream=stream) as progress:
        progress.report("reading")
        progress._bar.refresh()
        assert "left" not in stream.getvalue(), "how long reading takes is not known"
        for done in range(3):
            progress.report("overlapping", done, 1_000_000)
            time.sleep(0.02)
        progress._bar.refresh()
    assert re.search(r"0:00:00, \d+:\d\d:\d\d left", stream.getvalue())


def test_steps_have_the_number_of_their_phase():
    stream = io.StringIO()
    with Progress(stream=stream, phases=("reading", "correction", "layout")) as progress:
        for step in ("reading", "sorting reads", "correction, consensus", "layout, cleaning", "layout"):
            progress.report(step)
    assert lines_of(stream.getvalue()) == [
        "1/3 reading", "1/3 sorting reads", "2/3 correction, consensus", "3/3 layout, cleaning", "3/3 layout",
    ]  # fmt: skip


def test_note_stays_on_a_terminal():
    stream = Terminal()
    with Progress(stream=stream) as progress:
        progress.report("reading")
        progress.note("that was [all]")
    assert "that was [all]\n" in stream.getvalue()
    assert re.search(FOOTER[1], stream.getvalue())


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_quiet_says_nothing(stream):
    with Progress(quiet=True, stream=stream) as progress:
        steps(progress)
        progress.note("that was all")
    assert stream.getvalue() == ""


def test_quiet_shows_a_terminal_what_is_compiled():
    stream, log = Terminal(), io.StringIO()
    for where in (stream, log):
        with Progress(quiet=True, stream=where) as progress:
            progress.compiling("find_chains")
            if where is stream:
                progress._bar.refresh()
            progress.compiling("")
    assert "compiling find_chains" in stream.getvalue()
    assert log.getvalue() == ""


def test_an_error_has_no_footer(tmp_path):
    stream = io.StringIO()
    with (
        pytest.raises(ValueError, match="broken"),
        Progress(stream=stream, log=str(tmp_path / "l.txt")) as progress,
    ):
        progress.report("reading")
        raise ValueError("it is broken")
    assert [line[20:] for line in stream.getvalue().splitlines()] == ["reading"]
    assert [line[20:] for line in (tmp_path / "l.txt").read_text().splitlines()] == [
        "reading",
        "error: it is broken",
    ]


@pytest.mark.parametrize("quiet", [True, False])
@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_a_log_file_has_the_lines_of_the_log(tmp_path, kind, quiet):
    with Progress(quiet, kind(), log=str(tmp_path / "log.txt")) as progress:
        steps(progress)
        progress.note("done")
    assert lines_of((tmp_path / "log.txt").read_text()) == ["reading", "overlapping", "done"]


@pytest.mark.parametrize("verbose", [True, False])
def test_counts_of_nothing_are_for_who_wants_them(verbose):
    stream = io.StringIO()
    with Progress(stream=stream, verbose=verbose) as progress:
        progress.counts({"reads": 1200, "low score": 0})
    assert [line.split() for line in lines_of(stream.getvalue())] == [
        ["1,200", "reads"],
        ["0", "low", "score"],
    ][: 1 + verbose]


def test_compile_notice_comes_once_and_only_when_something_compiles(tmp_path):
    (tmp_path / "kernels.py").write_text(
        "from numba import njit\n"
        "@njit(cache=True)\ndef one(x): return x + 1\n"
        "@njit(cache=True)\ndef two(x): return x + 2\n"
    )
    script = (
        "from overlapper.cli.progress import Progress, compile_notice\n"
        "with Progress() as progress, compile_notice(progress):\n"
        f"    import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "    from kernels import one, two\n"
        "    one(1); two(1)\n"
    )
    said = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr
        for _ in range(2)
    ]
    assert lines_of(said[0]) == ["compiling kernels for this machine, once"]
    assert lines_of(said[1]) == []


def test_a_terminal_sees_each_kernel(monkeypatch):
    from numba import njit

    said = []
    progress = Progress(stream=io.StringIO())
    monkeypatch.setattr(progress, "compiling", said.append)

    @njit
    def kernel_of_a_test(x):
        return x + 1

    with compile_notice(progress):
        kernel_of_a_test(1)
    assert said[0] == "kernel_of_a_test"
    assert said[-1] == ""


def test_compile_notice_ends_with_its_context():
    from numba.core import event

    stream = io.StringIO()
    with compile_notice(Progress(stream=stream)):
        pass
    event.start_event("numba:compile")
    event.end_event("numba:compile")
    assert stream.getvalue() == ""
