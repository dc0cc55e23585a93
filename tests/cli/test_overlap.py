"""``overlapper overlap`` end to end: what goes in, what comes out, and what is said."""

import datetime
import gzip
import hashlib
import json
import os
import re
import tomllib

import numpy as np
import pysam
import pytest

from overlapper import evaluate_overlaps, find_overlaps, random_genome, read_overlaps, simulate_reads
from overlapper.candidates.registry import FINDERS
from overlapper.extend.registry import EXTENDERS
from overlapper.io.reported import ReportedOverlaps
from overlapper.io.writers import FORMATS
from overlapper.simulate import adapted_model
from tests.cli.conftest import assert_refused
from tests.read_sets import fasta_of

LOG_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d .")


@pytest.fixture
def overlap(command):
    """Run the command in this process, in a folder of its own."""
    return lambda *arguments: command("overlap", *arguments)


@pytest.fixture(scope="module")
def simulated():
    genome = random_genome(20_000, seed=5)
    model = adapted_model("ont", mean_length=4_000)
    return simulate_reads(genome, model, coverage=8, seed=5)


@pytest.fixture(scope="module")
def reads(simulated):
    return simulated[0]


@pytest.fixture
def reads_file(reads, tmp_path):
    (tmp_path / "reads.fa").write_text(fasta_of(reads))
    return "reads.fa"


@pytest.fixture(scope="module")
def expected(reads, tmp_path_factory):
    """The PAF of the simulated reads by way of the library."""
    from overlapper import write_overlaps

    path = tmp_path_factory.mktemp("expected") / "out.paf"
    write_overlaps(find_overlaps(reads), reads, path)
    return path.read_bytes()


def test_copies_are_tagged_or_left_out(command, tmp_path):
    simulated = ["-p", "hifi", "-c", "12", "--genome-size", "12k", "--seed", "5", "-q", "-o"]
    assert command("simulate", *simulated, "reads.fa").code == 0
    assert command("overlap", "reads.fa", "-q", "-o", "all.paf").code == 0
    for copies in ("keep", "separate"):
        assert command("overlap", "reads.fa", "--copies", copies, "-q", "-o", f"{copies}.paf").code == 0
    plain, kept = ((tmp_path / f"{name}.paf").read_text().splitlines() for name in ("all", "keep"))
    assert [line.rpartition("\tcd:i:")[0] for line in kept] == plain
    within = [line for line in kept if 0 <= int(line.rpartition(":")[2]) < 4]
    assert (tmp_path / "separate.paf").read_text().splitlines() == within != []


@pytest.mark.parametrize("more", [["--memory", "1G"], ["--workdir", "w"], ["--plan"]])
def test_copies_are_told_apart_in_memory(command, more):
    result = command("overlap", "reads.fa", "--copies", "keep", *more)
    assert result.code == 2
    assert "--copies works in memory" in result.err


def test_what_becomes_of_copies_is_keep_or_separate(command):
    result = command("overlap", "reads.fa", "--copies", "collapse")
    assert (result.code, "--copies is collapse, expected keep or separate" in result.err) == (2, True)


def test_the_overlaps_are_the_true_ones(overlap, simulated, reads_file, tmp_path):
    reads, truth = simulated
    assert overlap(reads_file, "-o", "out.paf").code == 0
    overlaps = read_overlaps(tmp_path / "out.paf", reads)
    scores = evaluate_overlaps(truth, ReportedOverlaps.from_table(overlaps, reads), min_overlap=500).total
    assert scores.true_pairs > 100
    assert scores.recall > 0.98
    assert scores.precision > 0.98


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_holds_the_same(overlap, reads, reads_file, expected, tmp_path, ending):
    assert overlap(reads_file, "-o", f"out{ending}").code == 0
    (tmp_path / "expected.paf").write_bytes(expected)
    written = read_overlaps(tmp_path / f"out{ending}", reads)
    wanted = read_overlaps(tmp_path / "expected.paf", reads)
    assert len(wanted) > 100
    for column in ("query", "target", "reverse", "q_start", "q_end", "t_start", "t_end", "score", "kind"):
        assert np.array_equal(getattr(written, column), getattr(wanted, column)), column
    if ending == ".paf.gz":
        assert gzip.decompress((tmp_path / "out.paf.gz").read_bytes()) == expected


def test_standard_output_is_the_default_and_carries_nothing_else(overlap, reads_file, expected):
    for options in ((), ("-o", "-")):
        result = overlap(reads_file, *options)
        assert (result.code, result.out) == (0, expected)


def write_fastq_gz(reads, folder):
    with gzip.open(folder / "r.fq.gz", "wt") as file:
        for i in range(len(reads)):
            bases = reads.sequence(i)
            file.write(f"@{reads.name(i)} more\n{bases}\n+\n{'I' * len(bases)}\n")
    return ["r.fq.gz"]


