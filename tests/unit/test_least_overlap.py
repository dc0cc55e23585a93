"""The shortest overlap that is laid out follows from the lengths of the reads."""

import json

import numpy as np
import pytest

from overlapper import graph
from overlapper.params.graph import GraphParams
from overlapper.simulate import adapted_model, random_genome, simulate_reads
from tests.cli.runner import overlapper
from tests.read_sets import fasta_of


def share_beyond(lengths, bases):
    return sum(max(length - bases, 0) for length in lengths) / sum(lengths)


@pytest.mark.parametrize("seed", range(8))
def test_two_fifths_of_the_bases_lie_beyond_it_and_no_longer_one_leaves_as_many(seed):
    rng = np.random.default_rng(seed)
    lengths = 700 + rng.integers(1, 1800, rng.integers(1, 40))
    least = GraphParams().of_reads(lengths).min_overlap
    assert share_beyond(lengths, least) >= 0.4 > share_beyond(lengths, least + 1)


@pytest.mark.parametrize(
    ("length", "least"),
    [(100, 60), (400, 240), (834, 500), (1000, 600), (3333, 1999), (3334, 2000), (50_000, 2000)],
)
def test_it_has_an_upper_limit(length, least):
    assert GraphParams().of_reads(np.full(9, length)).min_overlap == least


def test_it_falls_smoothly_with_the_lengths_and_what_is_a_share_of_it_falls_with_it():
    lengths = np.array([4000, 3000, 2500, 1500])
    found = [GraphParams().of_reads((lengths * share).astype(int)) for share in np.arange(1.2, 0.1, -0.001)]
    least = np.array([params.min_overlap for params in found])
    assert ((np.diff(least) <= 0) & (np.diff(least) > -4)).all()
    assert least[0] == 2000 and least[-1] < 200
    ends = [(p.min_end_overlap, p.join_overlap) for p in (found[0], found[-1])]
    assert ends == [(500, 1000), (least[-1] // 2, least[-1] // 2)]


def test_a_short_read_among_long_ones_has_one_of_its_own_length():
    """A plasmid of 1.2 kb has no read of 2,000 bases."""
    lengths = np.array([9_000, 9_000, 3_000, 1_200, 700])
    params = GraphParams().of_reads(lengths)
    assert params.least_of(lengths).tolist() == [2000, 2000, 1800, 720, 500]
    assert GraphParams(min_overlap=300).least_of(lengths).tolist() == [300] * 5


def test_what_is_given_counts():
    given = GraphParams(min_overlap=1700)
    assert given.of_reads(np.array([600] * 5)) == given
    assert GraphParams().of_reads(np.empty(0, int)).least_overlap == 2000


@pytest.fixture(scope="module")
def short_reads():
    """Reads of 1 kb of a molecule of 15 kb."""
    model = adapted_model("ont-r10", mean_length=1000, length_sd=250, adapters=0.0)
    return simulate_reads(random_genome(15_000, seed=3), model, coverage=18, seed=5)[0]


def test_a_molecule_of_short_reads_is_laid_out_whole_in_a_budget_too(short_reads, tmp_path):
    (tmp_path / "reads.fa").write_text(fasta_of(short_reads))
    least = GraphParams().of_reads(short_reads.lengths).min_overlap
    assert 500 < least < 700
    for name, options in {"held": [], "stored": ["--memory", "1G"]}.items():
        words = ["assemble", "reads.fa", "-o", name, "--correct", "never", "-t", "1", *options]
        told = overlapper(*words, cwd=tmp_path, check=True).stderr.decode()
        assert f"overlaps of {least:,} bases or more are laid out" in told
        stats = json.loads((tmp_path / name / "stats.json").read_text())
        assert stats["params"]["graph"]["min_overlap"] == least
        assert stats["contigs"]["number"] == 1
        assert abs(stats["contigs"]["bases"] - 15_000) < 300
    assert (tmp_path / "held/contigs.fasta").read_bytes() == (tmp_path / "stored/contigs.fasta").read_bytes()


def test_layout_takes_the_same(short_reads, tmp_path):
    (tmp_path / "reads.fa").write_text(fasta_of(short_reads))
    least = GraphParams().of_reads(short_reads.lengths).min_overlap
    overlapper("overlap", "reads.fa", "-o", "o.paf", "-q", "-t", "1", cwd=tmp_path, check=True)
    words = ["layout", "reads.fa", "o.paf", "-o", "u.gfa", "--stats", "s.json", "--write-config", "c.toml"]
    told = overlapper(*words, cwd=tmp_path, check=True).stderr.decode()
    assert f"overlaps of {least:,} bases or more are laid out" in told
    assert json.loads((tmp_path / "s.json").read_text())["params"]["graph"]["min_overlap"] == least
    assert "min_overlap" not in (tmp_path / "c.toml").read_text()  # so that other reads have their own
    (line,) = [row for row in (tmp_path / "u.gfa").read_text().splitlines() if row.startswith("S")]
    assert abs(len(line.split("\t")[2]) - 15_000) < 900
    overlapper(*words[:5], "--min-overlap", "2k", "--stats", "s.json", "-q", cwd=tmp_path, check=True)
    assert json.loads((tmp_path / "s.json").read_text())["unitigs"]["number"] == 1  # by 600 of 1,000 bases


def test_the_library_takes_the_same(short_reads):
    from overlapper import find_overlaps

    overlaps = find_overlaps(short_reads, threads=1)
    least = GraphParams().of_reads(short_reads.lengths)
    assert graph.build_graph(short_reads, overlaps)[1] == graph.build_graph(short_reads, overlaps, least)[1]
    assert graph.assemble(short_reads, overlaps).layout.lengths.tolist() == (
        graph.assemble(short_reads, overlaps, least).layout.lengths.tolist()
    )
