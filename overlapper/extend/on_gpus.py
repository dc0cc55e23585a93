"""Which stages of an overlap run are done on GPUs: candidates, chains, extensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from overlapper.candidates.dsoft import DsoftFinder
from overlapper.candidates.dsoft_gpu import DsoftOnGpus
from overlapper.candidates.registry import QueryFinder
from overlapper.extend import chain_gpu, xdrop_gpu
from overlapper.extend.chain_gpu import ChainsOnGpus
from overlapper.extend.registry import FROM_SEEDS_ON_GPUS
from overlapper.extend.xdrop import fits_scores
from overlapper.extend.xdrop_gpu import XdropOnGpus
from overlapper.gpu.gpus import Gpus
from overlapper.gpu.opening import Opening
from overlapper.params.stages import Params
from overlapper.runtime.gpu.devices import Device
from overlapper.tables import Reads

_CANDIDATE_HITS = 1 << 21
"""Hits of a block of queries whose candidates are extended on GPUs: some 50,000 candidates."""


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
    kernels = [params.extender, *chain_gpu.KERNELS, *xdrop_gpu.KERNELS]
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
    finder : QueryFinder
    reads : Reads
    params : Params
    """
    if not gpus or not isinstance(finder, DsoftFinder):
        return (None if params.extender == FROM_SEEDS_ON_GPUS else gpus), None
    if params.extender == FROM_SEEDS_ON_GPUS:
        return gpus, ChainsOnGpus(gpus, finder, reads, params.chain)
    if params.extender == "xdrop" and fits_scores(int(reads.lengths.max(initial=0)), params.xdrop):
        return gpus, XdropOnGpus(gpus, finder, reads, params)
    return gpus, DsoftOnGpus(gpus, finder, _CANDIDATE_HITS)
