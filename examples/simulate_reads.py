"""Simulate reads with a model of one's own, and look at where they come from."""

import numpy as np

from overlapper.simulate import adapted_model, random_genome, simulate_reads

genome = random_genome(100_000, seed=7, repeat_copies=4, repeat_length=3_000, repeat_divergence=0.01)
model = adapted_model("ont-r10", mean_length=5_000, identity=0.99, chimeras=0.0)
reads, truth = simulate_reads(genome, model, coverage=20, seed=7, circular=True)

normal = truth.kind == "normal"
print(f"{len(reads)} reads of {reads.total_bases} bases, {normal.sum()} of them normal")
print(f"mean length {reads.lengths.mean():.0f}, mean identity {truth.identity[normal].mean():.4f}")
print(f"{np.mean(truth.strand[normal] == '-'):.0%} from the reverse strand")
print(f"the first read: {reads.name(0)}, {reads.sequence(0)[:40]}...")
