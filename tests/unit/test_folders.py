"""What is removed bears our mark; whatever else lies in a folder of ours stays, and the folder with it."""

import os
import subprocess
import sys

import pytest

from overlapper.io import folders
from overlapper.io.folders import MARK, remove, remove_parts, temporary_folder
from tests.cli.runner import python


def ours(folder, *names, kind=folders.ARTIFACT):
    folders.make(folder, kind, *names)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("ours")
    return folder


def content(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_folder_goes_with_all_that_its_marks_name(tmp_path):
    folder = ours(tmp_path / "a", "x", "deep/y")
    ours(folder / "inner", "z")
    (folder / "deep" / "empty").mkdir()
    assert remove(folder)
    assert not content(tmp_path)


@pytest.mark.parametrize("place", ["mine", "deep/mine", "inner/mine", "deep/x"])
def test_a_file_that_no_mark_names_stays_and_all_else_with_it(tmp_path, place):
    folder = ours(tmp_path / "a", "x", "deep/y")
    ours(folder / "inner", "z")
    (folder / place).write_text("mine")
    before = content(tmp_path)
    assert not remove(folder)
    assert content(tmp_path) == before
    assert folders.foreign(folder) == folder / place


def test_links_are_neither_followed_nor_removed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x").write_text("mine")
    folder = ours(tmp_path / "a", "x")
    (folder / "x").unlink()
    (folder / "x").symlink_to(tmp_path / "elsewhere" / "x")
    assert not remove(folder)
    (folder / "x").unlink()
    (folder / "more").symlink_to(tmp_path / "elsewhere")
    assert not remove(folder)
    (tmp_path / "link").symlink_to(ours(tmp_path / "b", "x"))
    assert not remove(tmp_path / "link")
    assert (tmp_path / "b" / "x").exists() and (tmp_path / "elsewhere" / "x").exists()


def test_a_link_goes_that_a_mark_names_as_a_link_and_what_it_leads_to_stays(tmp_path):
    (tmp_path / "elsewhere").write_text("mine")
    folder = ours(tmp_path / "a", "link@")
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    (folder / "other").symlink_to(tmp_path / "elsewhere")
    assert not remove(folder)
    (folder / "other").unlink()
    assert remove(folder)
    assert (tmp_path / "elsewhere").read_text() == "mine"


@pytest.mark.parametrize("mark", [b"", b"overlapper", b"something else, form 1\nx\n", b"\xff\xfe\n", None])
def test_a_folder_whose_mark_is_not_ours_stays(tmp_path, mark):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("mine")
    if mark is None:
        os.mkfifo(tmp_path / "a" / MARK)
    else:
        (tmp_path / "a" / MARK).write_bytes(mark)
    assert not remove(tmp_path / "a")
    assert (tmp_path / "a" / "x").exists()


def test_of_what_is_unfinished_only_what_is_ours_goes(tmp_path):
    ours(tmp_path / "reads.0123abcd.part", "x")
    (tmp_path / "run.0123abcd.part").mkdir()
    theirs = ours(tmp_path / "seeds.0123abcd.part", "x")
    (theirs / "mine").write_text("mine")
    (tmp_path / "my.part").mkdir()
    (tmp_path / "my.0123abcd.part").mkdir()
    (tmp_path / "my.0123abcd.part" / "x").write_text("mine")
    remove_parts(tmp_path)
    assert content(tmp_path) == [
        "my.0123abcd.part",
        "my.0123abcd.part/x",
        "my.part",
        "seeds.0123abcd.part",
        *(f"seeds.0123abcd.part/{name}" for name in (MARK, "mine", "x")),
    ]


def left_behind(tmp_path, names, files):
    """Have a process make a temporary folder and be killed."""
    script = (
        "import os, sys; from overlapper.io.folders import temporary_folder\n"
        f"context = temporary_folder({str(tmp_path)!r}, *{names!r})\n"
        "folder = context.__enter__()\n"
        f"for name in {files!r}: (folder / name).write_text('x')\n"
        "os.kill(os.getpid(), 9)"
    )
    assert python("-c", script).returncode == -9
    (folder,) = tmp_path.glob(".overlapper-*")
    return folder


def test_what_a_killed_process_left_goes_with_the_next_one(tmp_path):
    left_behind(tmp_path, ["part", "sorted*"], ["part", "sorted.bam.tmp"])
    with temporary_folder(tmp_path, "part") as folder:
        assert os.listdir(tmp_path) == [folder.name]
        with temporary_folder(tmp_path) as other:
            assert folder.exists() and other.exists()
    assert not os.listdir(tmp_path)


def test_of_what_a_killed_process_left_nothing_goes_that_is_not_its_own(tmp_path):
    folder = left_behind(tmp_path, ["part"], ["part", "mine"])
    (tmp_path / ".overlapper-00000000").mkdir()
    (tmp_path / ".overlapper-00000000" / "mine").write_text("mine")
    (tmp_path / ".overlapper-mine").mkdir()
    before = content(tmp_path)
    with temporary_folder(tmp_path):
        pass
    assert content(tmp_path) == before
    (folder / "mine").unlink()
    lines = (folder / MARK).read_text().splitlines()
    (folder / MARK).write_text(
        "\n".join(["overlapper temporary folder on elsewhere, form 1", *lines[1:], ""])
    )
    with temporary_folder(tmp_path):
        assert folder.exists(), "made by another machine"


def test_a_process_that_lives_keeps_its_folder(tmp_path):
    script = (
        "import sys; from overlapper.io.folders import temporary_folder\n"
        f"with temporary_folder({str(tmp_path)!r}) as folder: print(folder, flush=True); sys.stdin.read()"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        folder = process.stdout.readline().decode().strip()
        with temporary_folder(tmp_path):
            assert os.path.isdir(folder)
        process.stdin.close()
    assert not os.listdir(tmp_path)


def full(*_):
    raise OSError(28, "No space left on device")


def test_a_folder_that_cannot_be_marked_is_not_left(tmp_path, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(folders.os, "fsync", full)
        folders.make(tmp_path / "a", folders.ARTIFACT)
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(folders.os, "write", full)
        with temporary_folder(tmp_path):
            pass
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    "way", ["with temporary_folder(here, 'x'): pass", "folders.make(here / 'x', 'y', 'z')"]
)
def test_a_folder_whose_mark_finds_half_of_its_room_is_not_left(tmp_path, way):
    script = f"""
import resource, pathlib
from overlapper.io import folders
from overlapper.io.folders import temporary_folder
here = pathlib.Path({str(tmp_path)!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
try:
    {way}
except OSError as error:
    print(error.strerror)
"""
    assert python("-c", script, check=True).stdout == b"File too large\n"
    assert list(tmp_path.iterdir()) == []


def test_what_was_killed_before_it_was_marked_goes(tmp_path):
    for name in ("reads.0123abcd.part", ".overlapper-01234567"):
        (tmp_path / name).mkdir()
        (tmp_path / name / MARK).touch()
    remove_parts(tmp_path)
    assert os.listdir(tmp_path) == [".overlapper-01234567"]
    with temporary_folder(tmp_path):
        assert (tmp_path / ".overlapper-01234567").exists(), "it may be somebody's who has just made it"
    os.utime(tmp_path / ".overlapper-01234567", (0, 0))
    with temporary_folder(tmp_path):
        pass
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("killed_at", ["locked", "opened", "written"])
def test_a_work_folder_goes_that_was_not_marked_yet_in_a_temporary_one(tmp_path, killed_at):
    (tmp_path / "out").mkdir()
    script = (
        "import os; from overlapper.cli.run_files import work_folder; from overlapper.io import folders\n"
        "from overlapper.tiled.workdir import Workdir\n"
        f"with work_folder(None, {str(tmp_path / 'out' / 'out.paf')!r}) as folder:\n"
        "    def mark(path, *_):\n"
        f"        if {killed_at!r} == 'opened': (path / folders.MARK).touch()\n"
        "        os.kill(os.getpid(), 9)\n"
        f"    if {killed_at!r} != 'written': folders.mark = mark\n"
        "    else: folders.sync = mark\n"
        "    Workdir(folder)"
    )
    assert python("-c", script).returncode == -9
    assert len(content(tmp_path / "out")) > 2
    with temporary_folder(tmp_path / "out"):
        pass
    assert not content(tmp_path / "out")


def test_a_part_that_was_not_marked_yet_goes_with_the_folder_it_lies_in(tmp_path):
    folder = ours(tmp_path / "a", "x")
    (folder / "reads.0123abcd.part").mkdir()
    (folder / "reads.0123abcd.part" / MARK).touch()
    assert remove(folder)
    assert not content(tmp_path)
