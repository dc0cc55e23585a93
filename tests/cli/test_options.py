"""Options that several commands have: in all that can use them, the same in each, and not without effect."""

import dataclasses
import json
import tomllib

import pytest

from docs.tools.commands import declared
from overlapper import cli
from overlapper.io.records import fastq_record
from overlapper.params.assembly import AssembleParams
from overlapper.params.correction import POLISHING_THRESHOLDS, CorrectParams
from overlapper.params.graph import LINKING, LONGEST, LayoutParams
from overlapper.simulate import generate_reads, random_genome
from tests.cli.runner import overlapper

EVERYWHERE = ("--threads", "--quiet", "--verbose", "--log", "--stats", "--config", "--write-config",
              "--cram-reference", "--min-quality", "--workdir")  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Reads, their overlaps, unitigs and genome."""
    folder = tmp_path_factory.mktemp("options")
    genome = random_genome(20_000, seed=5)
    (folder / "genome.fa").write_text(f">genome\n{genome.sequence(0)}\n")
    reads = generate_reads(genome, coverage=12, seed=5)
    (folder / "reads.fq").write_bytes(b"".join(fastq_record(r.name, r.codes, r.qualities) for r in reads))
    overlapper("overlap", "reads.fq", "-o", "o.paf", cwd=folder, check=True)
    overlapper("layout", "reads.fq", "o.paf", "--min-overlap", "500", "-o", "u.gfa", cwd=folder, check=True)
    return folder


def options_of(command):
    return {p.name: p for p in declared(command)[1] if not p.is_argument}


@pytest.mark.parametrize("name", EVERYWHERE)
def test_an_option_says_the_same_everywhere(name):
    assert (
        len({options_of(command)[name].help for command in cli.COMMANDS if name in options_of(command)}) == 1
    )


def test_what_logs_can_log_to_a_file_and_what_writes_names_its_output_alike():
    for command in cli.COMMANDS:
        options = options_of(command)
        assert ("--log" in options) == ("--quiet" in options), command
        assert ("--config" in options) == ("--write-config" in options), command
        if "--output" in options:
            assert "`-o`" in options["--output"].spelling, command


NO_SIZES = {"--kmer-length"}
"""Of k bases: no k, M or G of them."""


def test_what_counts_bases_takes_units_everywhere():
    for command in cli.COMMANDS:
        for name, option in options_of(command).items():
            words = {"length", "seed", "overlap", "interval", "hang", "fuzz", "bases"}
            if words & set(name[2:].split("-")[1:]) and name not in NO_SIZES:
                assert "`BASES`" in option.spelling, (command, name)


SHORTEST_OVERLAP = {
    "min_overlap": f"{LONGEST}; for short reads less, "
    f"so that {100 * LINKING:.0f} % of their bases lie beyond it"
}


@pytest.mark.parametrize(
    ("command", "params"),
    [
        ("layout", vars(LayoutParams().graph) | vars(LayoutParams().clean) | SHORTEST_OVERLAP),
        ("correct", vars(CorrectParams())),
        ("polish", vars(CorrectParams(thresholds=POLISHING_THRESHOLDS))),
        ("assemble", vars(AssembleParams()) | {
            "correct_rounds": f"{AssembleParams().correction.rounds}, up to "
            f"{AssembleParams().correction.rounds + AssembleParams().correction.further_rounds} "
            "if many reads still change",
            "polish_rounds": f"{AssembleParams().accurate_polish_rounds} for contigs of exact overlaps, "
            f"{AssembleParams().polishing.rounds} for others",
            **SHORTEST_OVERLAP,
        }),
    ],
)  # fmt: skip
def test_defaults_that_are_shown_are_those_of_the_parameters(command, params):
    shown = {
        name.removeprefix("--").replace("-", "_"): option.default.strip("`")
        for name, option in options_of(command).items()
    }
    compared = [name for name in shown if name in params]
    assert compared
    for name in compared:
        assert shown[name] == str(params[name]), name


RUNS = {
    "layout": (
        "layout reads.fq o.paf --min-overlap 700 --max-hang 900", "--min-overlap 900",
        ("graph", "min_overlap"), "gfa",
    ),
    "correct": ("correct reads.fq --rounds 1 --max-depth 9", "--max-depth 8", ("max_depth",), "fq"),
    "polish": ("polish u.gfa reads.fq --rounds 1", "--max-depth 7", ("max_depth",), "fa"),
    "map": ("map genome.fa reads.fq --secondary 2 -k 14", "-k 15", ("sketch", "kmer_length"), "paf"),
}  # fmt: skip


@pytest.mark.parametrize("command", RUNS)
def test_a_configuration_repeats_a_run_and_options_go_first(folder, tmp_path, command):
    words, option, place, ending = RUNS[command]
    inputs = [folder / word if "." in word else word for word in words.split()]
    files = [word for word in inputs if not isinstance(word, str)]

    def run(*more, out):
        overlapper(
            *more, "-o", f"{out}.{ending}", "--write-config", f"{out}.toml", "-q", cwd=tmp_path, check=True
        )
        return (tmp_path / f"{out}.{ending}").read_bytes(), (tmp_path / f"{out}.toml").read_text()

    first = run(*inputs, out="first")
    assert run(command, *files, "--config", "first.toml", out="again") == first
    value = tomllib.loads(run(command, *files, "--config", "first.toml", *option.split(), out="other")[1])
    for name in place:
        value = value[name]
    assert value == int(option.split()[1])


@pytest.mark.parametrize(
    ("words", "counted"),
    [
        (("polish", "u.gfa", "reads.fq", "--rounds", "1"), "reads"),
        (("seeds", "genome.fa", "reads.fq"), "matches"),
        (("align", "genome.fa", "genome.fa"), "alignments"),
        (("index", "genome.fa"), "bases"),
        (("convert", "o.paf"), "overlaps"),
        (("map", "genome.fa", "reads.fq"), "primary mappings"),
    ],
)
def test_stats_say_what_was_run_on_what(folder, tmp_path, words, counted):
    inputs = [folder / word if "." in word else word for word in words]
    out = "out.fa" if words[0] == "polish" else "out.index" if words[0] == "index" else "out.paf"
    overlapper(*inputs, "-o", out, "--stats", "s.json", "-q", "-t", "1", cwd=tmp_path, check=True)
    stats = json.loads((tmp_path / "s.json").read_text())
    assert stats["counts"][counted] > 0
    assert stats["params"]
    run = stats["run"]
    assert run["command"].startswith(f"overlapper {words[0]} ") and run["threads"] == 1
    files = [str(folder / word) for word in words if "." in word]
    assert [given["file"] for given in run["inputs"]] == files
    assert all(len(given["sha256"]) == 64 for given in run["inputs"])


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "genome.fa", "--reference", "genome.fa"),
        ("simulate", "--genome-size", "10k", "-o", "s.fa"),
        ("index", "genome.fa", "-o", "g.index"),
        ("report", "u.gfa", "-o", "r.html"),
        ("plot", "pile", "o.paf", "READ", "-o", "p.svg"),
    ],
)
def test_logs_go_to_a_file_too(folder, tmp_path, words):
    read = (folder / "o.paf").read_text().split("\t")[0]
    given = [read if w == "READ" else folder / w if (folder / w).exists() else w for w in words]
    result = overlapper(*given, "-q", "--log", "run.log", cwd=tmp_path, check=True)
    log = (tmp_path / "run.log").read_text().splitlines()
    assert result.stderr == b""
    assert len(log) >= 3 and " of CPU time, " in log[-1]


def test_streams_are_the_output_where_no_file_is_named(folder):
    for words in (("correct", "reads.fq", "--rounds", "1"), ("polish", "u.gfa", "reads.fq", "--rounds", "1"),
                  ("simulate", "--genome-size", "10k"), ("graph", "stats", "u.gfa")):  # fmt: skip
        out = overlapper(*words, cwd=folder, check=True).stdout
        assert out[:1] == {"simulate": b">", "graph": b"s"}.get(words[0], b"@")


def test_dataclasses_of_parameters_survive_a_file(tmp_path):
    from overlapper.params.text import changed, to_toml

    params = dataclasses.replace(AssembleParams(), copies="separate")
    again = changed(AssembleParams(), tomllib.loads(to_toml(params)))
    assert again == params and again.polishing.thresholds == POLISHING_THRESHOLDS
