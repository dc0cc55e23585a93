"""Find overlaps, look at them as arrays, and write them."""

import numpy as np

import overlapper

genome = overlapper.random_genome(60_000, seed=3)
reads, _ = overlapper.simulate_reads(genome, "ont", coverage=12, seed=3)  # or read_fastx("reads.fastq.gz")

run = overlapper.run(reads, preset="auto")
overlaps = run.overlaps
print(run.why)
print(", ".join(f"{count} {what}" for what, count in run.funnel.items()))

for kind in overlapper.OverlapClass:
    print(f"{np.count_nonzero(overlaps.kind == kind)} of class {kind.name.lower()}")

row = int(np.argmax(overlaps.q_end - overlaps.q_start))
query, target = reads.name(overlaps.query[row]), reads.name(overlaps.target[row])
strand = "reverse" if overlaps.reverse[row] else "forward"
print(f"the longest: {query} from {overlaps.q_start[row]} to {overlaps.q_end[row]} with {target}", end=" ")
print(f"from {overlaps.t_start[row]} to {overlaps.t_end[row]}, {strand} strand")

overlapper.write_overlaps(overlaps, reads, "overlaps.paf.gz")
again = overlapper.read_overlaps("overlaps.paf.gz", reads)
print(f"{len(again)} overlaps read back")
