"""Kernels of the FM-index and of exact matches."""
