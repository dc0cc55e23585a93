"""Show how a run went: a page of HTML, a dot plot of two reads, and the overlaps along one."""

import numpy as np

import overlapper
from overlapper.io.outputs import write_text
from overlapper.plots import align_pair, plot_pair, plot_pile
from overlapper.report import Inputs, build_report

genome = overlapper.random_genome(40_000, seed=3)
reads, _ = overlapper.simulate_reads(genome, "ont", coverage=12, seed=3)
overlaps = overlapper.find_overlaps(reads, preset="ont")

inputs = Inputs(files=["simulated reads"], reads=reads, overlaps=overlaps, named=reads)
write_text("report.html", build_report(inputs, title="Simulated reads"))

longest = int((overlaps.q_end - overlaps.q_start).argmax())
pair = align_pair(reads.take(np.array([overlaps.query[longest], overlaps.target[longest]])))
write_text("pair.svg", plot_pair(pair))
print(f"{len(pair.seeds)} exact matches of {' and '.join(pair.reads.names)}")

name = reads.name(int(overlaps.query[longest]))
write_text("pile.svg", plot_pile(overlaps, reads, name))
print(f"report.html, pair.svg and pile.svg show {len(overlaps)} overlaps")
