"""numba-cuda twins of the kernels in cpu, under the same file names."""
