"""How many haplotype-specific bases corrected reads keep.

    python -m tests.benchmarks.haplotypes haplotypes.fasta NAME OTHER --technology hifi [--coverage 20]
    python -m tests.benchmarks.haplotypes random 200k 0.005 --technology clr

Reads of two haplotypes are simulated, each at the coverage given, and corrected together. Raw and corrected
reads are judged as `overlapper evaluate` does: at the sites where the haplotypes, or copies within them,
differ, a read has its own base, another one's, or neither.
"""

from __future__ import annotations

import numpy as np

from overlapper import evaluate_reads, read_fastx
from overlapper.cli.read_scores import as_text
from overlapper.cli.sizes import parse_size
from overlapper.correct.reads import correct
from overlapper.params.correction import CorrectParams
from overlapper.simulate import random_genome, simulate_reads
from overlapper.tables import Reads
from tests.benchmarks.harness import parser_of


def diploid(size, rate):
    """Return a random sequence and a copy in which that share of bases differs."""
    genome = random_genome(size, seed=3)
    rng = np.random.default_rng(5)
    codes = genome.codes(0).copy()
    changed = rng.random(size) < rate
    codes[changed] = (codes[changed] + rng.integers(1, 4, changed.sum())) % 4
    other = "".join(np.array(list("ACGT"))[codes])
    return Reads.from_sequences(["one", "two"], [genome.sequence(0), other])


def main():
    parser = parser_of(__doc__, technology="hifi", coverage=20.0, seed=1, rounds=2, threads=2)
    parser.add_argument("haplotypes", help="FASTA file, or random")
    parser.add_argument("names", nargs=2, help="two sequences of the file; for random, size and divergence")
    options = parser.parse_args()
    if options.haplotypes == "random":
        haplotypes = diploid(parse_size(options.names[0]), float(options.names[1]))
    else:
        given = read_fastx(options.haplotypes)
        haplotypes = given.take(np.array([given.names.index(name) for name in options.names]))
    reads, truth = simulate_reads(
        haplotypes, options.technology, coverage=options.coverage, seed=options.seed
    )
    print(f"{len(reads)} reads, {reads.total_bases:,} bases")
    corrected = correct(reads, params=CorrectParams(rounds=options.rounds), threads=options.threads).reads
    scores = evaluate_reads(corrected, truth, [haplotypes], raw=reads, threads=options.threads)
    print(f"{scores.sites:,} sites\n{as_text(scores)}", end="")


if __name__ == "__main__":
    main()
