"""Text by blocks of whole lines, whatever it is packed in."""

import gzip
import os

import pytest

from overlapper.errors import InputError
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


def test_an_empty_file_has_no_blocks(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    assert list(line_blocks(str(tmp_path / "file"))) == []


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="there is no file here that cannot be read")
def test_a_file_whose_first_bytes_cannot_be_read_is_named():
    with pytest.raises(InputError, match=r"file /proc/self/mem: reading fails: .+\. Check the disk\."):
        read_fastx("/proc/self/mem")
