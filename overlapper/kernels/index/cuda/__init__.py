"""CUDA kernels of exact matches."""
