"""``overlapper layout`` end to end: what goes in, what comes out, and what is said."""

import gzip
import itertools
import json
import re

import numpy as np
import pytest

from overlapper import graph
from overlapper.graph.export import read_gfa, unitig_fasta, unitig_gfa, unitig_table
from overlapper.io.writers import write_overlaps
from tests.graph_cases import random_genome, read_set, tiled
from tests.read_sets import fasta_of


@pytest.fixture(scope="module")
def case():
    """Reads of a circle of 30 kb, and their overlaps with alignments."""
    return read_set(random_genome(30_000, 7), tiled(30_000, 5_000, 400, 7, circular=True), circular=True)


@pytest.fixture
def layout(command, case, tmp_path):
    reads, overlaps = case
    (tmp_path / "reads.fa").write_text(fasta_of(reads))
    write_overlaps(overlaps, reads, tmp_path / "overlaps.paf")
    return lambda *arguments: command("layout", *arguments)


def text_of(lines):
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture(scope="module")
def expected(case):
    """What the library makes of the case, by option."""
    reads, overlaps = case
    found = graph.assemble(reads, overlaps).layout
    return {
        "-o": text_of(unitig_gfa(found, reads, overlaps=overlaps, contained=True, read_lines="A")),
        "--fasta": text_of(unitig_fasta(found, reads)),
        "--table": text_of(unitig_table(found)),
        "--reads-gfa": text_of(read_gfa(found.graph, reads, overlaps=overlaps, contained=True, layout=found)),
    }


@pytest.mark.parametrize("threads", [1, 2])
def test_every_output_is_that_of_the_library(layout, expected, tmp_path, threads):
    outputs = [word for option in expected for word in (option, f"out{option}")]
    result = layout(
        "reads.fa", "overlaps.paf", *outputs, "--keep-contained", "--read-lines", "A", "-t", threads
    )
    assert (result.code, result.out) == (0, b"")
    for option, text in expected.items():
        assert (tmp_path / f"out{option}").read_text() == text
    assert expected["--table"].splitlines()[1].split("\t")[2] == "yes", "the circle is closed"


def test_standard_output_is_the_default_and_files_may_be_compressed(layout, tmp_path):
    streamed = layout("reads.fa", "overlaps.paf")
    assert layout("reads.fa", "overlaps.paf", "-o", "u.gfa.gz", "-q").err == ""
    assert streamed.out == gzip.decompress((tmp_path / "u.gfa.gz").read_bytes())
    assert streamed.out.startswith(b"H\tVN:Z:1.0\nS\tutg000001c\t")


def test_shuffled_rows_and_reads_in_several_files_give_the_same(layout, case, tmp_path):
    reads, _ = case
    expected = layout("reads.fa", "overlaps.paf", "--fasta", "1.fa", "-o", "1.gfa", "-q")
    draw = np.random.default_rng(1)
    lines = (tmp_path / "overlaps.paf").read_text().splitlines(keepends=True)
    (tmp_path / "shuffled.paf").write_text("".join(draw.permutation(lines)))
    order = draw.permutation(len(reads))
    (tmp_path / "a.fa").write_text(fasta_of(reads.take(order[:30])))
    (tmp_path / "b.fa").write_text(fasta_of(reads.take(order[30:])))
    again = layout("a.fa", "b.fa", "shuffled.paf", "--fasta", "2.fa", "-o", "2.gfa", "-q")
    assert expected.code == again.code == 0
    for name in ("fa", "gfa"):
        assert (tmp_path / f"1.{name}").read_text() == (tmp_path / f"2.{name}").read_text()


