"""Artifacts are complete or not there, also where they are finished in a thread of their own."""

import os
from functools import partial

import numpy as np
import pytest

from overlapper.errors import InputError, OutputError
from overlapper.io import artifacts
from overlapper.io.artifacts import RECORD, Finisher, finished, kept_or_made, write_record, writing
from overlapper.io.folders import MARK


def test_all_are_there_when_the_finisher_is_left(tmp_path):
    with Finisher() as finisher:
        for number in range(3):
            with finisher.writing(tmp_path / f"{number}") as artifact:
                artifact.save("values", np.arange(number + 1))
                assert finished(tmp_path / f"{number}") is None
    assert sorted(os.listdir(tmp_path)) == ["0", "1", "2"]
    for number in range(3):
        kept = finished(tmp_path / f"{number}", verify=True)
        assert list(kept.load("values", np.int64)) == list(range(number + 1))


def test_what_is_written_behind_is_there_when_the_finisher_is_left(tmp_path):
    with Finisher() as finisher:
        for number in range(3):
            path = tmp_path / f"{number}"
            finisher.call(
                partial(kept_or_made, path, lambda to, n=number: to.save("values", np.arange(n + 1)))
            )
    for number in range(3):
        kept = finished(tmp_path / f"{number}", verify=True)
        assert list(kept.load("values", np.int64)) == list(range(number + 1))


def test_what_cannot_be_written_behind_is_told_and_not_there(tmp_path):
    def write(artifact):
        artifact.save("values", np.arange(3))
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="No space left on device"), Finisher() as finisher:
        finisher.call(partial(kept_or_made, tmp_path / "made", write))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("failing", [0, 1])
def test_what_cannot_be_synced_is_told_and_not_there(failing, tmp_path, monkeypatch):
    def sync(path):
        if path.parent.name.startswith(f"{failing}."):
            raise OSError(28, "No space left on device")
        synced(path)

    synced = artifacts.sync
    monkeypatch.setattr(artifacts, "sync", sync)
    with pytest.raises(OutputError, match="No space left on device"), Finisher() as finisher:
        for number in range(2):
            with finisher.writing(tmp_path / f"{number}") as artifact:
                artifact.save("values", np.arange(5))
    complete = sorted(os.listdir(tmp_path))
    assert complete == ["0"][:failing]
    assert all(finished(tmp_path / name, verify=True) for name in complete)


@pytest.fixture
def made(tmp_path):
    with writing(tmp_path / "work" / "made") as artifact:
        artifact.save("values", np.arange(100))
        artifact.facts |= {"reads": 100, "names": ["a", "b"]}
    return tmp_path / "work" / "made"


def replaced(path, make):
    path.unlink()
    make(path)


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "changed": lambda path: path.write_bytes(path.read_bytes().replace(b"1", b"2")),
    "of another type": lambda path: path.write_text("[]"),
    "null": lambda path: path.write_text("null"),
    "without content": lambda path: path.write_text('{"facts": {}, "files": {}}'),
    "of wrong types": lambda path: path.write_text('{"facts": 5, "files": {"values": 7}, "digest": 3}'),
    "not text": lambda path: path.write_bytes(b"\xff" * 50),
    "deep": lambda path: path.write_text("[" * 50_000),
    "long": lambda path: path.write_text("9" * 50_000),
    "a pipe": lambda path: replaced(path, os.mkfifo),
    "a folder": lambda path: replaced(path, os.mkdir),
    "a link": lambda path: (path.rename(path.with_name("x")), path.symlink_to("x")),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
@pytest.mark.parametrize("name", [RECORD, "values"])
def test_what_is_damaged_is_named_with_the_way_out(made, name, damage):
    damage(made / name)
    with pytest.raises(InputError) as error:
        finished(made, verify=True)
    assert str(error.value) == f"file {made / name}: is not what was written there. Remove the folder {made}."


def test_names_of_a_record_do_not_lead_elsewhere(made):
    (made / RECORD).unlink()
    write_record(made / RECORD, {"facts": {}, "files": {"../../x": {"bytes": 1, "digest": ""}}})
    (made.parents[1] / "x").write_text("x")
    with pytest.raises(InputError, match="is not what was written there"):
        finished(made)


@pytest.mark.parametrize("lost", [(), (RECORD,)])
def test_an_artifact_takes_the_place_of_one_of_ours(made, lost):
    for name in lost:
        (made / name).unlink()
    with writing(made) as artifact:
        artifact.save("others", np.arange(5))
    assert sorted(os.listdir(made)) == [MARK, RECORD, "others"]
    assert os.listdir(made.parent) == ["made"]


@pytest.mark.parametrize("lost", [(), (MARK,), (RECORD,), (MARK, RECORD)])
def test_an_artifact_does_not_take_the_place_of_what_is_not_ours(made, lost):
    for name in lost:
        (made / name).unlink()
    (made / "mine").write_text("mine")
    before = sorted(os.listdir(made))
    with pytest.raises(OutputError, match="is in the way, and overlapper did not write it"), writing(made):
        raise AssertionError("told before anything is done")
    assert sorted(os.listdir(made)) == before
    assert os.listdir(made.parent) == ["made"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError(28, "No space left on device")])
def test_nothing_is_left_of_what_fails(tmp_path, error):
    with pytest.raises((KeyboardInterrupt, ValueError, OutputError)), writing(tmp_path / "made") as artifact:
        artifact.save("values", np.arange(100))
        raise error
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    "read",
    [
        lambda artifact: artifact.load("values", np.int64, 2, 6),
        lambda artifact: artifact.gathered("values", np.int64, np.array([0, 4]), np.array([2, 3])),
    ],
    ids=["load", "gathered"],
)
def test_a_file_cut_off_while_it_is_worked_with_is_told(tmp_path, read):
    with writing(tmp_path / "a") as artifact:
        artifact.save("values", np.arange(9))
    kept = finished(tmp_path / "a")
    assert len(read(kept)) > 3
    os.truncate(tmp_path / "a" / "values", 8 * 5 + 3)
    with pytest.raises(InputError, match=r"values: was cut off while it was worked with\. Remove the folder"):
        read(kept)
