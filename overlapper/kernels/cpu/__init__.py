"""numba kernels, one file an algorithm."""