def test_parameters_reach_the_library(layout, case, tmp_path):
    reads, overlaps = case
    options = {"min_overlap": 1500, "min_depth": 2, "max_hang": 50}
    of_file = {
        "graph": {
            "min_ratio": 0.9, "max_divergence_ratio": 3.5, "fuzz": 20, "min_end_overlap": 700,
            "confirm_depth": 2, "join_overlap": 800,
        },
        "clean": {
            "tip_reads": 2, "bubble_bases": 9000, "weak_ratio": 0.7, "weak_rounds": 2, "weak_start": 0.6,
        },
    }  # fmt: skip
    sections = ([f"[{name}]", *(f"{k} = {v}" for k, v in of.items())] for name, of in of_file.items())
    (tmp_path / "c.toml").write_text("\n".join(itertools.chain(*sections)))
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    words += ["--config", "c.toml", "--stats", "s.json", "-o", "u.gfa"]
    assert layout("reads.fa", "overlaps.paf", *words).code == 0
    stats = json.loads((tmp_path / "s.json").read_text())
    assert stats["params"]["graph"] == options | of_file["graph"]
    assert stats["params"]["clean"] == of_file["clean"] | {"keep_confirmed": False}
    assert stats["counts"] == graph.assemble(
        reads, overlaps, graph.GraphParams(**stats["params"]["graph"]),
        graph.CleanParams(**stats["params"]["clean"]),
    ).counts  # fmt: skip
    assert (stats["reads"], stats["overlaps"]) == (len(reads), len(overlaps))
    assert stats["unitigs"]["longest"] >= stats["unitigs"]["n50"] > 0
    assert stats["seconds"].keys() == stats["memory"].keys() == stats["counts"].keys()


def test_no_clean_leaves_the_reduced_graph(layout, case, tmp_path):
    layout("reads.fa", "overlaps.paf", "--no-clean", "--stats", "s.json", "-o", "u.gfa")
    stats = json.loads((tmp_path / "s.json").read_text())
    assert list(stats["counts"]) == ["build", "reduce", "layout"]
    assert stats["params"]["clean"] is None


def test_the_funnel_is_told(layout):
    result = layout("reads.fa", "overlaps.paf", "-o", "u.gfa", "--verbose")
    for words in ("reading overlaps", "transitive edges", "contained reads", "circular unitigs"):
        assert words in result.err
    assert re.search(r" +30,\d\d\d bases in the longest\n", result.err)
    brief = layout("reads.fa", "overlaps.paf", "-o", "u.gfa").err
    assert " 0 " in result.err
    assert " 0 " not in brief


def test_tags_and_columns_of_other_programs_are_no_hindrance(layout, tmp_path):
    expected = layout("reads.fa", "overlaps.paf", "-q").out
    rows = [line.split("\t") for line in (tmp_path / "overlaps.paf").read_text().splitlines()]
    styles = {
        "minimap2": lambda r: [*r[:11], "0", "tp:A:S", "cm:i:40", "s1:i:300", "dv:f:0.1", "rl:i:7"],
        "raven": lambda r: [*r[5:9], r[4], *r[:4], *r[9:11], "255"],
        "bella": lambda r: [*r[:11], "255", "AS:i:300"],
        "with CIGAR": lambda r: r,
    }
    for style, change in styles.items():
        (tmp_path / "other.paf").write_text("".join("\t".join(change(r)) + "\n" for r in rows))
        assert layout("reads.fa", "other.paf", "-q").out == expected, style


@pytest.mark.parametrize(
    ("paf", "options", "why"),
    [
        ("", (), "no unitigs: there are no overlaps"),
        (
            None,
            ("--min-depth", "90"),
            "no unitigs: no read has 2000 bases that 90 overlaps cover; try a smaller",
        ),
    ],
)
def test_an_empty_result_says_why(layout, tmp_path, paf, options, why):
    if paf is not None:
        (tmp_path / "overlaps.paf").write_text(paf)
    result = layout("reads.fa", "overlaps.paf", "-o", "u.gfa", *options)
    assert result.code == 0
    assert why in result.err.splitlines()[-3]  # the footer has two lines
    assert (tmp_path / "u.gfa").read_text() == "H\tVN:Z:1.0\n"
