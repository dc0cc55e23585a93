"""From the seed index to the overlaps of chains on GPUs: hits, D-SOFT, chains and walks stay on the device.

A GPU is sent the bounds of a block of queries and returns the chains that are kept; the CPU makes overlaps of
these (`overlapper.extend.chain.overlaps_of_chains`), with walks on the GPU. Queries that do not fit a GPU are
left to the CPU, with the same result.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from overlapper.candidates import dsoft_gpu
from overlapper.candidates.dsoft import DsoftFinder
from overlapper.candidates.dsoft_gpu import DeviceSeedIndex
from overlapper.errors import DeviceError
from overlapper.extend import chain
from overlapper.extend.chain_ends import Chains, walker
from overlapper.extend.from_seeds_gpu import Counted, FromSeedsOnGpus
from overlapper.gpu.gpus import Gpus
from overlapper.kernels.chain.end_walks import EndScheme
from overlapper.kernels.common.walks import Seeds
from overlapper.params.stages import ChainParams
from overlapper.tables import Reads

if TYPE_CHECKING:
    from overlapper.kernels.candidates.cuda.dsoft import Found
    from overlapper.kernels.chain.cuda.chain import Chained
    from overlapper.runtime.gpu.memory import Arena

KERNELS = (*dsoft_gpu.KERNELS, "chain")
"""Prefixes of the names of the kernels that this module needs."""


class ChainsOnGpus(FromSeedsOnGpus["Chained"]):
    """Finds overlaps by chains of seeds on GPUs."""

    def __init__(self, gpus: Gpus, finder: DsoftFinder, reads: Reads, params: ChainParams) -> None:
        super().__init__(gpus, finder, reads)
        self._params = params

    def _overlaps(self, chained: Chained) -> Counted:
        k, seeding = self._finder.index.kmer_length, self._finder.index.seeding
        query, target, reverse = np.ascontiguousarray(chained.pairs.T)
        chains = Chains(query, target, reverse.astype(bool), chained.rows)
        overlaps, n_unsure, n_disagree = chain.overlaps_of_chains(
            self._reads, chains, k, seeding, self._params, self._walk
        )
        return overlaps, {
            "candidates": chained.n_candidates,
            "dropped: few seeds": chained.n_few + n_unsure,
            "dropped: disagreement": chained.n_disagree + n_disagree,
        }

    def _made(self, found: Found | None, there: DeviceSeedIndex, arena: Arena) -> Chained:
        from overlapper.kernels.chain.cuda.chain import chain_candidates

        reads = chain.kernel.SeededReads._make((there.seeds.lengths, *there.seeding))
        return chain_candidates(
            found, reads, self._finder.index.kmer_length, *chain.settings(self._params), arena
        )

    def _walk(self, seeds: Seeds, items: np.ndarray, scheme: EndScheme) -> np.ndarray:
        """Walk as `overlapper.kernels.chain.end_walks.walk_ends` does."""
        from overlapper.kernels.chain.cuda.end_walks import walk_ends

        with self._gpus.slot(len(items)) as slot, slot.working(), contextlib.suppress(DeviceError):
            return walk_ends(slot.reads, seeds, items, scheme, slot.arena)
        return walker(self._reads)(seeds, items, scheme)

    def _find_here(self, start: int, stop: int) -> Counted:
        self._gpus.count("queries left to the CPU", stop - start)
        return super()._find_here(start, stop)

    def _extended(self, start: int, stop: int) -> Counted:
        candidates = self._finder.find(start, stop)
        overlaps, dropped = chain.extend(self._reads, candidates, self._params, 1)
        taken = {f"dropped: {why}": n for why, n in dropped.items()}
        return overlaps, {"candidates": len(candidates), **taken}
