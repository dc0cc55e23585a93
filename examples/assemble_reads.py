"""From FASTQ to contigs with phase, and to tables: python assemble_reads.py [READS...], or simulated ones."""

import sys

import overlapper

if files := sys.argv[1:]:
    reads = overlapper.read_fastx(*files, keep_qualities=True)
else:  # a small genome of two haplotypes that differ at every 300th base
    one = overlapper.random_genome(60_000, seed=1).sequence(0)
    two = "".join(base.translate({65: "T", 84: "A"}) if not i % 300 else base for i, base in enumerate(one))
    genome = overlapper.Reads.from_sequences(["one", "two"], [one, two])
    reads, _ = overlapper.simulate_reads(genome, "hifi", coverage=18, seed=2)

made = overlapper.assemble(reads)
print(made.summary)
print(made.table.to_pandas()[["name", "length", "circular", "depth", "quality", "alt_group"]])
made.write_fasta("contigs.fasta")
made.write_gfa("contigs.gfa")
made.write_bam("reads.bam")

if made.haplotypes:
    made.write_fasta("hap1.fasta", of="hap1")
    made.write_fasta("hap2.fasta", of="hap2")
    print(made.phase_blocks.to_pandas())
    of_haplotypes = made.reads.to_polars().group_by("block", "haplotype").len().sort("block", "haplotype")
    print(of_haplotypes)
