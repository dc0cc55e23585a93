"""Kernels of the finders: D-SOFT and the sparse product."""
