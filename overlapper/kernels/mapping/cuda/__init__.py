"""CUDA kernels of mapping to a reference."""
