"""``overlapper seeds`` and ``overlapper index`` end to end: files, streams, errors."""

import gzip
import os
import random
import sys
import types

import numpy as np
import pytest

from overlapper.io.matches import TSV_COLUMNS
from overlapper.runtime.gpu import devices
from tests.oracle import exact_matches as oracle
from tests.oracle.strands import reverse_complement

MIN_LENGTH = 11


def sequences(seed, lengths):
    generator = random.Random(seed)
    return ["".join(generator.choices("ACGT", k=length)) for length in lengths]


TEXT = sequences(1, [300, 0, 200])
TEXT[0] = TEXT[0][:100] + "NNN" + TEXT[0][100:] + TEXT[2][50:90]
READS = [TEXT[0][20:80] + "N" + TEXT[2][30:100], reverse_complement(TEXT[2])[10:90], "ACGT", ""]
READS[1] = READS[1][:40] + "A" + READS[1][41:]
NAMES = ["t/0", "t1", "tü"]


def write_fasta(path, names, texts):
    path.write_text("".join(f">{name} rest\n{text}\n" for name, text in zip(names, texts, strict=True)))


@pytest.fixture
def run(command, tmp_path):
    """Run a command in this process, in a folder that holds a text and reads."""
    write_fasta(tmp_path / "text.fa", NAMES, TEXT)
    write_fasta(tmp_path / "reads.fa", ["a", "b", "c", "d"], READS)

    def call(*arguments):
        result = command(*arguments)
        result.out = result.out.decode()
        return result

    return call


def expected_lines(kind):
    """Lines of TSV by brute force."""
    lines = []
    ends = np.cumsum([len(text) for text in TEXT])
    for name, read in zip("abcd", READS, strict=True):
        search = {"mem": oracle.mems, "smem": oracle.smems, "nov-smem": oracle.nov_smems}[kind]
        for q_start, length, reverse, t_start in sorted(search(TEXT, read, MIN_LENGTH)):
            target = int(np.searchsorted(ends, t_start, side="right"))
            start = t_start - int(ends[target]) + len(TEXT[target])
            fields = (name, q_start, q_start + length, "-" if reverse else "+",
                      NAMES[target], start, start + length)  # fmt: skip
            lines.append("\t".join(map(str, fields)))
    return lines


@pytest.mark.parametrize("kind", ["mem", "smem", "nov-smem"])
def test_matches_are_those_of_brute_force(run, kind):
    options = ("--kind", kind, "--min-length", MIN_LENGTH, "--quiet")
    result = run("seeds", "text.fa", "reads.fa", *options)
    assert (result.code, result.err) == (0, "")
    head, *lines = result.out.splitlines()
    assert head.split("\t") == list(TSV_COLUMNS)
    assert lines
    assert lines == expected_lines(kind)


def test_paf_says_what_tsv_says(run, tmp_path):
    options = ("--kind", "mem", "-l", MIN_LENGTH, "-q")
    for name in ("m.tsv", "m.tsv.gz", "m.paf", "m.paf.gz"):
        assert run("seeds", "text.fa", "reads.fa", *options, "-o", name).code == 0
    for name in ("m.tsv", "m.paf"):
        assert gzip.decompress((tmp_path / f"{name}.gz").read_bytes()) == (tmp_path / name).read_bytes()
    _, *tsv = [line.split("\t") for line in (tmp_path / "m.tsv").read_text().splitlines()]
    paf = [line.split("\t") for line in (tmp_path / "m.paf").read_text().splitlines()]
    assert [[p[0], p[2], p[3], p[4], p[5], p[7], p[8]] for p in paf] == tsv
    lengths = dict(zip("abcd", map(len, READS), strict=True))
    texts = dict(zip(NAMES, map(len, TEXT), strict=True))
    for p in paf:
        assert (int(p[1]), int(p[6])) == (lengths[p[0]], texts[p[5]])
        assert p[9:] == [str(int(p[3]) - int(p[2]))] * 2 + ["255", "tp:A:P", "NM:i:0"]


