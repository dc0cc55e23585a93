"""numba kernels, one file an algorithm."""

from overlapper.kernels.cpu.cache import mend_cache

mend_cache()
