"""What a run says on stderr."""

import io
import re
import subprocess
import sys

import pytest

from overlapper.cli.progress import CLEAR_LINE, Progress, compile_notice


class Terminal(io.StringIO):
    def isatty(self):
        return True


def steps(progress):
    for step in ("reading", "overlapping"):
        for done in range(3):
            progress.report(step, done, 3)


def test_log_has_one_time_stamped_line_a_step():
    stream = io.StringIO()
    with Progress(stream=stream) as progress:
        steps(progress)
        progress.note("done")
    lines = stream.getvalue().splitlines()
    assert [line[20:] for line in lines] == ["reading", "overlapping", "done"]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ", line[:20]) for line in lines)


def test_terminal_shows_one_line_and_wipes_it():
    stream = Terminal()
    with Progress(stream=stream) as progress:
        steps(progress)
    text = stream.getvalue()
    assert "\n" not in text
    assert text.endswith(CLEAR_LINE)
    drawn = [part for part in text.split(CLEAR_LINE) if part]
    assert drawn[0] == "[0 s] reading 0 %"
    assert drawn[-1].startswith("[0 s] overlapping")


def test_note_stays_on_a_terminal():
    stream = Terminal()
    with Progress(stream=stream) as progress:
        progress.report("reading")
        progress.note("that was all")
    assert f"{CLEAR_LINE}that was all\n" in stream.getvalue()


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_quiet_says_nothing(stream):
    with Progress(quiet=True, stream=stream) as progress:
        steps(progress)
        progress.note("that was all")
    assert stream.getvalue() == ""


def test_compile_notice_comes_once_and_only_when_something_compiles(tmp_path):
    (tmp_path / "kernels.py").write_text(
        "from numba import njit\n"
        "@njit(cache=True)\ndef one(x): return x + 1\n"
        "@njit(cache=True)\ndef two(x): return x + 2\n"
    )
    script = (
        "from overlapper.cli.progress import Progress, compile_notice\n"
        "with Progress() as progress, compile_notice(progress, 9):\n"
        f"    import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "    from kernels import one, two\n"
        "    one(1); two(1)\n"
    )
    said = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr
        for _ in range(2)
    ]
    assert said[0][20:] == "compiling kernels for this machine, once, about 9 s\n"
    assert said[1] == ""


def test_compile_notice_ends_with_its_context():
    from numba.core import event

    stream = io.StringIO()
    with compile_notice(Progress(stream=stream), 9):
        pass
    event.start_event("numba:compile")
    event.end_event("numba:compile")
    assert stream.getvalue() == ""
