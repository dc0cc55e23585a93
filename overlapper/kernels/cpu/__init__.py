"""numba kernels, one file an algorithm."""

from overlapper.kernels.cpu.cache import lock_while_saving

lock_while_saving()
