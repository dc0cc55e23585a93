"""Text files in and out: compression, faults, and nothing half-written."""

import gzip
import os
import random
import stat

import pytest

from overlapper.errors import FormatError, InputError, OutputError, TruncatedError
from overlapper.io.text import open_input, open_output


@pytest.mark.parametrize("name", ["plain.txt", "packed.txt.gz"])
def test_what_is_written_is_read(tmp_path, name):
    path = str(tmp_path / name)
    with open_output(path) as file:
        file.write(b"one\ntwo\n")
    with open_input(path) as file:
        assert file.readlines() == [b"one\n", b"two\n"]
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")


def test_equal_content_gives_equal_gzip_bytes(tmp_path):
    for name in ("a.gz", "b.gz"):
        with open_output(str(tmp_path / name)) as file:
            file.write(b"text")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_gzip_is_told_from_the_bytes_not_the_name(tmp_path):
    (tmp_path / "misnamed.txt").write_bytes(gzip.compress(b"text"))
    with open_input(str(tmp_path / "misnamed.txt")) as file:
        assert file.read() == b"text"


@pytest.mark.parametrize("before", [None, b"old"])
def test_a_failed_run_leaves_what_was_there(tmp_path, before):
    path = tmp_path / "out.txt.gz"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(RuntimeError), open_output(str(path)) as file:
        file.write(b"half")
        raise RuntimeError
    assert os.listdir(tmp_path) == ([] if before is None else ["out.txt.gz"])
    assert before is None or path.read_bytes() == before


def test_links_stay_links_and_devices_stay_devices(tmp_path):
    (tmp_path / "target.txt").write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to("target.txt")
    with open_output(str(link)) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "target.txt").read_text() == "new"

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with open_output(str(pipe)) as file:
        file.write(b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


def test_an_output_that_cannot_be_opened_is_told(tmp_path):
    path = tmp_path / "none" / "out.txt"
    with (
        pytest.raises(OutputError, match="cannot be written: No such file") as caught,
        open_output(str(path)),
    ):
        pass
    assert str(path) in str(caught.value)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_is_told():
    with pytest.raises(OutputError, match="No space left"), open_output("/dev/full") as file:
        file.write(b"x" * 100_000)


PACKED = gzip.compress(random.Random(1).randbytes(20_000))


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (None, InputError, "cannot be read: No such file"),
        (PACKED[:-1000], TruncatedError, "ends early"),
        (PACKED[:100] + b"\0" * 200 + PACKED[300:], FormatError, "damaged gzip"),
        (PACKED[:2] + b"\xff" * 50, FormatError, "damaged gzip"),
    ],
    ids=["missing", "truncated", "damaged data", "damaged header"],
)
def test_bad_inputs_are_told(tmp_path, content, error, message):
    path = tmp_path / "in.gz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error, match=message) as caught, open_input(str(path)) as file:
        file.read()
    assert str(path) in str(caught.value)
