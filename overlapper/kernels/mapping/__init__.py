"""Kernels of mapping to a reference."""
