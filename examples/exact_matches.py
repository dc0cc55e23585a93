"""Find where reads match a genome exactly, keep the index, and look at the matches of one read."""

import numpy as np

import overlapper
from overlapper.index import Index

genome = overlapper.random_genome(
    50_000, seed=8, repeat_copies=4, repeat_length=2_000, repeat_divergence=0.02
)
reads, truth = overlapper.simulate_reads(genome, "clr", coverage=2, seed=8)

Index.build(genome).save("genome.index")
index = Index.load("genome.index")

mems = index.mems(reads, min_length=16)
smems = index.smems(reads, min_length=16)
print(f"{len(mems)} MEMs, {len(smems)} places of SMEMs, the longest of {smems.length.max()} bases")

longest = int(np.argmax(smems.length))
read = int(smems.query[longest])
of_read = smems.query == read
sequence, position = index.place(smems.t_start[of_read])
print(f"read {reads.name(read)} matches {index.text.name(sequence[0])} in {of_read.sum()} places:")
for start, length, place, reverse in zip(
    smems.q_start[of_read][:5],
    smems.length[of_read][:5],
    position[:5],
    smems.reverse[of_read][:5],
    strict=True,
):
    print(f"  {length} bases from {start}, at {place}{', reverse' if reverse else ''}")