def test_a_saved_index_gives_the_same(run, tmp_path):
    said = run("index", "text.fa", "-o", "text.index", "--sample-rate", 4).err
    assert "3 sequences, 543 bases\n" in said
    built = run("seeds", "text.fa", "reads.fa", "-l", MIN_LENGTH).out
    assert len(built.splitlines()) > 3
    assert run("seeds", "text.index", "reads.fa", "-l", MIN_LENGTH).out == built
    assert sorted(os.listdir(tmp_path)) == ["reads.fa", "text.fa", "text.index"]


@pytest.mark.parametrize("kind", ["mem", "smem", "nov-smem"])
@pytest.mark.parametrize("bases_at_once", [1, 1 << 26])
def test_more_matches_than_are_allowed_are_an_error(run, tmp_path, monkeypatch, kind, bases_at_once):
    monkeypatch.setattr("overlapper.cli.seeds._BASES_AT_ONCE", bases_at_once)
    options = ("seeds", "text.fa", "reads.fa", "--kind", kind, "-l", MIN_LENGTH, "-o", "m.tsv")
    number = len(expected_lines(kind))
    assert run(*options, "--max-matches", number).code == 0
    os.remove(tmp_path / "m.tsv")
    result = run(*options, "--max-matches", number - 1)
    assert (result.code, os.path.exists(tmp_path / "m.tsv")) == (1, False)
    assert f"error: there are more than {number - 1} matches, expected at most so many" in result.err
    assert "Give a higher --min-length or --max-matches" in result.err


@pytest.mark.parametrize(
    ("kind", "most"),
    [("mem", "1,000,000"), ("smem", "1,000,000"), ("nov-smem", "10,000,000")],  # the last is the default
)
def test_reads_of_the_repeat_of_the_text_do_not_take_forever(run, tmp_path, kind, most):
    write_fasta(tmp_path / "text.fa", ["t"], ["AC" * 50_000])
    write_fasta(tmp_path / "reads.fa", ["a"], ["ACACACACACACACACACACACACACACAG" * 8_000])
    options = () if kind == "nov-smem" else ("--max-matches", most.replace(",", ""))
    result = run("seeds", "text.fa", "reads.fa", "--kind", kind, "-o", "m.tsv", *options)
    assert (result.code, os.listdir(tmp_path).count("m.tsv")) == (1, 0)
    assert f"error: there are more than {most} matches" in result.err


def test_blocks_of_reads_give_the_same(run, monkeypatch):
    options = ("seeds", "text.fa", "reads.fa", "--kind", "mem", "-l", MIN_LENGTH)
    whole = run(*options).out
    monkeypatch.setattr("overlapper.cli.seeds._BASES_AT_ONCE", 1)
    assert run(*options).out == whole


@pytest.mark.parametrize("kind", ["mem", "smem", "nov-smem"])
def test_every_kind_is_searched_on_the_gpus_named(run, monkeypatch, kind):
    asked = []

    class GpuIndex:
        def __init__(self, index, devices, *, memory):
            self._index, self._settings = index, (tuple(devices), memory)

        def __getattr__(self, name):
            def search(*arguments, **options):
                asked.append((name, *self._settings))
                return getattr(self._index, name)(*arguments, **options)

            return search

    gpus = [devices.Device(f"cuda:{number}", "GPU") for number in (0, 2)]
    monkeypatch.setattr(devices, "select_devices", lambda text: gpus)
    monkeypatch.setitem(sys.modules, "overlapper.index.gpu", types.SimpleNamespace(GpuIndex=GpuIndex))
    options = ("seeds", "text.fa", "reads.fa", "--kind", kind, "-l", MIN_LENGTH)
    found = run(*options, "--device", "cuda:0,2", "--gpu-memory", "2G").out
    assert found.splitlines()[1:] == expected_lines(kind)
    method = {"mem": "mems", "smem": "smems", "nov-smem": "nov_smems"}[kind]
    assert asked == [(method, (0, 2), 2_000_000_000)]


def test_nothing_found_says_what_to_try(run):
    result = run("seeds", "text.fa", "reads.fa", "-l", 500)
    assert (result.code, result.out) == (0, "\t".join(TSV_COLUMNS) + "\n")
    assert "no match: try a lower --min-length" in result.err
