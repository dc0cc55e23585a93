"""The functions from reads to contigs: what they return, write and refuse; they do what the commands do."""

import inspect
import warnings

import numpy as np
import pysam
import pytest

import overlapper
from overlapper.errors import ParameterError
from overlapper.tables.columns import Columns
from tests.cli.runner import overlapper as command
from tests.read_sets import fasta_of

GENOME = overlapper.random_genome(30_000, seed=7)
READS, TRUTH = overlapper.simulate_reads(GENOME, "hifi", coverage=15, seed=7)


@pytest.fixture(scope="module")
def made():
    return overlapper.assemble(READS, threads=1)


def differing(sequence):
    """Return a haplotype that differs at every 300th base."""
    turned = str.maketrans("ACGT", "CATG")
    return "".join(base.translate(turned) if not i % 300 else base for i, base in enumerate(sequence))


@pytest.fixture(scope="module")
def diploid():
    one = GENOME.sequence(0)
    both = overlapper.Reads.from_sequences(["one", "two"], [one, differing(one)])
    reads, _ = overlapper.simulate_reads(both, "hifi", coverage=20, seed=3)
    return overlapper.assemble(reads, threads=1), both


def test_an_assembly_is_that_of_the_command(made, tmp_path):
    (tmp_path / "reads.fa").write_text(fasta_of(READS))
    command("assemble", "reads.fa", "-o", "out", "-t", "1", cwd=tmp_path, check=True)
    of_file = overlapper.assemble(tmp_path / "reads.fa", threads=1)
    of_file.write_fasta(tmp_path / "contigs.fa")
    of_file.write_gfa(tmp_path / "contigs.gfa")
    for name, written in (("contigs.fasta", "contigs.fa"), ("contigs.gfa", "contigs.gfa")):
        assert (tmp_path / written).read_text() == (tmp_path / "out" / name).read_text()
    lines = [line.split("\t") for line in (tmp_path / "out/contigs.tsv").read_text().splitlines()]
    assert list(of_file.table) == lines[0]
    assert (
        of_file.table["length"].tolist()
        == [int(row[1]) for row in lines[1:]]
        == made.contigs.lengths.tolist()
    )
    assert len(command("assemble", "--help", cwd=tmp_path).stdout) > 0
    assert (
        made.summary
        == repr(made)[len("AssemblyResult(") : -1]
        == "1 contig, 30,000 bases, N50 30,000, coverage 16"
    )


def test_a_table_says_which_ends_are_telomeres_where_a_motif_is_given(made):
    assert "telomere" not in made.table
    named = overlapper.assemble(READS, "hifi", telomere="ccctaa", threads=1)
    assert list(named.table) == [*made.table, "telomere"]


def test_tables_go_to_all_libraries(made):
    table = made.table
    assert (table["circular"].dtype, table["reads"].dtype, table["depth"].dtype) == (
        bool,
        np.int64,
        np.float64,
    )
    frame = made.reads.to_pandas()
    assert set(frame.contig) == {"utg000001l"}
    assert set(frame.read) <= set(READS.names)
    for of_library in (table.to_polars().to_dicts(), table.to_arrow().to_pylist()):
        assert of_library == table.to_pandas().to_dict("records")
    assert repr(table).startswith("Columns(1 rows: name, length, circular")
    assert repr(made.doubt).endswith(" rows: contig, start, end, reason, figure)")
    assert Columns.of_lines(["a\tb", "x\t*"], {"b": int})["b"].tolist() == [0]


