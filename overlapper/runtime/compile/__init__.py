"""Where numba's own workings are touched: the cache of compiled kernels and what makes commands start quickly."""
