"""Run every finder and extender on the same reads, and compare what they find and how long it takes."""

import time

import overlapper
from overlapper.candidates.registry import FINDERS
from overlapper.extend.registry import EXTENDERS
from overlapper.io.reported import ReportedOverlaps

genome = overlapper.random_genome(30_000, seed=5)
reads, truth = overlapper.simulate_reads(genome, "ont", coverage=10, seed=5)

for finder in FINDERS:
    for extender in EXTENDERS:
        start = time.perf_counter()
        overlaps = overlapper.find_overlaps(
            reads, preset="ont", changes={"finder": finder, "extender": extender}
        )
        seconds = time.perf_counter() - start  # the first run of each compiles
        reported = ReportedOverlaps.from_table(overlaps, reads)
        scores = overlapper.evaluate_overlaps(truth, reported, min_overlap=1_000).total
        print(
            f"{finder} and {extender}: {len(overlaps)} overlaps in {seconds:.2f} s, "
            f"recall {scores.recall:.3f}, precision {scores.precision:.3f}"
        )
