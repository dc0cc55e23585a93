"""Kernels that classify, choose and compare overlaps."""
