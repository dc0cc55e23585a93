"""``--memory`` of correct, polish and assemble, as a user gives it."""

import re

import pytest

from overlapper.simulate import adapted_model, random_genome, simulate_reads
from tests.cli.runner import overlapper

CORRECT = ("correct", "reads.fastq", "--rounds", "1", "--uncovered", "split", "--table")
POLISH = ("polish", "whole/contigs.gfa", "reads.fastq", "--rounds", "1")
ASSEMBLE = ("assemble", "reads.fastq", "--min-overlap", "500", "--polish-rounds", "1")
QUIETLY = ("-q", "-t", "1", "-o")
BUDGET = ("--memory", "400M")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with reads that have qualities, and their assembly without a budget."""
    folder = tmp_path_factory.mktemp("budgets")
    model = adapted_model("ont-r10", mean_length=3_000)
    reads, _ = simulate_reads(random_genome(8_000, seed=4), model, coverage=12, seed=4)
    records = (
        f"@{reads.name(i)}\n{(bases := reads.sequence(i))}\n+\n{'9' * len(bases)}\n"
        for i in range(len(reads))
    )
    (folder / "reads.fastq").write_text("".join(records))
    overlapper(*ASSEMBLE, *QUIETLY, "whole", cwd=folder, check=True)
    return folder


def run(folder, *words):
    done = overlapper(*words, cwd=folder, check=True)
    return done.stdout.decode()


def test_a_budget_goes_on_where_it_stopped(folder):
    in_folder = (*POLISH, "-t", "1", *BUDGET, "--workdir", "work", "-o")
    run(folder, *POLISH, *QUIETLY, "a.fasta")
    run(folder, *in_folder, "b.fasta")
    done = overlapper(*in_folder, "c.fasta", cwd=folder)
    assert b"polish-1 is done already" in done.stderr
    for name in ("b.fasta", "c.fasta"):
        assert (folder / "a.fasta").read_bytes() == (folder / name).read_bytes()


def test_what_was_made_in_memory_is_taken_in_a_budget_and_the_other_way_round(folder):
    run(folder, *CORRECT, "a.tsv", *QUIETLY, "a.fastq")
    for name, first, second in (("one", (), BUDGET), ("two", BUDGET, ())):
        words = (*CORRECT, f"{name}.tsv", "-t", "1", "--workdir", name, "-o", f"{name}.fastq")
        run(folder, *words, *first)
        done = overlapper(*words, *second, cwd=folder)
        assert b"correct-1-overlaps is done already" in done.stderr
        assert b"correct-1 is done already" in done.stderr
        assert (folder / "a.fastq").read_bytes() == (folder / f"{name}.fastq").read_bytes()


def test_contigs_are_the_same_in_a_budget(folder):
    run(folder, *ASSEMBLE, *QUIETLY, "budget", *BUDGET)
    for name in ("contigs.fasta", "contigs.gfa", "contigs.tsv", "contigs.doubt.bed", "contigs.doubt.vcf"):
        assert (folder / "whole" / name).read_bytes() == (folder / "budget" / name).read_bytes()


@pytest.mark.parametrize("words", [(*CORRECT, "t.tsv"), POLISH, ASSEMBLE])
def test_a_plan_says_what_a_run_takes_and_leaves_nothing(folder, words):
    before = sorted(folder.iterdir())
    plan = run(folder, *words, "-q", "-t", "1", "-o", "planned", *BUDGET, "--plan")
    expected, budget = re.search(r"memory: about ([\d.]+) GB; budget ([\d.]+) GB", plan).groups()
    assert 0.2 < float(expected) <= float(budget) == 0.4
    assert "overlaps: at most 1 block, 1 tile\n" in plan
    assert "disk, besides overlaps" in plan
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("words", [(*CORRECT, "t.tsv"), POLISH, ASSEMBLE])
def test_a_budget_that_is_too_small_is_told(folder, words):
    done = overlapper(*words, *QUIETLY, "small", "--memory", "200M", cwd=folder)
    assert done.returncode == 1
    assert b"the memory budget of 200.0 MB is too small for" in done.stderr
    assert b"MB or more; fewer --threads take less" in done.stderr
    assert not (folder / "small").is_file()
    assert not list(folder.glob(".overlapper-*"))
