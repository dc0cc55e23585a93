"""What of the reads results hold, and when that is little or reads are too few."""

import json

import numpy as np
import pytest

from overlapper.overlap.read_share import ReadShare, shorter_than
from overlapper.simulate import adapted_model, random_genome, simulate_reads
from tests.cli.runner import overlapper
from tests.read_sets import fasta_of

LENGTHS = np.array([100, 200, 300, 400])


@pytest.mark.parametrize(
    ("cover", "coverage"), [([0, 0, 0, 0], 1), ([9, 8, 7, 6], 8), ([0, 9, 30, 90], 31), ([90, 90, 90, 2], 91)]
)
def test_coverage_is_that_of_the_read_with_the_median_base(cover, coverage):
    assert ReadShare.of("contigs", np.arange(4), LENGTHS, np.array(cover, float)).coverage == coverage


def test_reads_count_once_and_the_share_is_of_bases():
    held = ReadShare.of("contigs", np.array([3, 1, 3]), LENGTHS, np.full(4, 20.0))
    assert held.sentence() == "contigs hold 2 of 4 reads, 60.0 % of their bases"
    assert held.facts() == {
        "reads": 2, "of reads": 4, "bases": 600, "of bases": 1000, "share of bases": 0.6, "coverage": 21.0
    }  # fmt: skip
    assert ReadShare.of("contigs", np.array([], int), LENGTHS[:0]).facts()["coverage"] is None


@pytest.mark.parametrize(
    ("held", "cover", "warned"),
    [([0, 3], 7, ""), ([0, 3], 6.9, "too few"), ([0, 2], 7, "40.0 %"), ([0, 1, 2, 3], 0.5, "1.5 times")],
)  # fmt: skip
def test_a_warning_where_reads_are_too_few_or_most_are_lost(held, cover, warned):
    warnings = ReadShare.of("contigs", np.array(held), LENGTHS, np.full(4, cover)).warnings("Ask for less")
    assert len(warnings) == bool(warned)
    assert all(line.startswith("warning: ") and warned in line for line in warnings)


@pytest.mark.parametrize(
    ("cover", "pieces", "thin", "warned"),
    [
        ([1, 19, 19, 19], 2, 50 / 95, "fewer than 8 of them cover 53 % of the places"),
        ([1, 19, 19, 19], 1, 50 / 95, ""),
        ([0, 6, 39, 39], 3, (200 / 7) / (200 / 7 + 300 / 40 + 400 / 40), "62 % of the places"),
        ([19, 7, 19, 19], 2, 0, ""),
    ],
)
def test_a_result_in_pieces_warns_where_few_reads_cover_many_places(cover, pieces, thin, warned):
    held = ReadShare.of("unitigs", np.arange(4), LENGTHS, np.array(cover, float))
    assert held.thin == pytest.approx(thin)
    lines = held.warnings("Ask for less", pieces)
    assert len(lines) == bool(warned)
    assert all(warned in line and "Unitigs have gaps there" in line for line in lines)


def test_the_way_out_names_the_shortest_overlap_where_reads_are_shorter():
    assert shorter_than(LENGTHS, 301) == (
        "60 % of the bases are in reads shorter than --min-overlap 301: give a smaller one"
    )
    assert "the graph was cleaned" in shorter_than(LENGTHS, 300)


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """A folder with reads of a tenth of a genome at 12x, of all at 2x, and overlaps of these; uneven ones."""
    folder = tmp_path_factory.mktemp("sparse")
    genome = random_genome(60_000, seed=2)
    model = adapted_model("hifi", mean_length=5000)
    (folder / "few.fa").write_text(fasta_of(simulate_reads(genome, model, coverage=2, seed=1)[0]))
    overlapper("overlap", "few.fa", "-o", "few.paf", "-q", "-t", "1", cwd=folder, check=True)
    (folder / "u.fa").write_text(f">u\n{genome.sequence(0)[:6000]}\n")
    (folder / "many.fa").write_text(fasta_of(simulate_reads(genome, model, coverage=9, seed=1)[0]))
    plasmid = simulate_reads(random_genome(5000, seed=3), model, coverage=90, seed=1)[0]
    uneven = fasta_of(simulate_reads(genome, model, coverage=4, seed=1)[0]) + fasta_of(plasmid).replace(
        ">", ">p"
    )
    (folder / "uneven.fa").write_text(uneven)
    overlapper("overlap", "uneven.fa", "-o", "uneven.paf", "-q", "-t", "1", cwd=folder, check=True)
    return folder


@pytest.mark.parametrize(
    ("words", "stats", "says"),
    [
        ("assemble few.fa -o few --min-overlap 1k", "few/stats.json", "which is too few: contigs hold"),
        ("layout few.fa few.paf -o u.gfa --stats s.json", "s.json", "which is too few: unitigs hold"),
        ("layout uneven.fa uneven.paf -o v.gfa --stats v.json", "v.json", "reads lie unevenly: fewer than 8"),
        ("correct few.fa -o c.fa --stats c.json", "c.json", "which is too few: corrected reads hold"),
        ("polish u.fa many.fa -o p.fa --stats p.json", "p.json", "The other reads come from other molecules"),
    ],
)
def test_commands_end_with_what_they_hold_and_a_warning(sparse, words, stats, says):
    told = overlapper(*words.split(), "-t", "1", cwd=sparse).stderr.decode()
    (line,) = [line for line in told.splitlines() if "warning: " in line and says in line]
    document = json.loads((sparse / stats).read_text())
    held = document["held"]
    assert 0 < held["bases"] < held["of bases"] and held["reads"] < held["of reads"]
    assert f" hold {held['reads']:,} of {held['of reads']:,} reads" in told
    if words.startswith("layout"):
        return
    assert any(line.endswith(warning) for warning in document["warnings"])
