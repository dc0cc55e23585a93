"""From the seed index to the overlaps of chains on GPUs: hits, D-SOFT, chains and walks stay on the device.

Every GPU holds the seed index, in memory of its own. A block of queries goes there as two numbers, and comes
back as the chains that are kept; what an overlap is beyond its chain and its walks is found on the CPU
(`overlapper.extend.chain.settled`). What a GPU has no room for is done by the CPU, with the same result.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from overlapper.candidates.dsoft import DsoftFinder
from overlapper.candidates.registry import QueryFinder
from overlapper.errors import DeviceError
from overlapper.extend import chain
from overlapper.extend.chain_ends import Chains, walker
from overlapper.extend.registry import FROM_SEEDS_ON_GPUS
from overlapper.gpu.gpus import Gpus, Slot
from overlapper.kernels.chain.end_walks import EndScheme
from overlapper.kernels.common.walks import Seeds
from overlapper.params.stages import ChainParams, Params
from overlapper.runtime.threads import cut_evenly
from overlapper.tables import Overlaps, Reads

if TYPE_CHECKING:
    from overlapper.kernels.candidates.cuda.hits import Index
    from overlapper.kernels.chain.cuda.chain import Chained, SeededReads
    from overlapper.runtime.gpu.memory import Arena

KERNELS = ("candidates", "chain", "common.radix_sort", "common.scan")
"""How the names of the kernels begin that are needed."""
BLOCK_HITS = 1 << 24
"""Hits of the queries that go to a GPU together, at most, as far as known; each takes some 80 bytes."""
_BLOCKS_A_SLOT = 12
"""Blocks that each slot gets at least, so that all GPUs end at the same time, and little is left to do then."""
_HOST_BASES = 1 << 20
"""Query bases that the CPU does at a time, where it has to."""
_MARGIN = 1 << 12
"""Bytes that the arrays of an index may take beyond their items."""


class _There(NamedTuple):
    """The seed index on a GPU, and the arena that it lies in."""

    arena: Arena
    seeds: Index
    seeded: SeededReads


class ChainsOnGpus:
    """Overlaps of any range of queries, found on GPUs.

    Parameters
    ----------
    gpus : Gpus
        That hold the reads.
    finder : DsoftFinder
    reads : Reads
    params : ChainParams
    """

    def __init__(self, gpus: Gpus, finder: DsoftFinder, reads: Reads, params: ChainParams) -> None:
        self._gpus, self._finder, self._reads, self._params = gpus, finder, reads, params
        self._there: dict[int, _There | None] = {}
        self._uploading = threading.Lock()
        self._longest = 2 * int(reads.lengths.max(initial=0))

    def blocks(self, start: int, stop: int) -> np.ndarray:
        """Return the queries at which blocks of ``[start, stop)`` begin, and ``stop``."""
        lengths = self._reads.lengths[start:stop]
        held = int(BLOCK_HITS / max(self._finder.hits_per_base(), 1e-9))
        share = int(lengths.sum()) // (_BLOCKS_A_SLOT * self._gpus.slots)
        return start + cut_evenly(lengths, max(1, min(held, share)))

    def find(self, start: int, stop: int) -> tuple[Overlaps, dict[str, int]]:
        """Return the overlaps of queries ``[start, stop)``, and how many each step took.

        Returns
        -------
        overlaps : Overlaps
            By candidate, not classified.
        taken : dict of str to int
            Candidates, and chains dropped, by reason.
        """
        chained, fits = self._chains(start, stop)
        if chained:
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
        if not fits or stop - start < 2:
            return self._find_here(start, stop)
        middle = (start + stop) // 2
        return _joined([self.find(start, middle), self.find(middle, stop)])

    def _chains(self, start: int, stop: int) -> tuple[Chained | None, bool]:
        """Return the chains of queries, and whether a GPU has the index; none if it has no room for them."""
        from overlapper.kernels.candidates.cuda.dsoft import Bands, find_candidates
        from overlapper.kernels.chain.cuda.chain import chain_candidates

        index, dsoft, first_target = self._finder.index, self._finder.params, self._finder.first_target
        bands = Bands(
            index.kmer_length, dsoft.band_width.bit_length() - 1, dsoft.min_bases, dsoft.drift,
            dsoft.most_windows, dsoft.min_share,
        )  # fmt: skip
        with self._gpus.slot(stop - start) as slot, slot.working():
            there, arena = self._on(slot), slot.arena
            if not there:
                return None, False
            try:
                found = find_candidates(there.seeds, start, stop, first_target, self._longest, bands, arena)
                settings = chain.settings(self._params)
                return chain_candidates(found, there.seeded, index.kmer_length, settings, arena), True
            except DeviceError:
                return None, True

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
        bounds = start + cut_evenly(self._reads.lengths[start:stop], _HOST_BASES)
        for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            candidates = self._finder.find(first, last)
            overlaps, dropped = chain.extend(self._reads, candidates, self._params, 1)
            taken = {f"dropped: {why}": n for why, n in dropped.items()}
            parts.append((overlaps, {"candidates": len(candidates), **taken}))
        return _joined(parts)

    def _on(self, slot: Slot) -> _There | None:
        """Return the index on the GPU of a slot, which is copied there once; None where it does not fit."""
        with self._uploading:
            if slot.gpu not in self._there:
                self._there[slot.gpu] = self._upload(slot)
            return self._there[slot.gpu]

    def _upload(self, slot: Slot) -> _There | None:
        from overlapper.kernels.candidates.cuda.hits import Index
        from overlapper.kernels.chain.cuda.chain import SeededReads
        from overlapper.runtime.gpu.memory import Arena

        index, seeding = self._finder.index, self._finder.index.seeding
        columns = (
            index.occurrences, index.by_read, self._finder.lengths,
            seeding.sketched, seeding.positions, seeding.starts,
        )  # fmt: skip
        size = sum(column.nbytes for column in columns) + _MARGIN
        if size > slot.spare or not len(index.by_read):
            return None
        arena = Arena.allocate(size, slot.arena.pinned)
        try:
            occurrences, by_read, lengths, *seeded = map(arena.upload, columns)
        except DeviceError:
            return None
        arena.stream.synchronize()
        return _There(
            arena, Index(occurrences, by_read, index.list_starts, lengths), SeededReads(lengths, *seeded)
        )


def chains_on(
    gpus: Gpus | None, finder: QueryFinder, reads: Reads, params: Params
) -> tuple[Gpus | None, ChainsOnGpus | None]:
    """Return the GPUs that candidates are extended on, and what finds the overlaps of chains there.

    Either is None where the CPU does that: chains of seeds that another finder found, or of compressed reads,
    are found there.

    Parameters
    ----------
    gpus : Gpus or None
        That hold the reads.
    finder : QueryFinder
    reads : Reads
        In the form in which they are sketched.
    params : Params
    """
    if not gpus or params.extender != FROM_SEEDS_ON_GPUS:
        return gpus, None
    if not isinstance(finder, DsoftFinder) or params.sketch.homopolymer_compressed:
        return None, None
    return gpus, ChainsOnGpus(gpus, finder, reads, params.chain)


def _joined(parts: list[tuple[Overlaps, dict[str, int]]]) -> tuple[Overlaps, dict[str, int]]:
    """Return what was found of successive queries, together."""
    taken = {name: sum(counts[name] for _, counts in parts) for name in parts[0][1]}
    return Overlaps.concat([overlaps for overlaps, _ in parts]), taken
