"""Reading reads; writing and reading overlaps."""
