"""From the seed index to the overlaps of chains on GPUs: hits, D-SOFT, chains and walks stay on the device.

A block of queries goes to a GPU as two numbers, and comes back as the chains that are kept; what an overlap
is beyond its chain and its walks is found on the CPU (`overlapper.extend.chain.settled`). What a GPU has no
room for is done by the CPU, with the same result.
"""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING

import numpy as np

from overlapper.candidates import dsoft_gpu
from overlapper.candidates.dsoft import DsoftFinder
from overlapper.candidates.dsoft_gpu import DsoftOnGpus, IndexThere
from overlapper.errors import DeviceError
from overlapper.extend import chain
from overlapper.extend.chain_ends import Chains, walker
from overlapper.gpu.gpus import Gpus
from overlapper.kernels.chain.end_walks import EndScheme
from overlapper.kernels.common.walks import Seeds
from overlapper.params.stages import ChainParams
from overlapper.runtime.threads import cut_evenly
from overlapper.tables import Overlaps, Reads

if TYPE_CHECKING:
    from overlapper.kernels.candidates.cuda.dsoft import Found
    from overlapper.kernels.chain.cuda.chain import Chained
    from overlapper.runtime.gpu.memory import Arena

KERNELS = (*dsoft_gpu.KERNELS, "chain")
"""How the names of the kernels begin that are needed."""
_BLOCK_HITS = 1 << 24
"""Of which seeds go to a GPU together, at most, as far as known."""
HOST_BASES = 1 << 20
"""Query bases that the CPU does at a time, where it has to."""


class ChainsOnGpus:
    """Overlaps of any range of queries, found on GPUs.

    Parameters
    ----------
    gpus : Gpus
        That hold the reads.
    finder : DsoftFinder
    reads : Reads
    params : ChainParams

    Attributes
    ----------
    blocks : callable
        That of `DsoftOnGpus`.
    slots : int
        Of the GPUs.
    """

    def __init__(self, gpus: Gpus, finder: DsoftFinder, reads: Reads, params: ChainParams) -> None:
        self._gpus, self._finder, self._reads, self._params = gpus, finder, reads, params
        self._dsoft = DsoftOnGpus(gpus, finder, _BLOCK_HITS)
        self.blocks, self.slots = self._dsoft.blocks, gpus.slots

    def find(self, start: int, stop: int) -> tuple[Overlaps, dict[str, int]]:
        """Return the overlaps of queries ``[start, stop)``, and how many each step took.

        Returns
        -------
        overlaps : Overlaps
            By candidate, not classified.
        taken : dict of str to int
            Candidates, and chains dropped, by reason.
        """
        parts = []
        for first, last, chained in self._dsoft.made(start, stop, self._chained):
            parts.append(self._settled(chained) if chained else self._find_here(first, last))
        return joined(parts)

    def _settled(self, chained: Chained) -> tuple[Overlaps, dict[str, int]]:
        k, seeding = self._finder.index.kmer_length, self._finder.index.seeding
        query, target, reverse = chained.pairs.T
        chains = Chains(query, target, reverse.astype(bool), chained.rows)
        overlaps, n_unsure, n_disagree = chain.settled(
            self._reads, chains, k, seeding, self._params, self._walk
        )
        return overlaps, {
            "candidates": chained.n_candidates,
            "dropped: few seeds": chained.n_few + n_unsure,
            "dropped: disagreement": chained.n_disagree + n_disagree,
        }

    def _chained(self, found: Found | None, there: IndexThere, arena: Arena) -> Chained:
        from overlapper.kernels.chain.cuda.chain import SeededReads, chain_candidates

        reads = SeededReads(there.seeds.lengths, *there.seeding)
        return chain_candidates(
            found, reads, self._finder.index.kmer_length, chain.settings(self._params), arena
        )

    def _walk(self, seeds: Seeds, items: np.ndarray, scheme: EndScheme) -> np.ndarray:
        """Walk as `overlapper.kernels.chain.end_walks.walk_ends` does."""
        from overlapper.kernels.chain.cuda.end_walks import walk_ends

        with self._gpus.slot(len(items)) as slot, slot.working(), contextlib.suppress(DeviceError):
            if slot.reads is not None:
                return walk_ends(slot.reads, seeds, items, scheme, slot.arena)
        return walker(self._reads)(seeds, items, scheme)

    def _find_here(self, start: int, stop: int) -> tuple[Overlaps, dict[str, int]]:
        self._gpus.count("queries left to the CPU", stop - start)
        parts = []
        bounds = start + cut_evenly(self._reads.lengths[start:stop], HOST_BASES)
        for first, last in itertools.pairwise(bounds.tolist()):
            candidates = self._finder.find(first, last)
            overlaps, dropped = chain.extend(self._reads, candidates, self._params, 1)
            taken = {f"dropped: {why}": n for why, n in dropped.items()}
            parts.append((overlaps, {"candidates": len(candidates), **taken}))
        return joined(parts)


def joined(parts: list[tuple[Overlaps, dict[str, int]]]) -> tuple[Overlaps, dict[str, int]]:
    """Return what was found of successive queries, together."""
    taken = {name: sum(counts[name] for _, counts in parts) for name in parts[0][1]}
    return Overlaps.concat([overlaps for overlaps, _ in parts]), taken
