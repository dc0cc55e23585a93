"""CUDA kernels of finders."""
