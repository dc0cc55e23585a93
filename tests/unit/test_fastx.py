"""What `read_fastx` makes of good input, of every kind."""

import gzip
from types import SimpleNamespace

import numpy as np
import pysam
import pytest

from overlapper.errors import DuplicateNameError, FormatError
from overlapper.io import bgzip as bgzip_blocks
from overlapper.io import fastx
from overlapper.io.fastx import read_fastx
from overlapper.tables import Reads

LETTERS = "ACGTURYSWKMBDHVNXacgturyswkmbdhvnx"


def assert_equal(reads, names, sequences):
    expected = Reads.from_sequences(names, sequences)
    for column in ("lengths", "words", "word_offsets", "unknown_start", "unknown_end", "unknown_offsets",
                   "name_bytes", "name_offsets"):  # fmt: skip
        np.testing.assert_array_equal(getattr(reads, column), getattr(expected, column), err_msg=column)
    reads.validate()


@pytest.fixture
def write(tmp_path):
    def write(content, name="reads"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def test_fasta(write):
    path = write(f">a first read\nACGT\n>b\tsecond\n{LETTERS}\n")
    assert_equal(read_fastx(path), ["a", "b"], ["ACGT", LETTERS])


def test_qualities_are_dropped_unless_asked_for(write):
    reads = read_fastx(write("@a\nACGT\n+a\nIIII\n"))
    assert reads.qualities is None and reads.quality_offsets is None


def test_compression_is_told_from_content_and_members_are_joined(write):
    text = b">a\nACGT\n"
    packed = gzip.compress(text) + gzip.compress(b">b\nGG\n") + b"\0" * 512
    assert_equal(read_fastx(write(packed, "plain.fasta")), ["a", "b"], ["ACGT", "GG"])
    assert_equal(read_fastx(write(text, "packed.gz")), ["a"], ["ACGT"])


def bgzip(tmp_path, text):
    path = tmp_path / "bgzip.gz"
    with pysam.BGZFile(str(path), "wb") as file:
        file.write(text)
    return path.read_bytes()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("stretch_bytes", [1 << 16, 1 << 18])
def test_bgzip(tmp_path, write, monkeypatch, threads, stretch_bytes):
    monkeypatch.setattr(bgzip_blocks, "_STRETCH_BYTES", stretch_bytes)
    sequences = ["ACGT" * 50_000, "GATTACA" * 20_000]
    text = "".join(f">{name}\n{sequence}\n" for name, sequence in zip("ab", sequences, strict=True)).encode()
    blocks = bgzip(tmp_path, text)
    assert_equal(read_fastx(write(blocks), threads=threads), ["a", "b"], sequences)
    # Other members of gzip may lie between.
    mixed = blocks + gzip.compress(b">c\nGG\n") + bgzip(tmp_path, b">d\nCC\n")
    assert_equal(read_fastx(write(mixed), threads=threads), ["a", "b", "c", "d"], [*sequences, "GG", "CC"])


@pytest.mark.parametrize("place", [30, 16, 17])
def test_bgzip_that_is_damaged(tmp_path, write, place):
    blocks = bytearray(bgzip(tmp_path, b">a\n" + b"ACGTTGCA" * 20_000))
    blocks[place] ^= 1
    with pytest.raises(FormatError, match="the compressed data are damaged"):
        read_fastx(write(bytes(blocks)), threads=2)


def test_several_files_are_one_set_in_the_order_given(write):
    paths = [write("@b\nACGT\n+\nIIII\n", "1"), write(gzip.compress(b">a\nNN\nN\n"), "2")]
    assert_equal(read_fastx(*paths), ["b", "a"], ["ACGT", "NNN"])


def test_reads_over_65535_bases_and_runs_across_blocks(write):
    long = "ACGTN" * 300_000 + "N" * 700_000 + "GATTACA"
    assert_equal(read_fastx(write(f">a\n{long}\n>b\nTT\n")), ["a", "b"], [long, "TT"])


def test_more_reads_than_the_first_room(write):
    sequences = ["ACGTTGCA" * (i % 5) for i in range(5000)]
    path = write("".join(f">{i}\n{s}\n" for i, s in enumerate(sequences)))
    assert_equal(read_fastx(path), [str(i) for i in range(5000)], sequences)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(write, monkeypatch, pack):
    with open(write(pack(b">a\nACGT\n")), "rb") as file:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=file))
        assert_equal(read_fastx("-"), ["a"], ["ACGT"])


def test_parts_are_the_whole(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    texts = ["".join(rng.choice(list("ACGTN"), rng.integers(0, 900))) for _ in range(300)]
    files = [tmp_path / "one.fa", tmp_path / "two.fa"]
    for number, file in enumerate(files):
        file.write_text("".join(f">r{number}_{i}\n{text}\n" for i, text in enumerate(texts)))
    monkeypatch.setattr("overlapper.io.sources.BLOCK_BYTES", 1000)
    monkeypatch.setattr(fastx, "PART_BASES", 5_000)
    whole = read_fastx(*files)
    parts = list(fastx.FastxParts(*files))
    assert len(parts) > 30
    assert all(part.total_bases < 10_000 for part in parts)
    together = Reads.concat(parts)
    for name in Reads.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(together, name), getattr(whole, name), err_msg=name)


def test_what_is_wrong_is_told_of_parts_as_of_the_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("overlapper.io.sources.BLOCK_BYTES", 1000)
    monkeypatch.setattr(fastx, "PART_BASES", 5_000)
    records = [f">r{i}\n{'ACGT' * 50}\n" for i in range(300)]
    twice, broken = tmp_path / "twice.fa", tmp_path / "broken.fa"
    twice.write_text("".join([*records[:280], records[7], *records[280:]]))
    broken.write_text("".join([*records[:290], ">r290\nAC!GT\n"]))
    parts = fastx.FastxParts(twice)
    heads = Reads.concat([part.heads() for part in parts])
    with pytest.raises(DuplicateNameError, match=r"record 281 \(r7\): has the name of record 8"):
        parts.check(heads)
    with pytest.raises(FormatError, match=r"record 291 \(r290\): has '!' among its bases"):
        list(fastx.FastxParts(broken))
