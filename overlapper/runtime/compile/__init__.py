"""Changes to numba's own workings: kernels kept on disk, calls between kernels, a quick start."""
