"""Whole reads aligned with a window of the reference: global, semi-global and local."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from overlapper.mapping.chains import Chains
from overlapper.mapping.extenders import Paths
from overlapper.mapping.windows import Windows, align_windows, room
from overlapper.params.mapping import MapParams
from overlapper.tables import Reads


def extend_globally(reads: Reads, reference: Reads, chains: Chains, params: MapParams) -> Paths:
    """Align every read with what its chain spans, carried on along its first and last diagonal."""
    windows = _windows(reads, reference, chains, carried_on=lambda bases: bases)
    return align_windows(reads, reference, chains, windows, "global", params.scoring)


def extend_semi_globally(reads: Reads, reference: Reads, chains: Chains, params: MapParams) -> Paths:
    """Align every read whole with any part of a window around its chain."""
    windows = _windows(reads, reference, chains, carried_on=room)
    free = ("target-start", "target-end")
    return align_windows(reads, reference, chains, windows, "semi-global", params.scoring, free)


def extend_locally(reads: Reads, reference: Reads, chains: Chains, params: MapParams) -> Paths:
    """Align any part of every read with any part of a window around its chain."""
    windows = _windows(reads, reference, chains, carried_on=room)
    return align_windows(reads, reference, chains, windows, "local", params.scoring)


def _windows(
    reads: Reads, reference: Reads, chains: Chains, carried_on: Callable[[np.ndarray], np.ndarray]
) -> Windows:
    """Return whole reads, and the chains' spans with so much more at either end as the reads stick out."""
    lengths = reads.lengths[chains.read]
    t_start = chains.t_start - carried_on(chains.q_start)
    t_end = chains.t_end + carried_on(lengths - chains.q_end)
    return Windows(
        q_start=np.zeros(len(chains), np.int64),
        q_end=lengths,
        t_start=np.maximum(t_start, 0),
        t_end=np.minimum(t_end, reference.lengths[chains.target]),
    )
