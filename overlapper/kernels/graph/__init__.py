"""Kernels of the overlap graph, for the CPU only."""
