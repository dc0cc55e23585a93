"""Align overlaps base by base, and read the alignment of one from its CIGAR."""

import collections

import overlapper

genome = overlapper.random_genome(30_000, seed=6)
reads, _ = overlapper.simulate_reads(genome, "ont", coverage=8, seed=6)
overlaps = overlapper.find_overlaps(reads, preset="ont", changes={"extender": "gact"})

best = int(overlaps.score.argmax())
operations = overlaps.cigar[overlaps.cigar_offsets[best] : overlaps.cigar_offsets[best + 1]]
columns = collections.Counter()
for packed in operations.tolist():
    columns["MIDNSHP=X"[packed & 15]] += packed >> 4

names = reads.name(overlaps.query[best]), reads.name(overlaps.target[best])
print(f"{names[0]} and {names[1]}: score {overlaps.score[best]}")
print(", ".join(f"{count} {operation}" for operation, count in columns.most_common()))
print(f"{overlaps.edits[best]} edits in {overlaps.block_length[best]} columns")
