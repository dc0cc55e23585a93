"""Assemble reads of a small circular genome.

python examples/assemble_reads.py
"""

from overlapper import assemble_reads
from overlapper.assemble.contig_files import contig_table
from overlapper.simulate import random_genome, simulate_reads


def main():
    reads, _ = simulate_reads(random_genome(100_000), "ont-r10", coverage=20, circular=True)
    assembled = assemble_reads(reads)
    print(assembled.decision())
    for stage in assembled.stages:
        print(f"{stage.name}: {stage.seconds:.1f} s")
    for line in contig_table(assembled.contigs, assembled.error_rate, assembled.doubt):
        print(line)


if __name__ == "__main__":
    main()
