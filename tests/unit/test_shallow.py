"""Contigs below a share of the depth of the main one are left out, and their reads are listed."""

import json

import numpy as np
import pytest

from overlapper.assembly.contig_files import left_out_table
from overlapper.assembly.rubbish import LeftOut
from overlapper.assembly.shallow import without_shallow
from overlapper.simulate import adapted_model, random_genome, simulate_reads
from overlapper.tables import Reads
from tests.cli.runner import overlapper
from tests.property.test_lost import laid_out
from tests.read_sets import fasta_of


def case(links=()):
    """Contigs of 400 A, 300 C and 100 G, 2, 1 and 9 deep: 800, 300 and 900 bases of reads."""
    texts = ["A" * 400, "C" * 300, "G" * 100]
    rows = [(c, 0, read, 0, len(texts[c]), 0, len(texts[c])) for read, c in enumerate([0, 0, 1, *[2] * 9])]
    return laid_out(texts, rows, links=links)


def kept(made):
    sequences = made.contigs.sequences
    return "".join(sequences.sequence(contig)[0] for contig in range(len(sequences)))


@pytest.mark.parametrize(("share", "stay"), [(0, "ACG"), (0.11, "ACG"), (0.12, "AG"), (0.23, "G"), (1, "G")])
def test_the_share_is_of_the_depth_of_the_contig_with_most_bases_of_reads(share, stay):
    assert kept(without_shallow(case(), LeftOut.empty(), share, np.ones(12))[0]) == stay


def test_reads_stand_for_those_that_were_set_aside():
    weights = np.ones(12)
    weights[2] = 5  # so that the contig of C is five deep, and has most bases of reads
    assert kept(without_shallow(case(), LeftOut.empty(), 0.5, weights)[0]) == "CG"


def test_reads_of_both_kinds_are_listed_and_links_to_what_is_gone_go():
    one = np.array([1])
    before = LeftOut(one, 30 * one, 90 * one, np.array([20]), one)  # of the contig of C
    made, left_out = without_shallow(case([(0, 2, 50), (0, 4, 60)]), before, 0.12, np.ones(12))
    assert (made.contigs.link_source.tolist(), made.contigs.link_target.tolist()) == ([0], [2])
    assert made.contigs.link_overlap.tolist() == [60]
    lines = list(left_out_table(left_out, ["bad", "shallow"], made.contigs))[1:]
    assert lines == ["1\tbad\t*\t30\t90", "2\tshallow\t*\t0\t0"]
    assert left_out.read.tolist() == [20, 2]


def test_contamination_goes_in_a_budget_too(tmp_path):
    model = adapted_model("ont-r10", mean_length=2000)
    main, _ = simulate_reads(random_genome(15_000, seed=1), model, coverage=30, seed=1)
    other, _ = simulate_reads(random_genome(9_000, seed=2), model, coverage=6, seed=2)
    names = [f"main{i}" for i in range(len(main))] + [f"other{i}" for i in range(len(other))]
    texts = [reads.sequence(i) for reads in (main, other) for i in range(len(reads))]
    (tmp_path / "reads.fa").write_text(fasta_of(Reads.from_sequences(names, texts)))
    words = ["assemble", "reads.fa", "--copies", "collapse", "-t", "1"]
    overlapper(*words, "-o", "all", "-q", cwd=tmp_path, check=True)
    rows = (tmp_path / "all" / "contigs.tsv").read_text().splitlines()[1:]
    lengths = sorted(int(row.split("\t")[1]) for row in rows)
    assert len(lengths) > 1 and lengths[-1] > 14_500
    for output, options in {"held": [], "stored": ["--memory", "1G"]}.items():
        overlapper(*words, "-o", output, "--min-relative-depth", "0.5", *options, cwd=tmp_path, check=True)
        (row,) = (tmp_path / output / "contigs.tsv").read_text().splitlines()[1:]
        assert int(row.split("\t")[1]) > 14_500
        table = (tmp_path / output / "contigs.left_out.tsv").read_text().splitlines()[1:]
        listed = [line.split("\t") for line in table]
        assert {name[:5] for _, name, *_ in listed} == {"other"} and {line[2] for line in listed} == {"*"}
        stats = json.loads((tmp_path / output / "stats.json").read_text())
        assert stats["contigs"]["left out"] == int(listed[-1][0]) == len(lengths) - 1
