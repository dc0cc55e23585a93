"""Walks from chains to read ends on a CUDA device; the twin of ../end_walks.py.

A thread walks from one end of a chain, tile by tile; `overlapper.extend.chain_ends` has the definition. All
of a walk is in registers: a tile's bases are cut out of the packed reads as bit planes.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from overlapper.kernels.chain.end_walks import EndScheme
from overlapper.kernels.common.cuda.walks import DeviceReads, upload_seeds
from overlapper.kernels.common.walks import Seeds
from overlapper.runtime.gpu.launch import launch, named
from overlapper.runtime.gpu.memory import Arena

_kernel = partial(named, "chain.end_walk_kernels")


def walk_ends(
    reads: DeviceReads, seeds: Seeds, items: np.ndarray, scheme: EndScheme, arena: Arena
) -> np.ndarray:
    """Walk from the seeds of chains towards read ends, as the CPU's `walk_ends` does.

    Parameters
    ----------
    reads : DeviceReads
    seeds, items, scheme
        As there, in host memory.
    arena : Arena
        Of the device that the reads are on; what it holds is kept.

    Returns
    -------
    ndarray of int32, shape (n, 2)
        Query and target bases of each walk.

    Raises
    ------
    DeviceError
        When the arena is too small for them.
    """
    if not len(items):
        return np.empty((0, 2), np.int32)
    mark = arena.mark()
    walked = arena.array((len(items), 2), np.int32)
    there, items_there = upload_seeds(seeds, arena), arena.upload(items)
    launch(_kernel("walk_each"), len(items), arena, reads.columns, there, items_there, scheme, walked)
    found = arena.download(walked)
    arena.release(mark)
    return found
