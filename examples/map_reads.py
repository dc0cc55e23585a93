"""Map reads to a genome, and write the mappings as sorted BAM."""

import overlapper

genome = overlapper.random_genome(
    100_000, seed=7, repeat_copies=4, repeat_length=3_000, repeat_divergence=0.01
)
reads, _ = overlapper.simulate_reads(genome, "ont", coverage=5, seed=7)

mappings = overlapper.map_reads(genome, reads, "ont")
for kind in overlapper.MappingKind:
    print(f"{(mappings.kind == kind).sum()} {kind.name.lower()} mappings")

mapper = overlapper.Mapper(genome, preset="ont")
for hit in mapper.map(reads[0].sequence):
    print(f"{reads[0].name} maps to {hit.ctg}:{hit.r_st}-{hit.r_en}, strand {hit.strand}, quality {hit.mapq}")

overlapper.write_mappings(
    mappings, reads, genome, "mappings.bam", sort=True, index=True, read_group="ID:run1\tSM:sample"
)
