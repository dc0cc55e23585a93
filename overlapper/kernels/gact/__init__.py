"""Kernels of the GACT extender."""
