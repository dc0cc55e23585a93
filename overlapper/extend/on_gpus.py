"""Which stages of an overlap run are done on GPUs: seeding, candidates, chains, extensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from overlapper.candidates import registry
from overlapper.candidates.dsoft import DsoftFinder
from overlapper.candidates.dsoft_gpu import DsoftOnGpus
from overlapper.candidates.registry import QueryFinder
from overlapper.extend import chain_gpu, xdrop_gpu
from overlapper.extend.chain_gpu import ChainsOnGpus
from overlapper.extend.registry import FROM_SEEDS_ON_GPUS
from overlapper.extend.xdrop import fits_scores
from overlapper.extend.xdrop_gpu import XdropOnGpus
from overlapper.gpu.gpus import Gpus, Opening
from overlapper.params.stages import Params
from overlapper.runtime.gpu.devices import Device
from overlapper.sketch import seed_index_gpu
from overlapper.sketch.seed_lists_gpu import DeviceSeedLists
from overlapper.tables import Candidates, Reads

LEAST_BASES_SEEDED_ON_GPU = 1 << 26
"""Least bases of a read set to seed on a GPU: a smaller one is seeded before a GPU is ready."""
_CANDIDATE_HITS = 1 << 21
"""Hits of a block of queries whose candidates are extended on GPUs: some 50,000 candidates."""


def prepared_finder(opened: Opening | None, reads: Reads, params: Params, threads: int) -> registry.Finder:
    """Return the finder of a run, with seeds indexed on a GPU for large read sets.

    Parameters
    ----------
    opened : Opening or None
        GPUs that hold the reads.
    """
    kind = registry.finder(params.finder)
    if opened and kind is DsoftFinder and reads.total_bases >= LEAST_BASES_SEEDED_ON_GPU:
        gpus = opened()
        index = seed_index_gpu.build(gpus, reads, params.sketch, threads) if gpus else None
        if index:
            return DsoftFinder(reads.lengths, index, params.dsoft)
    return kind.prepare(reads, params, threads)


def found_on_gpus(opened: Opening | None, finder: QueryFinder, queries: np.ndarray) -> dict[int, Candidates]:
    """Return the candidates, with seeds, of each of these queries where GPUs have the index; else nothing."""
    if not (opened and isinstance(finder, DsoftFinder) and isinstance(finder.index.lists, DeviceSeedLists)):
        return {}
    gpus = opened()
    assert gpus
    return dict(
        zip(queries.tolist(), DsoftOnGpus(gpus, finder, _CANDIDATE_HITS).find_each(queries), strict=True)
    )


def opening(
    choose: Callable[[], Sequence[Device]],
    memory: int,
    params: Params,
    closed: Callable[[Sequence[str]], object] = lambda names: None,
) -> Opening:
    """Open the GPUs of a run in the background, with the kernels that it may need.

    Parameters
    ----------
    choose, memory, closed
        As `Opening` takes them.
    params : Params
        Those that are known already.
    """
    kernels = [*seed_index_gpu.KERNELS, params.extender, *chain_gpu.KERNELS, *xdrop_gpu.KERNELS]
    return Opening(choose, memory, kernels, closed)


def stages_on_gpus(
    gpus: Gpus | None, finder: QueryFinder, reads: Reads, params: Params
) -> tuple[Gpus | None, ChainsOnGpus | XdropOnGpus | DsoftOnGpus | None]:
    """Return the GPUs that extend candidates, and the finder that works on GPUs.

    Either is None where the CPU does that work: it chains the seeds of other finders.

    Parameters
    ----------
    gpus : Gpus or None
        That hold the reads.
    """
    if not gpus or not isinstance(finder, DsoftFinder):
        return (None if params.extender == FROM_SEEDS_ON_GPUS else gpus), None
    if params.extender == FROM_SEEDS_ON_GPUS:
        return gpus, ChainsOnGpus(gpus, finder, reads, params.chain)
    if params.extender == "xdrop" and fits_scores(int(reads.lengths.max(initial=0)), params.xdrop):
        return gpus, XdropOnGpus(gpus, finder, reads, params)
    return gpus, DsoftOnGpus(gpus, finder, _CANDIDATE_HITS)