def test_haplotypes_are_sequences_tables_and_files(diploid, tmp_path):
    made, both = diploid
    spelled = {
        bases for of in made.haplotypes for bases in (of.sequence(0), reverse_complement(of.sequence(0)))
    }
    assert all(any(bases in one for one in spelled) for bases in (both.sequence(0)[3_000:-3_000],))
    assert {(1, 1), (1, 2)} <= set(
        made.phase_blocks.to_pandas()[["block", "haplotype"]].itertuples(index=False)
    )
    for of in ("contigs", "hap1", "hap2", "primary"):
        made.write_fasta(tmp_path / "a.fa", of=of)
        made.write_gfa(tmp_path / "a.gfa", of=of)
        with pysam.FastxFile(str(tmp_path / "a.fa")) as file:
            names = [record.name for record in file]
        assert names == [
            x.split("\t")[1] for x in (tmp_path / "a.gfa").read_text().splitlines() if x[0] == "S"
        ]
    assert made.primary.names == names
    made.write_bam(tmp_path / "reads.bam")
    with pysam.AlignmentFile(str(tmp_path / "reads.bam")) as file:
        of_file = {r.query_name: r.get_tag("HP") for r in file if r.has_tag("HP")}
    frame = made.reads.to_pandas()
    frame = frame[frame.block > 0]
    assert of_file == dict(zip(frame.read, frame.haplotype, strict=True))
    made.write_paf(tmp_path / "reads.paf")
    assert len({x.split("\t")[0] for x in (tmp_path / "reads.paf").read_text().splitlines()}) == len(
        made.reads["read"]
    )


def reverse_complement(bases):
    return bases[::-1].translate(str.maketrans("ACGT", "TGCA"))


def test_steps_follow_each_other(tmp_path):
    overlaps = overlapper.find_overlaps(READS, threads=1)
    corrected = overlapper.correct(READS, overlaps=overlaps, rounds=1, threads=1)
    assert corrected.table["name"].tolist() == READS.names
    corrected.write_fastq(tmp_path / "corrected.fq.gz")
    assert len(overlapper.read_fastx(tmp_path / "corrected.fq.gz")) == len(corrected.reads)
    overlapper.write_overlaps(overlaps, READS, tmp_path / "o.paf")
    laid, of_file, found = (
        overlapper.layout(READS, given, threads=1) for given in (overlaps, tmp_path / "o.paf", None)
    )
    assert laid.contigs.sequence(0) == of_file.contigs.sequence(0) == found.contigs.sequence(0)
    assert laid.table["length"].tolist() == laid.contigs.lengths.tolist()
    laid.write_gfa(tmp_path / "u.gfa")
    laid.write_fasta(tmp_path / "u.fa")
    laid.write_paf(tmp_path / "u.paf")
    assert (tmp_path / "u.paf").read_bytes() == (tmp_path / "o.paf").read_bytes()
    polished = [overlapper.polish(given, READS, rounds=1, threads=1) for given in (laid, tmp_path / "u.gfa")]
    assert polished[0].contigs.sequence(0) == polished[1].contigs.sequence(0)
    polished[0].write_fasta(tmp_path / "p.fa")
    scores = [overlapper.evaluate(made, reference=GENOME) for made in (polished[0], tmp_path / "p.fa")]
    assert scores[0] == scores[1]
    assert scores[0].missing < 60
    assert "contigs" not in repr(scores[0])


def test_circles_of_a_layout_are_polished_as_circles():
    reads, _ = overlapper.simulate_reads(GENOME, "hifi", coverage=15, seed=1, circular=True)
    laid = overlapper.layout(reads, threads=1)
    assert laid.circular.tolist() == [True]
    assert overlapper.polish(laid, reads, rounds=1, threads=1).circular.tolist() == [True]


def test_everything_is_judged_by_one_function():
    overlaps = overlapper.find_overlaps(READS, threads=1)
    corrected = overlapper.correct(READS, rounds=1, threads=1)
    assert overlapper.evaluate(overlaps, TRUTH, reads=READS).total.precision == 1
    scores = overlapper.evaluate(corrected, TRUTH, reads=READS, reference=GENOME)
    assert scores.judged == len(READS)
    assert scores.corrected.mismatches < scores.raw.mismatches
    for given, missing in (
        ((overlaps,), "reads"),
        ((overlaps, TRUTH), "reads"),
        ((corrected, TRUTH), "reference"),
    ):
        with pytest.raises(ParameterError, match=f"^{missing} is missing: give {missing}=, the "):
            overlapper.evaluate(*given)


