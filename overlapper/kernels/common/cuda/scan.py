"""Running sums on the device: where each item's results start, from how many each item has.

A block sums a tile of `TILE` values, the sums of tiles are summed in the same way, and each block then runs
over its tile once more from the sum of the tiles before.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from overlapper.runtime.gpu.launch import named
from overlapper.runtime.gpu.memory import Arena

THREADS = 256
EACH = 8
TILE = THREADS * EACH
_kernel = partial(named, "common.scan_kernels")


def exclusive_sums(values: Any, arena: Arena) -> Any:
    """Return the sum of the values before each one, and of all of them.

    Parameters
    ----------
    values : device array of int, shape (n,)
        n at least 1.
    arena : Arena
        Where the result goes.

    Returns
    -------
    device array of int64, shape (n + 1,)
    """
    tiles = -(-len(values) // TILE)
    offsets = arena.array(len(values) + 1, np.int64)
    if tiles > 1:
        tile_sums = arena.array(tiles, np.int64)
        _kernel("sum_tiles").launch(tiles, THREADS, arena.stream, values, tile_sums)
        tile_offsets = exclusive_sums(tile_sums, arena)
    else:
        tile_offsets = arena.zeros(1, np.int64)
    _kernel("scan_tiles").launch(tiles, THREADS, arena.stream, values, tile_offsets, offsets)
    return offsets


def last_of(offsets: Any, arena: Arena) -> int:
    """Return the last item of a device array."""
    return int(arena.download(offsets[len(offsets) - 1 :])[0])
