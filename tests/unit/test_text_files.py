"""Messages of messages.tsv about graphs, tables and names, and the rules of `overlapper.io.lines`."""

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from overlapper import errors
from overlapper.correction.polish import read_unitigs
from overlapper.graph.gfa import read_gfa
from overlapper.graph.stats import graph_stats
from overlapper.io import write_overlaps
from overlapper.io.fastx import read_fastx
from overlapper.io.lines import name_problem, text_lines, whole
from overlapper.io.paf import read_paf, reads_of_paf
from overlapper.io.pairwise import read_pairs
from overlapper.io.parquet import parquet_writer, read_parquet, reads_of_parquet
from overlapper.io.reported import read_reported
from overlapper.io.truth import read_truth
from overlapper.report.correction import read_changes
from overlapper.report.inputs import read_stats
from overlapper.tables import Overlaps, Reads
from tests.unit.test_bad_input import promised

PROMISED = promised()
ODD_NAMES = ("a\u2028b", "c\x85d", "e\u2029f", "\ufeffg", "\xa0h", "\U0001f9ec", "*", "=", "i\uffff")
LINE = "a\t9\t0\t9\t-\tb\t8\t0\t8\t7\t9\t255"
TRUTH = "read\tref\tstart\tend\tstrand\tidentity\nr1\tg\t0\t9\t+\t0.9\n"
STATS = {"version": "1", "seconds": {"x": 1.0}, "params": {}, "chosen": "clr", "funnel": {"reads": 3}}
CHANGES = "name\tbases_in\tbases_out\tcoverage\tidentity\tleft_out\tfate\na\t9\t9\t3.0\t0.9\t0\tcorrected\n"


def read_truth_of(path):
    return read_truth(str(path))


def pairs(path):
    reads = Reads.from_sequences(["a"], ["ACGT"])
    return read_pairs(str(path), reads, reads)


FILES = {
    "GFA with a letter that is no nucleotide": (read_unitigs, "S\ta\tMKL\n"),
    "GFA that is not UTF-8": (read_gfa, b"S\ta\tACGT\nS\tcaf\xe9\tACGT\n"),
    "GFA with a control character": (read_gfa, "S\ta\x07\tACGT\n"),
    "GFA name with a blank": (read_gfa, "S\ta b\tACGT\n"),
    "GFA segment without a name": (read_gfa, "S\t\tACGT\n"),
    "GFA length of many digits": (read_gfa, f"S\ta\t*\tLN:i:{'9' * 400}\n"),
    "GFA length that is not that of the bases": (read_gfa, "S\ta\tACGT\tLN:i:5\n"),
    "GFA depth that is none": (read_gfa, "S\ta\tACGT\tdp:f:1e400\n"),
    "GFA without segments or header": (read_gfa, ""),
    "PAF names that are not UTF-8": (reads_of_paf, LINE.encode().replace(b"b\t", b"caf\xe9\t")),
    "PAF name with a blank": (reads_of_paf, LINE.replace("b\t", "b c\t") + "\n"),
    "PAF length of many digits": (reads_of_paf, LINE.replace("\t8\t0", f"\t{'9' * 400}\t0") + "\n"),
    "judged PAF with digits of another script": (read_reported, LINE.replace("\t9\t0", "\t٩\t0") + "\n"),
    "truth table that is not UTF-8": (read_truth_of, TRUTH.encode() + b"caf\xe9\tg\t0\t9\t+\t0.9\n"),
    "truth table with a number of many digits": (read_truth_of, TRUTH.replace("\t9\t", f"\t{'9' * 400}\t")),
    "truth table with an identity that is none": (read_truth_of, TRUTH.replace("0.9", "inf")),
    "truth table with a column twice": (read_truth_of, TRUTH.replace("identity", "read")),
    "pairs that are not UTF-8": (pairs, b"a\tcaf\xe9\n"),
    "counts that are damaged": (read_stats, json.dumps(STATS | {"seconds": {"x": "soon"}})),
    "counts with a number that is none": (read_stats, json.dumps(STATS | {"funnel": {"reads": 10**400}})),
    "counts nested too deeply": (read_stats, "[" * 100_000),
    "table of correction that is damaged": (read_changes, CHANGES.replace("9\t9", f"9\t{'9' * 400}")),
}


@pytest.mark.parametrize("what", FILES)
def test_files_are_refused_as_promised(what, tmp_path):
    reader, content = FILES[what]
    path = tmp_path / f"file{'.gfa' if reader is read_unitigs else ''}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    kind, message = PROMISED[what]
    with pytest.raises(kind) as raised:
        reader(str(path))
    assert str(raised.value).replace(str(path), "FILE") == message


def test_a_line_ends_at_a_line_feed_alone(tmp_path):
    lines = ["a\x85b", "c\u2028d\te", "", "f"]
    path = tmp_path / "file"
    for end in ("\n", "\r\n"):
        path.write_text(end.join(lines), newline="")
        assert list(text_lines(str(path))) == lines
    path.write_text("a\nb\rc\n", newline="")
    with pytest.raises(errors.FormatError, match="line 2: has byte 13 in place 2, a control character"):
        list(text_lines(str(path)))


