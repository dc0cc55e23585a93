"""What `read_fastx` makes of good input, of every kind."""

import gzip
from types import SimpleNamespace

import numpy as np
import pysam
import pytest

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


def test_lines_may_be_wrapped_blank_or_end_as_in_windows_or_old_mac(write):
    for end in ("\n", "\r\n", "\r"):
        path = write(end.join([">a x", "ACG ", "", "TNNT", ">b", "", ">c", "A" * 70, "C" * 70]))
        assert_equal(read_fastx(path), ["a", "b", "c"], ["ACGTNNT", "", "A" * 70 + "C" * 70])


def test_fastq(write):
    path = write("@a\nACGT\n+a\n!I~5\n@b\n\n+\n\n@c\nAC\nGN\n+\n@>\n+@\n@d\n+\n@e\nT\n+\n@")
    reads = read_fastx(path, keep_qualities=True)
    assert_equal(reads, list("abcde"), ["ACGT", "", "ACGN", "", "T"])
    assert bytes(reads.qualities + 33) == b"!I~5@>+@@"
    assert reads.quality_offsets.tolist() == [0, 4, 4, 8, 8, 9]


def test_qualities_are_dropped_unless_asked_for(write):
    reads = read_fastx(write("@a\nACGT\n+a\nIIII\n"))
    assert reads.qualities is None and reads.quality_offsets is None


def test_a_read_without_qualities_among_others(write):
    reads = read_fastx(write("@a\nA\n+\nI\n>b\nCC\n@c\nG\n+\nJ\n"), keep_qualities=True)
    assert reads.quality_offsets.tolist() == [0, 1, 1, 2]


def test_compression_is_told_from_content_and_members_are_joined(write):
    text = b">a\nACGT\n"
    packed = gzip.compress(text) + gzip.compress(b">b\nGG\n") + b"\0" * 512
    assert_equal(read_fastx(write(packed, "plain.fasta")), ["a", "b"], ["ACGT", "GG"])
    assert_equal(read_fastx(write(text, "packed.gz")), ["a"], ["ACGT"])


def test_bgzip(tmp_path):
    path = str(tmp_path / "reads.gz")
    sequences = ["ACGT" * 50_000, "GATTACA" * 20_000]
    with pysam.BGZFile(path, "wb") as file:
        for name, sequence in zip("ab", sequences, strict=True):
            file.write(f">{name}\n{sequence}\n".encode())
    assert_equal(read_fastx(path), ["a", "b"], sequences)


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
