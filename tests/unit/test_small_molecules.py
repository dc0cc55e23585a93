"""Contigs of small molecules beside a genome, from noisy and from accurate reads."""

import pytest

from overlapper.simulate import adapted_model, random_genome, simulate_reads
from overlapper.tables import Reads
from tests.steps import assemble_reads

MOLECULES = [
    ("chromosome", 60_000, 25, False),
    ("plasmid", 3_000, 8, True),
    ("linear plasmid", 9_000, 25, False),
    ("small plasmid", 1_200, 60, True),
]
"""Names, bases, coverage, whether they are circles. Reads of 5 kb go once round the plasmid, so that some of
the overlaps that close it are short; a few of them contain all others of the linear one. The small one is
shorter than the shortest overlap of long reads."""


@pytest.mark.parametrize("preset", ["ont", "clr", "hifi"])
def test_small_molecules_are_contigs_of_their_own(preset):
    model = adapted_model(preset, mean_length=5_000)
    parts = []
    for seed, (name, size, coverage, circular) in enumerate(MOLECULES, 2):
        genome = random_genome(size, seed=seed)
        reads, _ = simulate_reads(genome, model, coverage=coverage, seed=seed, circular=circular)
        names = [f"{name} {read}" for read in range(len(reads))]
        parts.append(Reads.from_sequences(names, [reads.sequence(read) for read in range(len(reads))]))
    contigs = assemble_reads(Reads.concat(parts)).contigs
    assert contigs.circular.tolist() == [False, False, True, True]
    for found, (_, size, _, _) in zip(
        sorted(contigs.sequences.lengths), sorted(MOLECULES, key=lambda m: m[1]), strict=True
    ):
        assert abs(found - size) < size / 20
