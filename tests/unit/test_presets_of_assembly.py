"""A preset names a technology; how reads are assembled is decided by the errors that they have."""

import pytest

from overlapper.overlap.presets import measured_error_rate
from overlapper.simulate import random_genome, simulate_reads
from overlapper.tables import Reads
from tests.steps import assemble_reads

READS, _ = simulate_reads(random_genome(15_000, seed=4), "ont-r10", coverage=20, seed=4)


@pytest.mark.parametrize("preset", ["ont", "ava-ont", "clr"])
def test_accurate_reads_are_assembled_as_such_whatever_the_preset(preset):
    named, estimated = (assemble_reads(READS, preset=p) for p in (preset, "auto"))
    assert "exact-overlaps" in [stage.name for stage in named.stages]
    assert [stage.name for stage in named.stages] == [stage.name for stage in estimated.stages]
    assert named.contigs.sequences.sequence(0) == estimated.contigs.sequences.sequence(0)


@pytest.mark.parametrize(("preset", "rate", "taken"), [("hifi", 0.002, "hifi"), ("auto", 0.06, "ont")])
def test_reads_that_do_not_overlap_have_the_error_rate_of_the_preset(preset, rate, taken):
    found = measured_error_rate(Reads.from_sequences(["a"], ["ACGT" * 500]), preset, 1)
    assert found.value == rate
    assert found.basis == f"too few overlaps to estimate it, so that of {taken} is used"
