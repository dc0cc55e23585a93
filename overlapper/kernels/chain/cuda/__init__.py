"""CUDA kernels of the chain extender."""
