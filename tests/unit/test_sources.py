"""Text by blocks of whole lines, whatever it is packed in."""

import codecs
import gzip
import os
import sys

import pytest

from overlapper.errors import InputError, MissingExtraError
from overlapper.io import read_fastx, sources
from overlapper.io.sources import line_blocks

TEXT = b"one\ntwo\r\n\na line that is longer than a block\nlast"


@pytest.mark.parametrize("block_bytes", [1, 3, 8, 1000])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_blocks_are_whole_lines_and_make_up_the_text(tmp_path, monkeypatch, block_bytes, pack):
    monkeypatch.setattr(sources, "BLOCK_BYTES", block_bytes)
    (tmp_path / "file").write_bytes(pack(TEXT))
    blocks = list(line_blocks(str(tmp_path / "file")))
    assert all(block.endswith(b"\n") for block in blocks)
    assert b"".join(blocks) == TEXT + b"\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_byte_order_mark_is_passed_over_at_the_start_alone(tmp_path, pack):
    (tmp_path / "file").write_bytes(pack(codecs.BOM_UTF8 + TEXT + codecs.BOM_UTF8))
    assert b"".join(line_blocks(str(tmp_path / "file"))) == TEXT + codecs.BOM_UTF8 + b"\n"


def test_an_empty_file_has_no_blocks(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    assert list(line_blocks(str(tmp_path / "file"))) == []


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="there is no file here that cannot be read")
def test_a_file_whose_first_bytes_cannot_be_read_is_named():
    with pytest.raises(InputError, match=r"file /proc/self/mem: reading fails: .+\. Check the disk\."):
        read_fastx("/proc/self/mem")


def zstd():
    return pytest.importorskip("backports.zstd", reason="the extra zstd is not installed")


def test_zstd_is_read_as_what_it_holds(tmp_path):
    frames = zstd().compress(b">a\nAC") + zstd().compress(b"GT\n>b\nGG\n")
    (tmp_path / "reads").write_bytes(frames)
    reads = read_fastx(tmp_path / "reads")
    assert [(read.name, read.sequence) for read in reads] == [("a", "ACGT"), ("b", "GG")]
    sam = b"@HD\tVN:1.6\nr\t4\t*\t0\t0\t*\t*\t0\t0\tACG\t*\n"
    (tmp_path / "sam").write_bytes(zstd().compress(sam))
    assert read_fastx(tmp_path / "sam").sequence(0) == "ACG"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-20], "the compressed data end too early"),
        (lambda data: data[:4] + b"\xff" * 8 + data[12:], "the compressed data are damaged.*zstd -t"),
        (lambda data: data + b"more", "damaged, or something else follows"),
    ],
)
def test_zstd_that_is_damaged(tmp_path, change, message):
    text = b"".join(b">read%d\nACGT%s\n" % (i * i * i, b"ACGTTGCA"[: i % 8]) for i in range(100))
    (tmp_path / "reads").write_bytes(change(zstd().compress(text)))
    with pytest.raises(InputError, match=message):
        read_fastx(tmp_path / "reads")


def test_zstd_without_its_package_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    (tmp_path / "reads").write_bytes(b"\x28\xb5\x2f\xfdpacked")
    with pytest.raises(MissingExtraError, match=r"pip install 'backports\.zstd>=1'"):
        read_fastx(tmp_path / "reads")
