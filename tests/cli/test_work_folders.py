"""Folders that commands keep results in: whose files go, whose results are used, and what is damaged."""

import os
import shutil
import threading

import pytest

from overlapper.io.folders import MARK
from tests.cli.conftest import assert_refused, simulated_file
from tests.cli.runner import overlapper


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two sets of reads, and a work folder of the overlaps of one."""
    folder = tmp_path_factory.mktemp("work")
    for name, seed in (("reads.fa", 5), ("other.fa", 6)):
        simulated_file(folder / name, 8_000, 3_000, seed)
    overlapper("overlap", "reads.fa", "-o", "whole.paf", "--workdir", "work", "-q", cwd=folder, check=True)
    return folder


@pytest.fixture
def whole(folder):
    return (folder / "whole.paf").read_bytes()


@pytest.fixture
def begun(folder, reads_file, tmp_path):
    """The work folder, for another run to begin with."""
    return shutil.copytree(folder / "work", tmp_path / "work", copy_function=shutil.copy2)


def content(folder):
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def through(fifo, source):
    """Write a file into a pipe that somebody will read."""
    thread = threading.Thread(target=lambda: fifo.write_bytes(source.read_bytes()))
    thread.start()
    return thread


@pytest.mark.parametrize(
    "words",
    [
        ("overlap", "reads/s.fa", "--workdir", ".", "-o", "out.paf"),
        ("overlap", "reads/s.fa", "--workdir", "theirs", "-o", "out.paf"),
        ("correct", "reads/s.fa", "--workdir", ".", "-o", "out.fq"),
        ("polish", "reads/s.fa", "reads/s.fa", "--workdir", ".", "-o", "out.fa"),
        ("assemble", "reads/s.fa", "-o", "out"),
    ],
)
def test_what_the_user_has_in_a_folder_stays_and_the_folder_is_refused(command, reads_file, tmp_path, words):
    theirs = ("reads/x", "run/x", "theirs/overlaps.txt", "out/stages/overlaps-0/x")
    for name in theirs:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("mine")
    reads_file.rename(tmp_path / "reads" / "s.fa")
    before = content(tmp_path)
    refused = command(*words)
    assert_refused(refused, 1, "", tmp_path, sorted(path.name for path in tmp_path.iterdir()))
    assert "stays as it is" in refused.err
    assert content(tmp_path) == before


def test_an_empty_folder_and_one_of_a_run_killed_at_once_are_worked_in(command, reads_file, whole, tmp_path):
    for name in ("empty", "killed"):
        (tmp_path / name).mkdir()
    (tmp_path / "killed" / "lock").touch()
    (tmp_path / "killed" / MARK).touch()
    (tmp_path / "link").symlink_to("empty")
    for name in ("link", "killed"):
        assert command("overlap", "reads.fa", "-o", "out.paf", "--workdir", name, "-q").code == 0
        assert (tmp_path / "out.paf").read_bytes() == whole
        assert {"lock", MARK, "reads", "run"} < {path.name for path in (tmp_path / name).iterdir()}


@pytest.mark.parametrize("reads", ["absent.fa", "notes.txt"])
def test_a_folder_made_for_nothing_goes(command, reads_file, tmp_path, reads):
    (tmp_path / "notes.txt").write_text("mine")
    words = ("overlap", reads, "-o", "out.paf", "--workdir", "deep/work")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert_refused(command(*words), 1, f"file {reads}: ", tmp_path, before)


def test_files_put_into_a_work_folder_stay(command, begun, whole, tmp_path):
    run = ("overlap", "reads.fa", "-o", "out.paf", "--workdir", "work")
    theirs = ("notes.txt", "mine/x", "seeds.0123abcd.part/x", "my.0123abcd.part/x", "reads/mine")
    for name in theirs:
        (begun / name).parent.mkdir(exist_ok=True)
        (begun / name).write_text("mine")
    assert command(*run).code == 0
    assert (tmp_path / "out.paf").read_bytes() == whole
    assert all((begun / name).read_text() == "mine" for name in theirs)
    # Where results would go, they are in the way, which is told before anything is done.
    shutil.rmtree(begun / "reads")
    (begun / "reads").mkdir()
    (begun / "reads" / "x").write_text("mine")
    for path in tmp_path.glob("out.paf*"):
        path.unlink()
    refused = command(*run)
    assert_refused(refused, 1, "work/reads/x is in the way, and overlapper did not write it", tmp_path,
                   ["reads.fa", "work"])  # fmt: skip
    assert (begun / "reads" / "x").read_text() == "mine"


def test_links_in_a_work_folder_are_not_followed(command, begun, tmp_path):
    (begun / "broken").symlink_to("nowhere")
    for linked in ("reads", next(begun.glob("overlaps-*")).name, "run"):
        (begun / linked).rename(tmp_path / "elsewhere")
        (begun / linked).symlink_to(tmp_path / "elsewhere")
        before = content(tmp_path / "elsewhere")
        refused = command("overlap", "reads.fa", "-o", "out.paf", "--workdir", "work")
        assert refused.code == 1
        assert f"file work/{linked}: is a link, expected a folder. Remove the link." in refused.err
        assert content(tmp_path / "elsewhere") == before
        (begun / linked).unlink()
        (tmp_path / "elsewhere").rename(begun / linked)


def test_what_a_killed_run_left_unfinished_is_gone(command, begun, whole, tmp_path):
    (strips,) = begun.glob("overlaps-*")
    for place in (begun / "seeds-0123456789ab.0123abcd.part", strips / "0-0-1.0123abcd.part"):
        shutil.copytree(begun / "reads", place)
        (place / "done.json").unlink()
    before = {path.name for path in begun.iterdir() if not path.name.endswith(".part")}
    assert command("overlap", "reads.fa", "-o", "out.paf", "--workdir", "work").code == 0
    assert {path.name for path in begun.iterdir()} == before
    assert [path.name for path in strips.iterdir()] == ["0-0-0"]
    assert (tmp_path / "out.paf").read_bytes() == whole


@pytest.mark.parametrize("words", [("overlap", "--workdir", "w"), ("assemble", "--min-overlap", 500)])
def test_results_are_of_the_reads_that_come_through_a_pipe(command, folder, reads_file, tmp_path, words):
    name, *options = words
    out = "out.paf" if name == "overlap" else "out"
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "another")

    def run(fifo, reads):
        thread = through(tmp_path / fifo, folder / reads)
        done = command(name, fifo, "-o", out, *options)
        thread.join()
        return done

    assert run("pipe", "reads.fa").code == 0
    for fifo in ("pipe", "another"):
        refused = run(fifo, "other.fa")
        assert refused.code == 1
        assert f"file {fifo}: is not what the work in" in refused.err
        assert "done already" in run(fifo, "reads.fa").err
    assert "done already" in command(name, "reads.fa", "-o", out, *options).err


def test_reads_changed_in_place_without_a_trace_are_seen(command, begun, reads_file):
    before = reads_file.stat()
    text = reads_file.read_text()
    reads_file.write_text(text[:-2] + ("A" if text[-2] != "A" else "C") + "\n")
    os.utime(reads_file, ns=(before.st_atime_ns, before.st_mtime_ns))
    refused = command("overlap", "reads.fa", "-o", "out.paf", "--workdir", "work")
    assert refused.code == 1
    assert "reads.fa: is not what the work in work was begun on" in refused.err


def test_parts_of_the_work_on_other_reads_are_not_used(command, begun, folder, tmp_path):
    """As when somebody copies them, or removes what says whose they are."""
    other = ("overlap", folder / "other.fa", "-o", "other.paf")
    assert command(*other, "-q").code == 0
    wanted = (tmp_path / "other.paf").read_bytes()
    assert command(*other, "--workdir", "work-2", "-q").code == 0
    shutil.rmtree(begun / "run")
    refused = command(*other, "--workdir", "work")
    assert refused.code == 1
    assert "is not what the work in work was begun on" in refused.err
    shutil.rmtree(begun / "reads")
    assert command(*other, "--workdir", "work").code == 0
    assert (tmp_path / "other.paf").read_bytes() == wanted
    shutil.rmtree(begun / "reads")
    shutil.copytree(folder / "work" / "reads", begun / "reads")
    assert command(*other, "--workdir", "work").code == 1


def test_overlaps_of_other_reads_are_not_reported(command, folder, reads_file, tmp_path):
    assert command("assemble", "reads.fa", "-o", "out", "--min-overlap", 500, "-q").code == 0
    text = reads_file.read_text()
    reads_file.write_text(text[:-2] + ("A" if text[-2] != "A" else "C") + "\n")
    refused = command("report", "out", "reads.fa", "-o", "r.html")
    assert refused.code == 1
    assert "file out: was made of other reads, of reads.fa" in refused.err


def test_a_damaged_record_is_named_with_the_way_out(command, begun, whole, tmp_path):
    """Whatever the damage, which `tests.unit.test_artifacts` varies."""
    run = ("overlap", "reads.fa", "-o", "out.paf", "--workdir", "work", "-q")
    records = sorted(begun.rglob("done.json"))
    assert len(records) == 4
    for record in records:
        written = record.read_bytes()
        record.write_bytes(written[:-7])
        place = os.path.relpath(record, tmp_path)
        refused = command(*run)
        assert refused.code == 1
        assert refused.err.strip() == (
            f"overlapper: error: file {place}: is not what was written there. "
            f"Remove the folder {os.path.dirname(place)}."
        )
        record.write_bytes(written)
    for record in records:
        shutil.rmtree(record.parent)
    assert command(*run).code == 0
    assert (tmp_path / "out.paf").read_bytes() == whole


def test_lost_records_and_marks_are_made_anew(command, begun, whole, tmp_path):
    for path in (*begun.rglob("done.json"), begun / MARK):
        path.unlink()
    refused = command("overlap", "reads.fa", "-o", "out.paf", "--workdir", "work", "-q")
    assert refused.code == 1
    assert "folder work holds overlaps-" in refused.err, "nothing says whose it is"
    (begun / MARK).write_text("overlapper work folder, form 1\nlock\n")
    assert command("overlap", "reads.fa", "-o", "out.paf", "--workdir", "work", "-q").code == 0
    assert (tmp_path / "out.paf").read_bytes() == whole


@pytest.mark.parametrize(
    ("words", "out", "made"),
    [
        (("overlap", "--workdir", "work"), "out.paf", "work"),
        (("assemble", "--min-overlap", 500), "out", "out/stages"),
        (("assemble", "--min-overlap", 500, "--memory", "1G"), "out", "out/stages"),
    ],
)
def test_reads_can_be_added_and_the_result_is_that_of_all_at_once(
    command, folder, reads_file, tmp_path, words, out, made
):
    name, *options = words
    other = tmp_path / "other.fa"
    other.write_text((folder / "other.fa").read_text().replace(">", ">other_"))
    assert command(name, "reads.fa", "-o", out, *options).code == 0
    former = {path.name for path in (tmp_path / made).glob("*-????????????")}
    added = command(name, "other.fa", "reads.fa", "-o", out, *options)
    assert added.code == 0
    assert "reads were added: other.fa. All reads together decide" in added.err
    assert not former & {path.name for path in (tmp_path / made).iterdir()}, "nothing of former reads stays"
    again = command(name, "other.fa", "reads.fa", "-o", out, *options)
    assert "done already" in again.err
    assert "were added" not in again.err
    at_once = command(
        name, "other.fa", "reads.fa", "-o", f"at_once_{out}", *options[2 * (name == "overlap") :]
    )
    assert at_once.code == 0
    files = [f"{out}/{file}" for file in ("contigs.gfa", "contigs.tsv")] if name == "assemble" else [out]
    for file in files:
        assert (tmp_path / file).read_bytes() == (tmp_path / f"at_once_{file}").read_bytes()
    # Those of before must all be there, as they were.
    for given in (("reads.fa",), ("other.fa",)):
        refused = command(name, *given, "-o", out, *options)
        assert refused.code == 1
        assert (
            f"file {given[0]}: is not what the work in {made} was begun on, other.fa, reads.fa" in refused.err
        )
    reads_file.write_text(reads_file.read_text().replace("A", "C", 1))
    (tmp_path / "third.fa").write_text(">third\nACGTACGT\n")
    refused = command(name, "other.fa", "reads.fa", "third.fa", "-o", out, *options)
    assert refused.code == 1
    assert "is not what the work in" in refused.err
