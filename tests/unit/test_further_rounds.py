"""Further rounds of correction follow where the last one still changed many reads."""

import pytest

from overlapper.correction import reads as rounds
from overlapper.params.assembly import AssembleParams, WhenToCorrect
from overlapper.params.correction import CorrectParams
from overlapper.simulate import random_genome, simulate_reads
from overlapper.tiled.stages import Stages
from tests.steps import assemble_reads, correct

READS, _ = simulate_reads(random_genome(15_000, seed=4), "ont-r10", coverage=15, seed=4)


def corrected(**numbers):
    """Return the reads as corrected by so many rounds."""
    made = correct(READS, params=CorrectParams(**numbers)).reads
    return [made.sequence(i) for i in range(len(made))]


@pytest.mark.parametrize(("many", "of_one_and_two"), [(-1, 3), (1, 1)])
def test_further_rounds_follow_where_many_reads_changed(monkeypatch, many, of_one_and_two):
    monkeypatch.setattr(rounds, "CHANGED_SHARE", many)
    assert corrected(rounds=1, further_rounds=2) == corrected(rounds=of_one_and_two)


def rounds_of_assembly(preset, **params):
    """Return the stages of the votes of an assembly."""
    reads, _ = simulate_reads(random_genome(15_000, seed=4), preset, coverage=20, seed=4)
    stages = Stages()
    assemble_reads(reads, AssembleParams(**params), stages=stages)
    return [stage.name for stage in stages.done if stage.name in ("correct-1", "correct-2", "correct-4")]


@pytest.mark.parametrize("preset", ["ont-r10", "hifi"])
def test_assemblies_of_exact_overlaps_have_further_rounds(monkeypatch, preset):
    monkeypatch.setattr(rounds, "CHANGED_SHARE", -1)
    assert rounds_of_assembly(preset)[-1] == "correct-4"


@pytest.mark.parametrize("preset", ["ont-r10", "hifi"])
def test_assemblies_whose_reads_settle_have_no_further_rounds(preset):
    assert rounds_of_assembly(preset)[-1] == "correct-2"


def test_reads_that_are_corrected_without_exact_overlaps_have_no_further_rounds(monkeypatch):
    monkeypatch.setattr(rounds, "CHANGED_SHARE", -1)
    assert rounds_of_assembly("ont-r9", correct=WhenToCorrect.ALWAYS)[-1] == "correct-2"
