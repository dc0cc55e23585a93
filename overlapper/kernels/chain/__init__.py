"""Kernels of the chain extender."""
