"""Pipes as inputs, read once or refused, and as outputs that nobody reads any more."""

import codecs
import os
import signal
import subprocess
import sys
import threading

import pytest

from overlapper import random_genome, simulate_reads
from overlapper.simulate import adapted_model
from tests.cli.conftest import assert_refused
from tests.cli.runner import ROOT, overlapper
from tests.read_sets import fasta_of

READER_LEFT = 128 + signal.SIGPIPE
INPUTS = {
    "fa": "reads.fa",
    "paf": "o.paf",
    "gfa": "u.gfa",
    "tsv": "truth.tsv",
    "toml": "p.toml",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with reads, their overlaps and unitigs."""
    folder = tmp_path_factory.mktemp("pipes")
    model = adapted_model("ont", mean_length=3_000)
    genome = random_genome(8_000, seed=5)
    reads, _ = simulate_reads(genome, model, coverage=8, seed=5)
    (folder / "reads.fa").write_text(fasta_of(reads))
    (folder / "genome.fa").write_text(f">genome\n{genome.sequence(0)}\n")
    for words in ("overlap reads.fa -o o.paf -q --write-config p.toml",
                  "layout reads.fa o.paf -o u.gfa -q --min-overlap 500",
                  "simulate --genome-size 3k -o s.fa --truth truth.tsv -q"):  # fmt: skip
        overlapper(*words.split(), cwd=folder, check=True)
    return folder


@pytest.fixture
def pipes(folder, tmp_path):
    """A folder with a link to each file, and a pipe of each kind by the name ``pipe.KIND``."""
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    for kind in INPUTS:
        os.mkfifo(tmp_path / f"pipe.{kind}")
    return tmp_path


READING = [
    "overlap pipe.fa -o out.paf",
    "overlap pipe.fa -o out.paf --memory 1G -t 2",
    "overlap reads.fa -o out.paf --config pipe.toml",
    "correct pipe.fa -o out.fq --rounds 1",
    "correct reads.fa -o out.fq --rounds 1 --overlaps pipe.paf",
    "layout pipe.fa o.paf -o out.gfa",
    "layout reads.fa pipe.paf -o out.gfa",
    "polish pipe.fa reads.fa -o out.fq --rounds 1",
    "polish pipe.gfa reads.fa -o out.fq --rounds 1",
    "map pipe.fa reads.fa -o out.paf",
    "map genome.fa pipe.fa -o out.paf",
    "seeds pipe.fa reads.fa -o out.tsv",
    "seeds genome.fa pipe.fa -o out.tsv",
    "index pipe.fa -o out.index",
    "align pipe.fa genome.fa -o out.paf --pairing one-to-all",
    "convert pipe.paf out.paf --reads reads.fa",
    "convert o.paf out.paf --reads pipe.fa",
    "report pipe.fa o.paf -o out.html",
    "graph stats pipe.gfa --json out.json",
    "evaluate pipe.tsv o.paf --json out.json",
    "evaluate truth.tsv pipe.paf --json out.json",
    "simulate --reference pipe.fa --coverage 1 -o out.fa",
]
"""Commands that read a file, here named as a pipe."""


@pytest.mark.parametrize("words", READING)
def test_a_pipe_is_read_as_a_file_is(command, folder, pipes, words):
    words = words.split()
    (pipe,) = [word for word in words if word.startswith("pipe.")]
    source = INPUTS[pipe.partition(".")[2]]
    writer = threading.Thread(target=lambda: (pipes / pipe).write_bytes((folder / source).read_bytes()))
    writer.start()
    done = command(*words)
    writer.join(60)
    assert done.code == 0, done.err
    (out,) = (path for path in pipes.glob("out.*") if not path.name.endswith(".stats.json"))
    through_pipe = out.read_bytes()
    assert command(*(source if word == pipe else word for word in words)).code == 0
    if out.suffix != ".html":
        assert out.read_bytes() == through_pipe


@pytest.mark.parametrize(
    "words", [next(words for words in READING if f"pipe.{kind}" in words) for kind in INPUTS]
)
def test_a_byte_order_mark_before_a_file_changes_nothing(command, folder, pipes, words):
    (pipe,) = [word for word in words.split() if word.startswith("pipe.")]
    source = INPUTS[pipe.partition(".")[2]]
    marked = pipe.replace("pipe", "marked")
    (pipes / marked).write_bytes(codecs.BOM_UTF8 + (folder / source).read_bytes())
    made = []
    for name in (source, marked):
        assert command(*words.replace(pipe, name).split()).code == 0
        (out,) = (path for path in pipes.glob("out.*") if not path.name.endswith(".stats.json"))
        made.append(out.read_bytes().replace(marked.encode(), source.encode()))
    if out.suffix not in (".html", ".index"):
        assert made[0] == made[1]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("reads.fa", "overlap IN -o OUT"),
        ("o.paf", "layout reads.fa IN -o OUT"),
        ("o.paf", "correct reads.fa -o OUT --rounds 1 --overlaps IN"),
        ("o.paf", "convert IN OUT --reads reads.fa"),
        ("o.paf", "evaluate truth.tsv IN -o OUT"),
        ("reads.fa", "overlap IN --both-sides -o OUT"),
        ("reads.fa", "map genome.fa IN -o OUT"),
        ("reads.fa", "map genome.fa IN --sam -o OUT"),
        ("reads.fa", "seeds genome.fa IN -o OUT"),
        ("genome.fa", "align IN genome.fa -o OUT"),
    ],
)
def test_names_of_open_files_hold_what_standard_input_and_output_do(folder, source, words):
    """What a shell makes of ``<(...)`` and ``>(...)`` has no ending that would tell its format."""
    text = (folder / source).read_bytes()
    before = sorted(os.listdir("/dev"))
    results = []
    for read, written in (("-", "-"), ("/dev/stdin", "/dev/stdout"), ("/dev/fd/0", "/dev/fd/1")):
        called = words.replace("IN", read).replace("OUT", written).split()
        results.append(overlapper(*called, "-q", cwd=folder, input=text, check=True).stdout)
    assert len(results[0]) > 0
    if "--sam" in words:  # the command is in its header
        results = [[line for line in text.splitlines() if line[:3] != b"@PG"] for text in results]
    assert results[0] == results[1] == results[2]
    assert sorted(os.listdir("/dev")) == before


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (2, "overlap pipe.fa pipe.fa -o out.paf"),
        (2, "overlap - - -o out.paf"),
        (2, "layout pipe.fa pipe.fa -o out.gfa"),
        (2, "map pipe.fa pipe.fa -o out.paf"),
        (2, "align pipe.fa pipe.fa -o out.paf"),
        (2, "seeds pipe.fa pipe.fa -o out.tsv"),
        (1, "convert pipe.paf out.paf"),
        (1, "plot pile pipe.paf r1 -o out.svg"),
        (1, "report pipe.paf -o out.html"),
    ],
)
def test_what_would_read_a_pipe_twice_refuses_it(command, pipes, code, words):
    """Nobody writes to these pipes: what opened one would wait for ever."""
    before = sorted(path.name for path in pipes.iterdir())
    refused = command(*words.split())
    assert_refused(refused, code, "", pipes, before)
    assert "is a pipe" in refused.err or "standard input can be read only once" in refused.err


@pytest.mark.parametrize(
    "words",
    [
        "overlap reads.fa",
        "overlap reads.fa -o stdout.paf",
        "overlap reads.fa -o stdout.paf.gz",
        "overlap reads.fa --memory 1G",
        "overlap reads.fa -o out.paf --stats -",
        "correct reads.fa -o - --rounds 1",
        "layout reads.fa o.paf",
        "layout reads.fa o.paf -o out.gfa --fasta -",
        "map genome.fa reads.fa",
        "map genome.fa reads.fa --sam",
        "seeds genome.fa reads.fa",
        "align genome.fa genome.fa",
        "convert o.paf -",
        "convert o.paf stdout.paf",
        "simulate --genome-size 3k -o -",
        "evaluate truth.tsv o.paf",
        "graph stats u.gfa",
        "report o.paf -o -",
        "devices",
    ],
)
def test_a_command_whose_reader_left_ends_in_silence(pipes, words):
    for name in ("stdout.paf", "stdout.paf.gz"):
        (pipes / name).symlink_to("/dev/stdout")
    before = sorted(path.name for path in pipes.iterdir())
    read_end, write_end = os.pipe()
    os.close(read_end)
    quiet = [] if words.split()[0] in ("devices", "graph") else ["-q"]
    done = overlapper(*words.split(), *quiet, cwd=pipes, stdout=write_end)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (READER_LEFT, b"")
    assert sorted(path.name for path in pipes.iterdir()) == before


def test_a_pipe_by_name_whose_reader_leaves(pipes):
    os.mkfifo(pipes / "out.paf")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "overlapper", "overlap", "reads.fa", "-o", "out.paf", "-q"]
    with subprocess.Popen(words, cwd=pipes, env=environment, stderr=subprocess.PIPE) as process:
        os.close(os.open(pipes / "out.paf", os.O_RDONLY))
        error = process.communicate(timeout=60)[1]
    assert (process.returncode, error) == (READER_LEFT, b"")
    assert (pipes / "out.paf").is_fifo()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, a device that is always full")
@pytest.mark.parametrize(
    "words",
    ["overlap reads.fa -q", "overlap reads.fa --plan -q", "map genome.fa reads.fa --sam -q",
     "seeds genome.fa reads.fa -q", "layout reads.fa o.paf -q", "report o.paf -o - -q", "graph stats u.gfa",
     "devices", "--version", "graph stats --help"],
)  # fmt: skip
def test_standard_output_on_a_full_disk_is_named(folder, words):
    with open("/dev/full", "wb") as full:
        result = overlapper(*words.split(), cwd=folder, stdout=full)
    assert (result.returncode, result.stderr.count(b"\n")) == (1, 1), result.stderr
    said = b"overlapper: error: standard output cannot be written: No space left on device. Check"
    assert result.stderr.startswith(said)