def test_mappings_are_written_by_name(tmp_path):
    mappings = overlapper.map_reads(GENOME, READS, secondary=0, threads=1)
    overlapper.write_mappings(mappings, READS, GENOME, tmp_path / "m.bam", sort=True, index=True)
    with pysam.AlignmentFile(str(tmp_path / "m.bam")) as file:
        assert file.count("genome") == len(mappings)


def test_poor_results_warn_in_the_words_of_the_library():
    few = READS.take(np.arange(4))
    with pytest.warns(overlapper.PoorResultWarning) as said:
        made = overlapper.assemble(few, threads=1)
    assert {str(one.message) for one in said} <= set(made.warnings)
    assert said[0].filename == __file__
    assert not any("--" in line or line.startswith("warning") for line in made.warnings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        overlapper.layout(READS, threads=1)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: overlapper.assemble(5), "^reads: 5 is given, expected the path of a file, a list"),
        (lambda: overlapper.assemble(READS, corect="never"), "corect, expected .*_rounds.* parent2, hic, ul"),
        (lambda: overlapper.assemble(READS, max_hang=3), "give changes={'graph': {'max_hang': 3}}"),
        (lambda: overlapper.assemble(READS, separate_below=0.1), "give changes={'separate_below': 0.1}"),
        (lambda: overlapper.assemble(READS, correct="no"), "^keywords: correct is 'no', expected"),
        (lambda: overlapper.assemble(READS, "pacbio"), "preset is 'pacbio'"),
        (lambda: overlapper.assemble(READS, rotate_to=5), "^rotate_to: 5 is given"),
        (lambda: overlapper.assemble(READS, parent2=5), "^parent2: 5 is given"),
        (lambda: overlapper.correct(READS, uncovered="x"), "uncovered is x, expected one of keep"),
        (lambda: overlapper.layout(READS, 5), "^overlaps: 5 is given, expected Overlaps or the path"),
        (lambda: overlapper.layout(READS, changes={"graf": {}}), "unknown parameter 'graf'"),
        (lambda: overlapper.polish(5, READS), "^contigs: 5 is given"),
        (lambda: overlapper.map_reads(5, READS), "^reference: 5 is given"),
        (lambda: overlapper.map_reads(GENOME, READS, min_score=5), "or changes={'choice': {'min"),
        (lambda: overlapper.align(5, "A"), "^5 is given, expected a sequence"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_one_line(wrong, said):
    with pytest.raises(ParameterError, match=said) as error:
        wrong()
    assert len(str(error.value)) < 260
    assert "\n" not in str(error.value)


def test_what_is_not_there_is_not_written(made, tmp_path):
    for write, said in (
        (lambda: made.write_fasta(tmp_path / "a.fa", of="hap1"), "there is no hap1"),
        (lambda: made.write_fasta(tmp_path / "a.fa", of="hap3"), "of is 'hap3', expected one of contigs"),
        (lambda: made.write_gfa(tmp_path / "a.txt"), "does not end in one of .gfa"),
        (lambda: made.write_bam(tmp_path / "a.paf"), "does not end in one of .bam"),
    ):
        with pytest.raises(ParameterError, match=said):
            write()
    assert (made.haplotypes, made.primary, made.phase_blocks) == (None, None, None)
    assert not list(tmp_path.iterdir())


FUNCTIONS = ("assemble", "correct", "find_overlaps", "layout", "map_reads", "polish")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_keywords_are_options_of_the_commands(name):
    """All functions have one style, and keywords that a user of the commands knows."""
    parameters = inspect.signature(getattr(overlapper, name)).parameters
    keywords = [key for key, one in parameters.items() if one.kind is one.KEYWORD_ONLY]
    assert {"changes", "threads"} <= set(keywords)
    assert "preset" in parameters
    own = {"overlaps", "changes", "clean", "client"} | (
        {"device", "gpu_memory"} if name == "layout" else set()
    )
    of_command = {
        "assemble": "assemble",
        "correct": "correct",
        "find_overlaps": "overlap",
        "map_reads": "map",
    }
    module = __import__(f"overlapper.cli.{of_command.get(name, name)}", fromlist=["x"])
    options = inspect.signature(getattr(module, of_command.get(name, name))).parameters
    assert set(keywords) - own <= set(options)
