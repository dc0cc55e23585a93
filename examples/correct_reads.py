"""Correct reads, and see what became of them."""

import overlapper

genome = overlapper.random_genome(20_000, seed=1)
reads, truth = overlapper.simulate_reads(genome, "ont-r10", coverage=15, seed=1)

corrected = overlapper.correct(reads)
print(corrected.summary)
print(f"identity before: {corrected.table['identity'].mean():.4f}")
scores = overlapper.evaluate(corrected, truth, reference=genome)
print(f"identity now: {scores.corrected.matches / scores.corrected.bases:.6f}")
corrected.write_fastq("corrected.fastq.gz")
