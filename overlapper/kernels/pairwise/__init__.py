"""Kernels of plain pairwise alignment."""
