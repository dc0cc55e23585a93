"""Kernels that classify, choose and compare overlaps, for the CPU only."""
