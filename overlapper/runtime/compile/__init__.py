"""All that touches numba's own workings: the cache of compiled kernels, and what lets commands start fast."""