def test_names_and_numbers():
    assert not any(map(name_problem, ODD_NAMES))
    assert all(map(name_problem, ("", "a b", "a\tb", "a\n", "\x7f", "\0")))
    assert [whole(text) for text in ("0", "007", "2147483647")] == [0, 7, 2147483647]
    assert {whole(text) for text in ("", "-1", "+1", " 1", "1_0", "٣", "²", "2147483648", "9" * 5000)} == {
        None
    }


def test_every_reader_and_writer_keeps_names_as_they_are(tmp_path):
    bases = "GATTACAGATTACCA" * 10
    fasta = "".join(f">{name} more\n{bases}\n" for name in ODD_NAMES)
    (tmp_path / "reads.fa").write_text(fasta, newline="")
    reads = read_fastx(tmp_path / "reads.fa")
    assert reads.names == list(ODD_NAMES)
    n = len(reads) - 1
    zeros, lengths = np.zeros(n, np.int32), np.full(n, len(bases), np.int32)
    overlaps = Overlaps(
        query=np.arange(n), target=np.arange(1, n + 1), reverse=zeros, q_start=zeros, q_end=lengths,
        t_start=zeros, t_end=lengths, matches=lengths, block_length=lengths, score=zeros, seeds=zeros,
        divergence=np.full(n, np.nan), kind=zeros + 2,
    )  # fmt: skip
    paf, table = str(tmp_path / "o.paf"), str(tmp_path / "o.parquet")
    write_overlaps(overlaps, reads, paf)
    assert reads_of_paf(paf).names == read_reported(paf).names == list(ODD_NAMES)
    assert len(read_paf(paf, reads)) == n
    with parquet_writer(table, reads) as writer:
        writer.write(overlaps)
    assert reads_of_parquet(table).names == list(ODD_NAMES)
    gfa = tmp_path / "o.gfa"
    gfa.write_text("".join(f"S\t{name}\t{bases}\n" for name in ODD_NAMES), newline="")
    assert read_unitigs(gfa).sequences.names == list(ODD_NAMES)


def test_a_graph_of_a_header_alone_has_no_segments(tmp_path):
    path = tmp_path / "empty.gfa"
    path.write_text("H\tVN:Z:1.0\n")
    stats = graph_stats(read_gfa(path))
    assert (stats.segments, stats.bases, stats.components, stats.largest_component) == (0, 0, 0, 0)
    assert len(read_unitigs(path).sequences) == 0


PLACES = {
    "query": [0], "target": [1], "reverse": [False], "q_start": [0], "q_end": [9],
    "t_start": [0], "t_end": [8], "matches": [7], "block_length": [9], "score": [0],
    "seeds": [0], "divergence": [0.0], "kind": [1],
}  # fmt: skip


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("query", -1), ("query", 1), ("target", 2), ("q_end", 10), ("t_end", 9), ("t_start", -1), ("kind", 4),
        ("q_end", 2**40), ("query", None), ("query", "x"), ("q_start", 0.5),
    ],
)  # fmt: skip
def test_overlaps_of_parquet_lie_within_their_reads(column, value, tmp_path):
    path = tmp_path / "o.parquet"
    names = pyarrow.table({"number": [0, 1], "name": ["a", "b"], "length": [9, 8]})
    pyarrow.parquet.write_table(names, tmp_path / "o.reads.parquet")
    pyarrow.parquet.write_table(pyarrow.table(PLACES), path)
    assert len(read_parquet(path, ["a", "b"])) == 1
    pyarrow.parquet.write_table(pyarrow.table(PLACES | {column: [value]}), path)
    with pytest.raises(errors.FormatError, match=r"Write the file again"):
        read_parquet(path, ["a", "b"])


@pytest.mark.parametrize(
    ("names", "lengths"), [(["a", "a"], [9, 8]), (["a", "b c"], [9, 8]), (["a", "b"], [9, -8])]
)
def test_names_of_parquet_are_those_of_reads(names, lengths, tmp_path):
    table = pyarrow.table({"number": [0, 1], "name": names, "length": lengths})
    pyarrow.parquet.write_table(table, tmp_path / "o.reads.parquet")
    with pytest.raises(errors.FormatError, match=r"Write the file again"):
        reads_of_parquet(tmp_path / "o.parquet")


def test_contained_reads_in_a_graph_are_no_unitigs(tmp_path):
    path = tmp_path / "kept.gfa"
    path.write_text(
        "H\tVN:Z:1.0\nS\ta\tACGTA\nS\tread\tCGT\nS\tb\tGGC\nC\ta\t+\tread\t+\t1\t*\nL\tb\t+\tb\t+\t0M\n"
    )
    unitigs = read_unitigs(path)
    assert [unitigs.sequences.sequence(i) for i in range(len(unitigs.sequences))] == ["ACGTA", "GGC"]
    assert unitigs.sequences.names == ["a", "b"] and unitigs.circular.tolist() == [False, True]
    path.write_text("S\ta\tACGT\nS\tb\tACGT\nC\ta\t+\tb\t+\t0\t*\nC\tb\t+\ta\t+\t0\t*\n")
    assert read_unitigs(path).sequences.names == ["a", "b"]  # in a ring, nothing says which one is the unitig
