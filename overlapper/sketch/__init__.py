"""Minimizers, the k-mer spectrum, and what they tell of a read set."""
