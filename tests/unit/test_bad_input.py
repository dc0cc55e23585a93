"""Every kind of bad input gives the error and the message that messages.tsv names."""

import gzip
import io
from pathlib import Path

import pysam
import pytest

from overlapper import errors
from overlapper.io.fastx import read_fastx
from overlapper.io.paf import read_paf
from overlapper.tables import Reads

MESSAGES = Path(__file__).with_name("messages.tsv")
SAM = b"@HD\tVN:1.6\n@SQ\tSN:chr\tLN:20\nr0\t0\tchr\t1\t60\t4M\t*\t0\t0\tACGT\tIIII\n"
FASTQ = b"".join(b"@r%d\n%s\n+\n%s\n" % (i, b"GATTACA" * 90, b"I" * 630) for i in range(500))
PACKED = gzip.compress(FASTQ)
CRC = -8


def promised():
    """The exception and the message, by what is bad."""
    rows = [line.split("\t") for line in MESSAGES.read_text().splitlines()[1:]]
    return {
        what: (getattr(errors, kind), message)
        for inputs, kind, message in rows
        for what in inputs.split("; ")
    }


def bgzip(tmp_path, data=FASTQ):
    with pysam.BGZFile(str(tmp_path / "bgzip"), "wb") as file:
        file.write(data)
    return (tmp_path / "bgzip").read_bytes()


def alignments(tmp_path, mode, *, bases="ACGT" * 100, reads=200, name="r{}"):
    (tmp_path / "ref.fa").write_text(">chr\n" + "ACGT" * 5000 + "\n")
    header = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "chr", "LN": 20_000}]}
    path = str(tmp_path / "alignments")
    with pysam.AlignmentFile(path, mode, header=header, reference_filename=str(tmp_path / "ref.fa")) as file:
        for i in range(reads):
            record = pysam.AlignedSegment(file.header)
            record.query_name = name.format(i)
            record.reference_id, record.reference_start = 0, 4 * i
            record.cigarstring = "400M"
            record.query_sequence = bases
            file.write(record)
    (tmp_path / "ref.fa").unlink()
    return Path(path).read_bytes()


