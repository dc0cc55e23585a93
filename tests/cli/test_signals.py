"""Signals end a command at any moment: one line, the exit code of the signal, nothing left behind."""

import os
import signal
import subprocess

import pytest

from tests.cli.runner import overlapper, python
from tests.interrupting import SIGNALS, Interrupted, start, write_reads

STARTING, READING, WORKING = "", "reading", "seeding"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    write_reads(folder)
    # Kernels are compiled now, not at the moments of the tests.
    overlapper("overlap", "reads.fq", "-o", "overlaps.paf", "-q", cwd=folder, check=True)
    overlapper("map", "genome.fa", "reads.fq", "-o", "m.paf", "-q", cwd=folder, check=True)
    return folder


def assert_ended(run, number):
    assert run.faults == [], run.said
    assert run.code == 128 + number


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    ("name", "moment", "delay"),
    [
        ("overlap", STARTING, 0.3),
        ("overlap", READING, 0),
        ("overlap", WORKING, 0.01),
        ("overlap --memory", WORKING, 0),
        ("overlap --memory", "overlapping", 0),
        ("map", READING, 0.1),
        ("map --sort", READING, 0.2),
    ],
)
def test_a_signal_ends_a_command_and_leaves_nothing(name, moment, delay, number, inputs, tmp_path):
    run = Interrupted(name, inputs, tmp_path / "run", number, delay, wait_for=moment)
    assert run.faults == [], run.said
    assert run.code == 128 + number or (run.code == 0 and name != "overlap --memory")


def test_with_a_work_folder_it_says_that_the_command_goes_on(inputs, tmp_path):
    run = Interrupted(
        "overlap --workdir", inputs, tmp_path / "run", signal.SIGINT, 0, wait_for="choosing parameters"
    )
    assert_ended(run, signal.SIGINT)
    assert run.said.splitlines()[-1] == ("overlapper: interrupted; the same command goes on where it stopped")
    words = ["overlap", "reads.fq", "--workdir", "work", "-o", "out.paf", "-q"]
    overlapper(*words, cwd=tmp_path / "run", check=True)
    assert (tmp_path / "run" / "out.paf").read_bytes() == (inputs / "overlaps.paf").read_bytes()


def test_while_kernels_are_compiled(inputs, tmp_path):
    cache = tmp_path / "cache"
    run = Interrupted(
        "overlap", inputs, tmp_path / "run", signal.SIGTERM, 1.5,
        environment=dict.fromkeys(["NUMBA_CACHE_DIR", "XDG_CACHE_HOME"], str(cache)),
        wait_for="compiling kernels",
    )  # fmt: skip
    assert_ended(run, signal.SIGTERM)
    assert {path.suffix for path in cache.rglob("*") if path.is_file()} <= {".nbc"}


def test_processes_that_were_started_end_too(inputs, tmp_path):
    run = Interrupted(
        "overlap --workers", inputs, tmp_path / "run", signal.SIGINT, 0.5, wait_for="choosing parameters"
    )
    assert_ended(run, signal.SIGINT)


def test_a_second_signal_changes_nothing(inputs, tmp_path):
    run = Interrupted(
        "overlap --memory", inputs, tmp_path / "run", signal.SIGINT, 0, wait_for=WORKING, again=True
    )
    assert_ended(run, signal.SIGINT)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("where", ["standard input", "a pipe that nobody writes to"])
def test_while_it_waits_for_input(where, number, tmp_path):
    os.mkfifo(tmp_path / "pipe.fq")
    name = "-" if where == "standard input" else "pipe.fq"
    words = ["overlap", name, "-o", "out.paf"]
    process = start(words, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    while b"reading" not in process.stderr.readline():
        pass
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    assert process.stderr.read() == b"overlapper: interrupted\n"
    process.stdin.close()
    process.stderr.close()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe.fq"]


def test_a_signal_that_the_caller_ignores_stays_ignored(tmp_path):
    """As nohup has it, and shells for jobs in the background of a script."""
    body = "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(0.2); print('done')"
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nfrom overlapper import cli, console\n"
        f"@cli.app.command()\ndef probe():\n    {body}\nconsole.main()"
    )
    done = python("-c", script, "probe", text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


UNDISTURBED = """
import os, signal, sys, time
from pathlib import Path
from overlapper.runtime import cleanup, signals

signals.end_on_signals()
cleanup.note("noted")
Path("noted").mkdir()
with cleanup.undisturbed():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.3)
    Path("noted/in").touch()
    os.rename("noted", "named")
    cleanup.forget("noted")
try:
    cleanup.note("later")
finally:
    Path("later").touch()
"""


def test_what_is_to_be_done_undisturbed_is_finished_and_nothing_after_it(tmp_path):
    done = python("-c", UNDISTURBED, cwd=tmp_path, text=True)
    assert (done.returncode, done.stderr) == (143, "overlapper: interrupted\n")
    assert [path.name for path in tmp_path.rglob("*")] == ["named", "in"]


def test_folders_go_while_others_write_to_them(tmp_path):
    script = (
        "import os, signal, threading\nfrom pathlib import Path\nfrom overlapper.runtime import signals\n"
        "from overlapper.io.folders import ANYTHING, temporary_folder\n"
        "signals.end_on_signals()\n"
        "def write(folder):\n"
        "    for number in range(10**5):\n"
        "        try: Path(folder, str(number)).touch()\n"
        "        except OSError: os.write(1, b'gone\\n')\n"
        "with temporary_folder('.', ANYTHING) as folder:\n"
        "    threads = [threading.Thread(target=write, args=(folder,)) for _ in range(3)]\n"
        "    for thread in threads: thread.start()\n"
        "    while not Path(folder, '500').exists(): pass\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    for thread in threads: thread.join()\n"
    )
    done = python("-c", script, cwd=tmp_path, text=True)
    assert (done.returncode, done.stderr) == (143, "overlapper: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_threads_that_still_compute_do_not_crash_a_command_that_fails(tmp_path):
    body = (
        "import threading, time\n    import numpy as np\n    from overlapper.errors import InputError\n"
        "    from overlapper.kernels.common.sorting import sort_few\n    sort_few(np.arange(2))\n"
        "    def work():\n        while True: sort_few(np.arange(10**6)[::-1].copy())\n"
        "    threading.Thread(target=work, daemon=True).start()\n    time.sleep(0.2)\n"
        "    raise InputError('is bad', file='x')"
    )
    script = (
        f"from overlapper import cli, console\n@cli.app.command()\ndef probe():\n    {body}\nconsole.main()"
    )
    done = python("-c", script, "probe", text=True)
    assert (done.returncode, done.stderr) == (1, "overlapper: error: file x: is bad\n")


def test_the_library_leaves_signals_to_the_program():
    script = (
        "import os, signal, overlapper\nfrom overlapper.runtime import cleanup, signals\n"
        "from overlapper.overlap import distributed\n"
        "assert signal.getsignal(signal.SIGINT) is not signals._leave_it_to_the_thread\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # these tests may ignore it\n"
        "assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL\n"
        "try: os.kill(os.getpid(), signal.SIGINT)\nexcept KeyboardInterrupt: print('raised')\n"
    )
    done = python("-c", script, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "raised\n", "")
