"""Judge overlaps by where the reads come from, for several shortest overlaps."""

import overlapper

genome = overlapper.random_genome(60_000, seed=4)
reads, truth = overlapper.simulate_reads(genome, "hifi", coverage=12, seed=4)
overlaps = overlapper.find_overlaps(reads, preset="hifi")

reported = overlapper.ReportedOverlaps.from_table(overlaps, reads)  # or the path of a PAF file
for shortest in (500, 1_000, 2_000, 5_000):
    scores = overlapper.evaluate_overlaps(truth, reported, min_overlap=shortest).total
    print(
        f"{shortest} bases or more: {scores.found} of {scores.true_pairs} pairs found, "
        f"recall {scores.recall:.4f}, precision {scores.precision:.4f}, "
        f"ends {scores.end_error:.0f} bases off in the median"
    )