def write_two_files(reads, folder):
    half = len(reads) // 2
    (folder / "1.fa").write_text(fasta_of(reads.take(np.arange(half))))
    (folder / "2.fa").write_text(fasta_of(reads.take(np.arange(half, len(reads)))))
    return ["1.fa", "2.fa"]


def write_bam(reads, folder):
    with pysam.AlignmentFile(str(folder / "r.bam"), "wb", header={"HD": {"VN": "1.6"}}) as file:
        for i in range(len(reads)):
            record = pysam.AlignedSegment(file.header)
            record.query_name, record.query_sequence, record.flag = reads.name(i), reads.sequence(i), 4
            file.write(record)
    return ["r.bam"]


@pytest.mark.parametrize("write", [write_fastq_gz, write_two_files, write_bam])
def test_what_the_reads_come_in_makes_no_difference(overlap, reads, expected, tmp_path, write):
    assert overlap(*write(reads, tmp_path)).out == expected


@pytest.mark.parametrize("finder", FINDERS)
@pytest.mark.parametrize("extender", [name for name in EXTENDERS if name != "exact"])
def test_a_run_from_the_written_config_gives_the_same_bytes(overlap, reads_file, tmp_path, finder, extender):
    options = ("--finder", finder, "--extender", extender, "-k", 14, "--min-overlap", 300)
    first = overlap(reads_file, *options, "--write-config", "used.toml", "--threads", 1)
    config = tomllib.loads((tmp_path / "used.toml").read_text())
    assert (config["finder"], config["extender"]) == (finder, extender)
    assert (config["sketch"]["kmer_length"], config["classes"]["min_overlap"]) == (14, 300)
    assert first.out.count(b"\n") > 100
    again = ("--config", "used.toml", "--preset", "hifi", "--threads", 2, "--write-config", "again.toml")
    assert overlap(reads_file, *again).out == first.out
    assert (tmp_path / "again.toml").read_text() == (tmp_path / "used.toml").read_text()


def test_options_go_before_the_config(overlap, reads_file, tmp_path):
    (tmp_path / "p.toml").write_text("[classes]\nmin_overlap = 900\nmax_hang = 70\n")
    overlap(reads_file, "--config", "p.toml", "--min-overlap", 800, "--write-config", "used.toml")
    classes = tomllib.loads((tmp_path / "used.toml").read_text())["classes"]
    assert (classes["min_overlap"], classes["max_hang"]) == (800, 70)


def test_stats_tell_counts_parameters_and_times(overlap, reads, reads_file, expected, tmp_path):
    assert overlap(reads_file, "--stats", "s.json", "--window", 2).code == 0
    stats = json.loads((tmp_path / "s.json").read_text())
    funnel = stats["funnel"]
    assert (funnel["reads"], funnel["bases"]) == (len(reads), reads.total_bases)
    dropped = sum(count for name, count in funnel.items() if name.startswith("dropped"))
    assert funnel["candidates"] - dropped == funnel["overlaps"] > 100
    assert stats["params"]["sketch"]["window"] == 2
    assert all(seconds >= 0 for seconds in stats["seconds"].values())
    held = list(stats["memory"].values())
    assert stats["memory"].keys() == stats["seconds"].keys()
    assert held == sorted(held)
    assert held[0] > 20e6
    assert {"version", "chosen"} <= stats.keys()


def test_what_is_said_where_no_terminal_is(overlap, reads_file):
    result = overlap(reads_file, "-o", "out.paf")
    assert result.out == b""
    lines = result.err.splitlines()
    assert all(LOG_LINE.match(line) for line in lines)
    said = [line[20:].strip() for line in lines]
    for step in ("1/6 reading", "4/6 seeding", "5/6 overlapping", "6/6 writing"):
        assert step in said
    assert re.search(r"error rate .* k \d+, w \d+", result.err)
    *_, last, called, took = said
    assert re.search(r"[\d,]+ overlaps$", last), "the funnel ends with what came out"
    assert called.endswith(f": overlapper overlap {reads_file} -o out.paf")
    assert re.fullmatch(r"[\d.]+ s, [\d.]+ s of CPU time, [\d.]+ GB of memory at most", took)


def test_a_record_of_the_run_goes_into_its_counts(overlap, reads_file, tmp_path):
    overlap(reads_file, "-o", "out.paf", "--stats", "s.json", "-t", "1", "--log", "log.txt")
    run = json.loads((tmp_path / "s.json").read_text())["run"]
    assert run["command"] == f"overlapper overlap {reads_file} -o out.paf --stats s.json -t 1 --log log.txt"
    assert run["threads"] == 1
    content = (tmp_path / reads_file).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    assert run["inputs"] == [{"file": reads_file, "bytes": len(content), "sha256": digest}]
    assert datetime.datetime.fromisoformat(run["date"]).tzinfo
    assert run["seconds"] > 0 and run["cpu_seconds"] > 0 and run["memory"] > 20e6
    log = (tmp_path / "log.txt").read_text()
    assert "seeding" in log and "extending on cpu (1 thread)" in log and "of CPU time" in log