READ_FILES = {
    "empty file": b"",
    "blank lines only": b"\n \n\r\n",
    "gzip of nothing": gzip.compress(b""),
    "text that is not reads": b"read1\t100\t0\t90\n",
    "binary file": b"\x80\x02\xff" * 100,
    "text before the first record": b"# reads\n>a\nACGT\n",
    "record without a name": b">a\nACGT\n> b\nACGT\n",
    "control character in a name": b">a\x07b\nACGT\n",
    "name that is not UTF-8": b">a\nA\n>caf\xe9\nACGT\n",
    "letter that is no nucleotide": b">a\nACGT\n>b\nMKTAYIAKQR*\n",
    "gap or other sign in the bases": b">a\nAC-GT\n",
    "zero bytes at the end": b">a\nACGT\n" + b"\0" * 4096,
    "FASTQ record without +": b"@a\nACGT\n@b\nACGT\n+\nIIII\n",
    "fewer qualities than bases": b"@a\nACGT\n+\nIII\n@b\nACGT\n+\nIIII\n",
    "more qualities than bases": b"@a\nACGT\n+\nIIIII\n@b\nACGT\n+\nIIII\n",
    "more lines of qualities than of bases": b"@a\nACGT\n+\nIIII\nII\n@b\nACGT\n+\nIIII\n",
    "character that is no quality": b"@a\nACGT\n+\nII\x7fI\n",
    "FASTQ cut in the name": FASTQ + b"@last",
    "FASTQ cut in the bases": FASTQ + b"@last\nACGT",
    "FASTQ cut in the qualities": FASTQ + b"@last\nACGT\n+\nII",
    "two reads of one name": b">a 1\nACGT\n>b\nA\n>a 2\nTTTT\n",
    "gzip cut off": PACKED[: len(PACKED) // 2],
    "gzip without its last bytes": PACKED[:-4],
    "gzip with a wrong checksum": PACKED[:CRC] + b"\0\0\0\0" + PACKED[CRC + 4 :],
    "gzip with something behind it": PACKED + b"something",
    "bgzip cut off": lambda folder: bgzip(folder)[:-40],
    "bgzip without its closing block": lambda folder: bgzip(folder)[:-28],
    "BAM cut off": lambda folder: (data := alignments(folder, "wb"))[: len(data) // 2],
    "BAM cut between blocks": lambda folder: alignments(folder, "wb")[:-28],
    "SAM cut off": lambda folder: alignments(folder, "w")[:-500],
    "SAM flags that are none": SAM.replace(b"\t0\tchr", b"\t0x10\tchr"),
    "SAM bases that are none": SAM.replace(b"ACGT", b"AC-GT"),
    "SAM letter that is no nucleotide": SAM.replace(b"ACGT", b"ACET"),
    "SAM qualities of another number": SAM.replace(b"IIII", b"III"),
    "BAM name with a line feed": lambda folder: bgzip(
        folder,
        gzip.decompress(alignments(folder, "wb", reads=1, name="a-----")).replace(b"a-----", b"a\n>b\0\0"),
    ),
    "CRAM cut off, or without its reference": lambda folder: alignments(folder, "wc"),
    "aligned read without bases": lambda folder: alignments(folder, "wb", bases="", reads=1),
}


@pytest.mark.parametrize("what", READ_FILES)
def test_files_of_reads(what, tmp_path, monkeypatch):
    monkeypatch.setenv("REF_PATH", "none")
    content = READ_FILES[what]
    path = tmp_path / "reads"
    path.write_bytes(content(tmp_path) if callable(content) else content)
    kind, message = promised()[what]
    with pytest.raises(kind) as raised:
        read_fastx(path)
    assert type(raised.value) is kind
    assert str(raised.value).replace(str(path), "FILE") == message


def test_a_name_in_two_files(tmp_path):
    (tmp_path / "1").write_text(">a\nACGT\n>b\nACGT\n")
    (tmp_path / "2").write_text(">c\nACGT\n>b\nACGT\n")
    kind, message = promised()["one name in two files"]
    with pytest.raises(kind) as raised:
        read_fastx(tmp_path / "1", tmp_path / "2")
    assert (
        str(raised.value).replace(str(tmp_path / "1"), "FILE").replace(str(tmp_path / "2"), "OTHER")
        == message
    )


def test_files_that_cannot_be_opened(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    folder, missing, closed = tmp_path, tmp_path / "missing", tmp_path / "closed"
    for path, what in ((folder, "directory"), (missing, "missing file"), (closed, "file without permission")):
        if path is closed:
            monkeypatch.setattr("builtins.open", refuse)
        kind, message = promised()[what]
        with pytest.raises(kind) as raised:
            read_fastx(path)
        monkeypatch.undo()
        assert str(raised.value).replace(str(path), "FILE") == message


def test_the_same_on_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b""))))
    kind, message = promised()["empty file"]
    with pytest.raises(kind) as raised:
        read_fastx("-")
    assert str(raised.value).replace("file -", "file FILE") == message


LINE = "a\t9\t0\t9\t-\tb\t8\t0\t8\t7\t9\t255"
PAF_FILES = {
    "PAF line of too few columns": "a\t9\t0\t9\t-\n",
    "PAF column that is no number": LINE + "\n" + LINE.replace("7", "x") + "\n",
    "PAF number beyond 32 bits": LINE.replace("7", "2147483648") + "\n",
    "PAF strand other than + and -": LINE.replace("-", "*") + "\n",
    "PAF of other reads": LINE.replace("b", "c") + "\n",
    "PAF of reads of other lengths": LINE.replace("8", "5") + "\n",
    "PAF interval outside the read": LINE.replace("\t0\t9", "\t0\t10") + "\n",
    "PAF tag of the wrong type": LINE + "\tcm:i:many\n",
    "PAF CIGAR that does not fit": LINE + "\tcg:Z:9=\n",
    "PAF CIGAR with clips": LINE + "\tcg:Z:8=1S\n",
    "PAF whose lines end with carriage returns alone": LINE + "\r" + LINE + "\r",
}


@pytest.mark.parametrize("what", PAF_FILES)
def test_files_of_overlaps(what, tmp_path):
    path = tmp_path / "overlaps"
    path.write_text(PAF_FILES[what], newline="")
    kind, message = promised()[what]
    with pytest.raises(kind) as raised:
        read_paf(path, Reads.from_sequences(["a", "b"], ["A" * 9, "A" * 8]))
    assert str(raised.value).replace(str(path), "FILE") == message


def test_every_message_is_tested():
    from tests.unit.test_text_files import FILES

    elsewhere = {"one name in two files", "directory", "missing file", "file without permission"}
    assert set(promised()) == set(READ_FILES) | set(PAF_FILES) | set(FILES) | elsewhere
