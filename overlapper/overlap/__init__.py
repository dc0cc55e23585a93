"""From reads to overlaps: the stages in the order they run."""
