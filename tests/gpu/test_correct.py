"""Reads that are corrected or assembled by overlaps from GPUs are those of the CPU, to the last quality."""

import pytest

from overlapper import random_genome, simulate_reads
from overlapper.simulate import adapted_model
from tests.read_sets import columns_of
from tests.steps import assemble_reads, correct

pytestmark = pytest.mark.gpu


def reads_of(technology, bases, *, seed=3):
    model = adapted_model(technology, mean_length=2500)
    return simulate_reads(random_genome(bases, seed=seed), model, coverage=20, seed=seed)[0]


@pytest.mark.parametrize("technology", ["clr", "ont-r10"])
def test_corrected_reads_are_those_of_the_cpu(gpu, technology):
    reads = reads_of(technology, 60_000)
    made = {device: correct(reads, preset="clr", device=device) for device in ("cpu", "cuda")}
    assert columns_of(made["cuda"].reads) == columns_of(made["cpu"].reads)
    assert made["cuda"].funnel == made["cpu"].funnel
    assert made["cuda"].changes.to_tsv() == made["cpu"].changes.to_tsv()
    assert made["cpu"].funnel["round 1: reads aligned to reads"] > 300


def test_assemblies_are_those_of_the_cpu(gpu):
    reads = reads_of("hifi", 100_000)
    made = {
        device: assemble_reads(reads, device=device, threads=4).contigs.sequences
        for device in ("cpu", "cuda")
    }
    assert columns_of(made["cuda"]) == columns_of(made["cpu"])
    assert made["cpu"].total_bases > 90_000
