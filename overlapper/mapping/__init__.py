"""Mapping of reads to a reference: any seeds, chains of them, any extension. docs/algorithms/mapping.md."""
