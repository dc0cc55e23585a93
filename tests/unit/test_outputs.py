"""Output files: where they go, and what becomes of them."""

import gzip
import io
import os
import stat
import threading
from types import SimpleNamespace

import pytest

from overlapper.io.outputs import OutputFile

TEXT = b"".join(b"%d\n" % i for i in range(400_000))


def write(path, *pieces, threads=1):
    with OutputFile(str(path), threads=threads) as output:
        for piece in pieces:
            output.write(piece)


def test_nothing_is_there_before_the_end(tmp_path):
    with OutputFile(str(tmp_path / "out")) as output:
        output.write(b"some")
        assert not (tmp_path / "out").exists()
    assert (tmp_path / "out").read_bytes() == b"some"
    assert os.listdir(tmp_path) == ["out"]


def test_gzip_bytes_do_not_depend_on_pieces_threads_or_time(tmp_path):
    write(tmp_path / "a.gz", TEXT)
    write(tmp_path / "b.gz", *(TEXT[i : i + 99_999] for i in range(0, len(TEXT), 99_999)), threads=2)
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == TEXT
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert (tmp_path / "a.gz").read_bytes()[3:8] == b"\0\0\0\0\0", "no name and no time in the header"


def test_standard_output_that_takes_a_part_at_a_time_gets_all(monkeypatch):
    taken = []

    class Raw(io.RawIOBase):
        def write(self, data):
            taken.append(bytes(data[:3]))
            return len(taken[-1])

    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=Raw()))
    write("-", b"some", b"", b" text")
    assert taken == [b"som", b"e", b" te", b"xt"]


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write(tmp_path / "pipe", b"some")
    reader.join()
    assert found == [b"some"]
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


def test_a_pipe_may_be_named_by_its_descriptor():
    """As a shell names it: ``-o /dev/stdout | ...``, ``-o >(...)``."""
    read_end, write_end = os.pipe()
    write(f"/dev/fd/{write_end}", b"some")
    os.close(write_end)
    with open(read_end, "rb") as pipe:
        assert pipe.read() == b"some"


def test_a_file_that_is_open_already_is_written_on(tmp_path):
    """As in ``(echo before; overlapper ... -o /dev/stdout; echo after) > out``, and with ``>> out``."""
    with open(tmp_path / "out", "wb", buffering=0) as file:
        file.write(b"before\n")
        write(f"/dev/fd/{file.fileno()}", b"some\n")
        file.write(b"after\n")
    assert os.listdir(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"before\nsome\nafter\n"


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "real")
    write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "real").read_bytes() == b"new"


def test_rights_are_those_of_any_new_file(tmp_path):
    write(tmp_path / "out", b"")
    (tmp_path / "other").write_bytes(b"")
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_relative_name_means_the_folder_it_was_opened_in(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with OutputFile("out") as output:
        output.write(b"some")
        os.chdir("elsewhere")
    assert (tmp_path / "out").read_bytes() == b"some"


def test_an_interrupt_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), OutputFile(str(tmp_path / "out")) as output:
        output.write(TEXT)
        raise KeyboardInterrupt
    assert not os.listdir(tmp_path)
