"""CUDA kernels of the GACT extender."""
