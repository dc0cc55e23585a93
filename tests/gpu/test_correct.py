"""Reads corrected and contigs polished on GPUs are those of the CPU, to the last quality."""

import dataclasses

import numpy as np
import pytest

from overlapper import random_genome, simulate_reads
from overlapper.assemble.contigs import assemble_reads
from overlapper.correct import consensus
from overlapper.correct.polish import Unitigs, polish
from overlapper.correct.reads import correct
from overlapper.errors import DeviceError
from overlapper.params.correction import CorrectParams
from overlapper.simulate import adapted_model
from overlapper.tables import Reads
from tests.read_sets import columns_of

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def all_on_gpus(monkeypatch):
    """Have GPUs take part however few the bases are."""
    monkeypatch.setattr(consensus, "GPU_LEAST_BASES", 0)


def reads_of(technology, bases, *, seed=3):
    model = adapted_model(technology, mean_length=2500)
    return simulate_reads(random_genome(bases, seed=seed), model, coverage=20, seed=seed)[0]


def with_gaps(reads):
    """Return the reads with unknown bases, and empty and tiny ones besides."""
    texts = [reads.sequence(i) for i in range(len(reads))]
    texts = [text[:500] + "N" * (i % 40) + text[500 + i % 40 :] for i, text in enumerate(texts)]
    texts += ["", "ACGT", "N" * 300, texts[5]]
    return Reads.from_sequences([f"r{i}" for i in range(len(texts))], texts)


def with_qualities(reads):
    values = np.random.default_rng(1).integers(0, 60, reads.total_bases).astype(np.uint8)
    offsets = np.concatenate([[0], np.cumsum(reads.lengths)]).astype(np.int64)
    return dataclasses.replace(reads, qualities=values, quality_offsets=offsets)


def of_two_haplotypes():
    """Return reads of two sequences, one of which lacks twelve bases in three thousand."""
    genome = random_genome(30_000, seed=7).sequence(0)
    other = "".join(genome[start : start + 2988] for start in range(0, len(genome), 3000))
    model = adapted_model("ont-r10", mean_length=2500)
    parts = [
        simulate_reads(Reads.from_sequences(["one"], [text]), model, coverage=15, seed=seed)[0]
        for seed, text in enumerate((genome, other))
    ]
    texts = [part.sequence(i) for part in parts for i in range(len(part))]
    return Reads.from_sequences([f"r{i}" for i in range(len(texts))], texts)


SETS = {
    "two haplotypes": of_two_haplotypes,
    "clr": lambda: reads_of("clr", 60_000),
    "r7": lambda: reads_of("ont-r7", 40_000),
    "unknown bases": lambda: with_gaps(reads_of("clr", 40_000)),
    "qualities": lambda: with_qualities(reads_of("ont-r9", 40_000)),
}


@pytest.mark.parametrize("name", SETS)
def test_corrected_reads_are_those_of_the_cpu(gpu, name):
    reads = SETS[name]()
    made = {device: correct(reads, preset="clr", device=device) for device in ("cpu", "cuda")}
    assert columns_of(made["cuda"].reads) == columns_of(made["cpu"].reads)
    assert made["cuda"].funnel == made["cpu"].funnel
    assert made["cuda"].changes.to_tsv() == made["cpu"].changes.to_tsv()
    assert made["cpu"].funnel["round 1: reads aligned to reads"] > 300


def test_cpu_and_gpu_share_the_reads(gpu):
    reads = reads_of("clr", 60_000)
    alone = correct(reads, preset="clr", device="cpu")
    shared = correct(reads, preset="clr", device="cuda", threads=8)
    assert columns_of(shared.reads) == columns_of(alone.reads)
    assert shared.funnel == alone.funnel


def test_assemblies_are_those_of_the_cpu(gpu):
    reads = reads_of("hifi", 100_000)
    made = {
        device: assemble_reads(reads, device=device, threads=4).contigs.sequences
        for device in ("cpu", "cuda")
    }
    assert columns_of(made["cuda"]) == columns_of(made["cpu"])
    assert made["cpu"].total_bases > 90_000


def test_long_targets_and_polished_unitigs_are_those_of_the_cpu(gpu):
    genome = random_genome(120_000, seed=5)
    reads, _ = simulate_reads(genome, adapted_model("clr", mean_length=4000), coverage=15, seed=5)
    draft = simulate_reads(genome, adapted_model("ont-r10", mean_length=120_000), coverage=2, seed=6)[0]
    unitigs = Unitigs(draft.take(np.array([draft.lengths.argmax()])), np.array([False]))
    made = {device: polish(unitigs, reads, preset="clr", device=device) for device in ("cpu", "cuda")}
    assert columns_of(made["cuda"].unitigs.sequences) == columns_of(made["cpu"].unitigs.sequences)
    assert made["cuda"].funnel == made["cpu"].funnel


def test_batches_that_do_not_fit_are_cut(gpu, monkeypatch):
    reads = reads_of("clr", 60_000)
    expected = columns_of(correct(reads, preset="clr", device="cpu", params=CorrectParams(rounds=1)).reads)
    for memory in (600 << 20, 240 << 20):
        found = correct(
            reads, preset="clr", device="cuda:0", params=CorrectParams(rounds=1), gpu_memory=memory
        )
        assert columns_of(found.reads) == expected
    monkeypatch.setattr(consensus, "BLOCK_BASES", 20_000)
    found = correct(reads, preset="clr", device="cuda:0", params=CorrectParams(rounds=1))
    assert columns_of(found.reads) == expected
    with pytest.raises(DeviceError, match="--gpu-memory"):
        correct(reads, preset="clr", device="cuda:0", gpu_memory=1 << 20)
