"""The Python library from reads to contigs: one function for each step, and what it returns."""
