"""CUDA kernels of plain pairwise alignment."""
