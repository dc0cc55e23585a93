"""Lay reads out along their overlaps, step by step, and write unitigs as GFA and FASTA."""

import overlapper
from overlapper import graph
from overlapper.graph.export import to_networkx, unitig_fasta, unitig_gfa
from overlapper.io.outputs import write_lines

genome = overlapper.random_genome(100_000, seed=7)
reads, _ = overlapper.simulate_reads(genome, "hifi", coverage=20, seed=7, circular=True)
overlaps = overlapper.find_overlaps(reads, preset="hifi")

built, left_out = graph.build_graph(reads, overlaps)
reduced, transitive = graph.reduce(built)
cleaned, removed = graph.clean(reduced, overlaps)
for step in (left_out, transitive, removed):
    print(", ".join(f"{count} {what}" for what, count in step.items() if count))

layout, _ = graph.layout(cleaned)
for name, length, circular, depth in zip(
    layout.names, layout.lengths, layout.circular, layout.depth, strict=True
):
    print(f"{name}: {length} bases, {'circular' if circular else 'linear'}, depth {depth:.1f}")

write_lines("layout.gfa", unitig_gfa(layout, reads, overlaps=overlaps))
write_lines("unitigs.fasta", unitig_fasta(layout, reads))

network = to_networkx(cleaned)
print(f"{network.number_of_nodes()} nodes and {network.number_of_edges()} edges for networkx")
