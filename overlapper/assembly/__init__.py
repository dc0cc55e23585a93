"""From reads to contigs: overlap, correct, lay out, polish."""
