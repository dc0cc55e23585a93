"""Kernels of the overlap graph."""
