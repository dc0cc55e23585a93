"""CUDA kernels of the consensus."""