@pytest.mark.parametrize("name", ["no/log.txt", ".", "/dev/full"])
def test_a_log_that_cannot_be_written_is_told(overlap, reads_file, tmp_path, name):
    if name == "/dev/full" and not os.path.exists(name):
        pytest.skip("there is no /dev/full")
    result = overlap(reads_file, "-o", "out.paf", "--log", name, "-q")
    assert (result.code, result.out) == (1, b"")
    assert result.err.startswith(f"overlapper: error: log {name} cannot be written: ")
    assert result.err.count("\n") == 1
    assert not (tmp_path / "out.paf").exists()


def test_quiet_says_nothing(overlap, reads_file):
    result = overlap(reads_file, "-o", "out.paf", "-q")
    assert (result.code, result.out, result.err) == (0, b"", "")


def repeat_reads():
    """Two reads that share 3,000 bases amid their own."""
    letters = np.array(list("ACGT"))
    left, right, shared, *ends = np.random.default_rng(3).integers(0, 4, (5, 3_000))
    texts = ["".join(letters[np.concatenate(r)]) for r in ((left, shared, right), (ends[0], shared, ends[1]))]
    return f">a\n{texts[0]}\n>b\n{texts[1]}\n"


def test_internal_matches_are_kept_on_request(overlap, tmp_path):
    (tmp_path / "r.fa").write_text(repeat_reads())
    assert overlap("r.fa").out == b""
    (line,) = overlap("r.fa", "--keep-internal").out.decode().splitlines()
    assert line.endswith("cl:A:i")


UNRELATED = "\n".join(f">{name}\n{bases}" for name, bases in zip("ab", (
    "".join("ACGT"[i] for i in np.random.default_rng(seed).integers(0, 4, 3_000)) for seed in (1, 2)
), strict=True)) + "\n"  # fmt: skip


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        (">a\nACGT\n", (), "no overlaps: there is only one read"),
        (">a\nACGT\n>b\n\n>c\nNNNN\n", (), "no overlaps: no two reads share enough seeds"),
        (">a\n" + "A" * 3000 + "\n>b\n" + "A" * 2000 + "\n", (), "no overlaps: most k-mers occur too often"),
        (UNRELATED, ("-k", "20"), "try a shorter --kmer-length and --window 1"),
        (None, ("--min-overlap", "100000"), "dropped: too short; --min-overlap sets the shortest"),
        (repeat_reads(), (), "1 candidates were dropped: internal match; --keep-internal reports them"),
        (None, ("--config", "seeds.toml"), "dropped: few seeds; --config loosens"),
    ],
    ids=["one read", "nothing in them", "homopolymers", "unrelated", "too short", "internal", "few seeds"],
)
def test_an_empty_result_says_why(overlap, reads_file, tmp_path, text, options, why):
    (tmp_path / "seeds.toml").write_text("[chain]\nmin_seeds = 1000000\n")
    if text is not None:
        (tmp_path / reads_file).write_text(text)
    result = overlap(reads_file, "-o", "out.paf", *options)
    assert result.code == 0
    assert why in result.err.splitlines()[-3]  # the footer has two lines
    assert (tmp_path / "out.paf").read_bytes() == b""


def test_a_link_to_the_reads_is_not_written_to(overlap, reads_file, tmp_path):
    (tmp_path / "link.paf").symlink_to(reads_file)
    result = overlap(reads_file, "-o", "link.paf")
    assert_refused(result, 2, "reads.fa is an input: name another output", tmp_path, ["link.paf", reads_file])


def test_overlaps_that_do_not_fit_the_memory_are_told(overlap, reads_file, tmp_path, monkeypatch):
    monkeypatch.setattr("overlapper.overlap.found.free_memory", lambda: 20_000)
    result = overlap(reads_file, "-o", tmp_path / "out.paf")
    assert result.code == 1
    assert "overlaps were found, more than the 0 MB of memory that were free can hold" in result.err
    assert not (tmp_path / "out.paf").exists()


def test_a_failed_run_leaves_what_was_there(overlap, tmp_path):
    (tmp_path / "reads.fa").write_text(">a\nAC GT\n>b\nAC*T\n")
    (tmp_path / "out.paf").write_text("of an earlier run")
    assert overlap("reads.fa", "-o", "out.paf").code == 1
    assert (tmp_path / "out.paf").read_text() == "of an earlier run"
