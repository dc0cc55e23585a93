"""Kernels of minimizers and k-mers: sketching, counting, indexing."""
