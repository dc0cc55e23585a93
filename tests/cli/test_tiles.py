"""``overlapper overlap`` in tiles: budgets, killed runs, changed inputs, full disks, several processes."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.conftest import simulated_file
from tests.cli.runner import ROOT, overlapper


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with reads, and their overlaps found in memory."""
    folder = tmp_path_factory.mktemp("tiles")
    simulated_file(folder / "reads.fa", 20_000, 4_000, 5)
    overlapper("overlap", "reads.fa", "-o", "whole.paf", "-q", cwd=folder, check=True)
    return folder


@pytest.fixture
def whole(folder):
    return (folder / "whole.paf").read_bytes()


@pytest.fixture
def overlap(command):
    return lambda *arguments: command("overlap", *arguments)


def test_a_budget_does_not_change_the_bytes(overlap, reads_file, whole, tmp_path):
    done = overlap("reads.fa", "-o", "out.paf", "--memory", "900M", "--stats", "stats.json", "-t", 2)
    assert done.code == 0, done.err
    assert (tmp_path / "out.paf").read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.paf", "reads.fa", "stats.json"]
    assert json.loads((tmp_path / "stats.json").read_text())["funnel"]["overlaps"] == whole.count(b"\n")


def test_a_second_run_does_only_what_is_missing(overlap, reads_file, whole, tmp_path):
    arguments = ("reads.fa", "-o", "out.paf", "--workdir", "work")
    assert overlap(*arguments).code == 0
    made = {path: path.stat().st_mtime_ns for path in tmp_path.glob("work/*/*/done.json")}
    strip, *others = made
    shutil.rmtree(strip.parent)
    (tmp_path / "out.paf").unlink()
    again = overlap(*arguments)
    assert again.code == 0
    assert (tmp_path / "out.paf").read_bytes() == whole
    assert all(made[path] == path.stat().st_mtime_ns for path in others)
    assert strip.exists()


def test_changed_parameters_are_named_and_earlier_stages_kept(overlap, reads_file, tmp_path):
    assert overlap("reads.fa", "-o", "out.paf", "--workdir", "work").code == 0
    stages = list(tmp_path.glob("work/r*/done.json"))
    kept = {path: path.stat().st_mtime_ns for path in stages}
    again = overlap("reads.fa", "-o", "out.paf", "--workdir", "work", "--min-overlap", 1500)
    assert again.code == 0
    assert "classes.min_overlap was 100, now 1500" in again.err
    assert len(kept) == 2
    assert kept == {path: path.stat().st_mtime_ns for path in stages}
    fresh = overlap("reads.fa", "-o", "fresh.paf", "--min-overlap", 1500)
    assert fresh.code == 0
    assert (tmp_path / "out.paf").read_bytes() == (tmp_path / "fresh.paf").read_bytes()


def test_another_version_is_refused(overlap, reads_file, tmp_path, monkeypatch):
    assert overlap("reads.fa", "-o", "out.paf", "--workdir", "work").code == 0
    monkeypatch.setattr("overlapper.tiled.workdir.__version__", "99.0")
    refused = overlap("reads.fa", "-o", "out.paf", "--workdir", "work")
    assert refused.code == 1
    assert "was begun by version" in refused.err
    assert "this is 99.0" in refused.err


def test_a_damaged_file_is_named(overlap, reads_file, tmp_path):
    assert overlap("reads.fa", "-o", "out.paf", "--workdir", "work").code == 0
    words = tmp_path / "work" / "reads" / "words"
    content = bytearray(words.read_bytes())
    content[100] ^= 1
    words.write_bytes(content)
    refused = overlap("reads.fa", "-o", "out.paf", "--workdir", "work")
    assert refused.code == 1
    assert "words: is not what was written there" in refused.err


def test_a_plan_is_printed_and_nothing_done(overlap, reads_file, tmp_path):
    done = overlap("reads.fa", "-o", "out.paf", "--memory", "2G", "--plan")
    assert done.code == 0
    assert b"at most 1 block, 1 tile\n" in done.out
    assert re.search(rb"\nmemory: about 0\.\d+ GB; budget 2 GB\n", done.out)
    assert re.search(rb"\nif all reads overlap all others, as those of amplicons do: \d+ overlaps", done.out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reads.fa"]


def started(folder, *arguments, **options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen(
        [sys.executable, "-m", "overlapper", "overlap", *arguments], cwd=folder, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options,
    )  # fmt: skip


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(reads_file, whole, tmp_path):
    arguments = ("reads.fa", "-o", "out.paf", "--workdir", "work", "-q")
    for delay in (1.0, 1.6):
        process = started(tmp_path, *arguments)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stderr.close()
        if (tmp_path / "out.paf").exists():
            assert (tmp_path / "out.paf").read_bytes() == whole
    overlapper("overlap", *arguments, cwd=tmp_path, check=True)
    assert (tmp_path / "out.paf").read_bytes() == whole


def limit():
    """Let files have 40 kB, as if the disk were full then."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, resource.RLIM_INFINITY))


def test_a_full_disk_is_told_rightly_where_nothing_is_kept(reads_file, tmp_path):
    process = started(tmp_path, "reads.fa", "-o", "out.paf", "--memory", "1G", "-q", preexec_fn=limit)
    _, error = process.communicate()
    assert process.returncode == 1
    assert b"cannot be written" in error
    assert b"nothing of this run is kept. --workdir names a folder elsewhere" in error
    assert os.listdir(tmp_path) == ["reads.fa"]


def test_a_full_disk_is_told_and_the_run_goes_on_after_room_is_made(reads_file, whole, tmp_path):
    arguments = ("reads.fa", "-o", "out.paf", "--workdir", "work", "-q")
    process = started(tmp_path, *arguments, preexec_fn=limit)
    _, error = process.communicate()
    assert process.returncode == 1
    assert b"cannot be written" in error
    assert b"what is finished is kept" in error
    assert not (tmp_path / "out.paf").exists()
    overlapper("overlap", *arguments, cwd=tmp_path, check=True)
    assert (tmp_path / "out.paf").read_bytes() == whole


@pytest.fixture
def small_disk(tmp_path):
    """A disk of its own at ``work``; give a function that makes it as large as wanted."""
    folder = tmp_path / "work"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]
    if os.geteuid() or subprocess.run(mount, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("mounting a small disk needs rights that are not there")
    yield lambda size: subprocess.run(["mount", "-o", f"remount,size={size}", folder], check=True)
    subprocess.run(["umount", folder], check=True)


def test_a_disk_that_is_full_at_any_step_is_told_and_the_run_goes_on(
    overlap, reads_file, whole, small_disk, tmp_path
):
    codes, finished = [], []
    for size in ("64k", "120k", "64M"):
        small_disk(size)
        done = overlap("reads.fa", "-o", "out.paf", "--workdir", "work")
        codes.append(done.code)
        finished.append(len(list(tmp_path.glob("work/**/done.json"))))
        if done.code:
            assert "No space left on device" in done.err
            assert "what is finished is kept" in done.err
            assert sorted(path.name for path in tmp_path.iterdir()) == ["reads.fa", "work"]
    assert codes == [1, 1, 0]
    assert finished == sorted(set(finished))
    assert (tmp_path / "out.paf").read_bytes() == whole


def test_two_runs_do_not_share_a_folder(overlap, reads_file, tmp_path):
    from overlapper.tiled.workdir import Workdir

    with Workdir(tmp_path / "work"):
        refused = overlap("reads.fa", "-o", "out.paf", "--workdir", "work")
    assert refused.code == 1
    assert "is in use by another run" in refused.err
