"""Overlaps of a tile: a block of queries against a block of targets, or all reads, in memory."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from overlapper.candidates.registry import Finder
from overlapper.extend import chain
from overlapper.extend.batches import cut_rising, in_batches
from overlapper.extend.chain_gpu import ChainsOnGpus
from overlapper.extend.cigars import with_cigars, without_cigars
from overlapper.extend.classify import reported_classes
from overlapper.extend.on_gpus import found_on_gpus, stages_on_gpus
from overlapper.extend.registry import ALIGNING, ON_GPUS, extender
from overlapper.extend.threshold import has_seeds, score_threshold
from overlapper.extend.xdrop_gpu import XdropOnGpus
from overlapper.gpu.gpus import Gpus, Opening
from overlapper.params.stages import Params
from overlapper.runtime.messages import Report, reported, unreported
from overlapper.runtime.threads import cut_evenly, cut_falling, map_in_order
from overlapper.tables import Candidates, Overlaps, Reads

BLOCK_BASES = 1 << 21
"""Query bases of a block, whose candidates a thread holds at a time; more for large sets."""
BLOCK_HITS = 1 << 19
"""About the most hits of a block, small enough for their arrays to be reused rather than mapped anew. Where
all reads overlap each other, a megabase of queries has billions of hits."""

Block = tuple[int, int, int]
"""Number of a strip, and a range of its queries."""
BlockOverlaps = tuple[Overlaps, dict[str, int]]
"""Overlaps of some queries, and the counts of candidates and of what was dropped."""


@dataclasses.dataclass(frozen=True)
class Tile:
    """The reads of a tile, and the finder of their candidates."""

    reads: Reads
    """Of the block of queries, then of the block of targets; or of one block that is both."""
    order: np.ndarray
    """int64, shape (reads,); the number of each read in the input."""
    finder: Finder

    def agreements(
        self, queries: np.ndarray, params: Params, opened: Opening | None, threads: int
    ) -> Iterator[np.ndarray]:
        """Yield the agreement of the chains of some queries (`overlapper.extend.chain.agreements`)."""
        found = found_on_gpus(opened, self.finder, queries)

        def measured(query: int) -> np.ndarray:
            candidates = found[query] if found else self.finder.find(query, query + 1)
            return chain.agreements(self.reads, candidates, params.chain)

        yield from map_in_order(measured, queries.tolist(), threads)


class Extension:
    """Finds the overlaps of a tile: candidates, their extension, and the filters that need one overlap alone.

    Parameters
    ----------
    tile : Tile
    params : Params
    gpus : Gpus or None
        That hold the reads.

    Attributes
    ----------
    gpus : Gpus or None
        None where the CPU extends.
    """

    def __init__(self, tile: Tile, params: Params, gpus: Gpus | None) -> None:
        self._tile, self._params = tile, params
        self.gpus, self._gpu_finder = stages_on_gpus(gpus, tile.finder, tile.reads, params)
        from_seeds = isinstance(self._gpu_finder, ChainsOnGpus | XdropOnGpus)
        self._from_seeds: Any = self._gpu_finder if from_seeds else None
        self._extend = extender(params.extender, self.gpus)
        self._extender_params: Any = getattr(params, params.extender, None)

    @property
    def devices(self) -> list[str]:
        """Names of the devices that extend candidates."""
        return self.gpus.names if self.gpus else ["cpu"]

    def overlaps(
        self,
        strips: Sequence[tuple[int, int]],
        threads: int,
        share: int,
        report: Report = unreported,
        keep: Callable[[Overlaps], Overlaps] = lambda overlaps: overlaps,
    ) -> Iterator[tuple[int, BlockOverlaps]]:
        """Yield the overlaps of all queries, a block or a batch at a time, in order.

        Parameters
        ----------
        strips : sequence of tuple of int
            Ranges ``[start, stop)`` of queries. The next strip is begun before the last one is complete.
        share : int
            Query bases of a block; fewer if they have more hits than `BLOCK_HITS`.
        report : callable
            Receives the number of finished blocks.
        keep : callable
            Called with the overlaps of each block, by several threads, in any order; what it returns is
            yielded.

        Yields
        ------
        tuple
            Number of the strip, and its overlaps with counts.
        """
        blocks = [
            (strip, start, stop)
            for strip, bounds in enumerate(self._cut(strips, threads, share))
            for start, stop in itertools.pairwise(bounds.tolist())
        ]

        if self.gpus and not self._from_seeds:
            yield from self._in_batches(blocks, threads, report, keep)
            return

        def of_block(block: Block) -> tuple[int, BlockOverlaps]:
            strip, start, stop = block
            overlaps, counts = self._of_queries(start, stop)
            return strip, (keep(overlaps), counts)

        waiting = self._from_seeds.slots if self._from_seeds else 0
        yield from reported(
            map_in_order(of_block, blocks, threads + waiting), "overlapping", len(blocks), report
        )

    def _of_queries(self, start: int, stop: int) -> BlockOverlaps:
        """Find the overlaps of queries ``[start, stop)``."""
        if self._from_seeds:
            return self._judged(*self._from_seeds.find(start, stop))
        return self._extended(self._tile.finder.find(start, stop))

    def _in_batches(
        self, blocks: list[Block], threads: int, report: Report, keep: Callable[[Overlaps], Overlaps]
    ) -> Iterator[tuple[int, BlockOverlaps]]:
        """Yield what `overlaps` does, from batches of the candidates of several blocks of a strip."""
        assert self.gpus
        finder: Any = self._gpu_finder or self._tile.finder
        slots, most = self.gpus.slots, ON_GPUS[self._params.extender]

        def found(block: Block) -> Candidates:
            return finder.find(*block[1:]).without_hits()

        def extended(batch: tuple[int, Candidates]) -> tuple[int, BlockOverlaps]:
            overlaps, counts = self._extended(batch[1])
            return batch[0], (keep(overlaps), counts)

        candidates = reported(map_in_order(found, blocks, threads), "overlapping", len(blocks), report)
        batches = (
            (strip, batch)
            for strip, n in Counter(map(itemgetter(0), blocks)).items()
            for batch in in_batches(itertools.islice(candidates, n), n, slots, most)
        )
        yield from map_in_order(extended, batches, slots + threads)

    def _cut(self, strips: Sequence[tuple[int, int]], threads: int, share: int) -> list[np.ndarray]:
        """Return the bounds of the blocks of each strip."""
        if self._gpu_finder:
            return [self._gpu_finder.blocks(start, stop) for start, stop in strips]
        lengths, bases = self._tile.reads.lengths, block_bases(share, self._tile.finder.hits_per_base())

        def cut(number: int, start: int, stop: int) -> np.ndarray:
            if self.gpus:
                return start + cut_rising(lengths[start:stop], bases, threads)
            if number + 1 < len(strips):  # threads go on with the next strip
                return start + cut_evenly(lengths[start:stop], bases)
            return start + cut_falling(lengths[start:stop], bases, threads)

        return [cut(number, *strip) for number, strip in enumerate(strips)]

    def _extended(self, candidates: Candidates) -> BlockOverlaps:
        """Extend candidates with enough seeds; filter the overlaps by `_judged`."""
        taken, least = {"candidates": len(candidates)}, None
        if self._params.extender in ALIGNING:
            begun = np.flatnonzero(has_seeds(candidates, self._params))
            taken["dropped: few seeds"] = len(candidates) - len(begun)
            candidates = candidates.take(begun)
            least = score_threshold(candidates.span, self._extender_params, self._params.threshold)
        found, dropped = self._extend(self._tile.reads, candidates, self._extender_params, 1)
        taken |= {f"dropped: {why}": n for why, n in dropped.items()}
        return self._judged(found, taken, least)

    def _judged(
        self, found: Overlaps, taken: dict[str, int], least: np.ndarray | None = None
    ) -> BlockOverlaps:
        """Drop overlaps that are too short or score below ``least``; number reads as in the input.

        Which overlaps are internal matches is found later, from all of them (`overlapper.extend.stops`).
        """
        overlaps, counts, tile = without_cigars(found), dict(taken), self._tile
        overlaps = dataclasses.replace(overlaps, kind=reported_classes(overlaps, tile.reads.lengths))
        kept = np.ones(len(overlaps), bool)

        def drop(why: str, faulty: np.ndarray) -> None:
            name = f"dropped: {why}"
            counts[name] = counts.get(name, 0) + int(np.count_nonzero(kept & faulty))
            kept[faulty] = False

        if least is not None:
            drop("low score", overlaps.score < least)
        shorter = np.minimum(overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start)
        drop("too short", shorter < self._params.classes.min_overlap)
        rows = np.flatnonzero(kept)
        overlaps = overlaps.take(rows)
        swapped = tile.order[overlaps.query] > tile.order[overlaps.target]
        return with_cigars(overlaps.renumber(tile.order), [found], rows, swapped=swapped), counts


def block_bases(bases: int, hits_per_base: float) -> int:
    """Return how many query bases a block has: ``bases``, or fewer if these have too many hits.

    Too many are more than `BLOCK_HITS` for each `BLOCK_BASES`.
    """
    most = BLOCK_HITS * max(1, bases // BLOCK_BASES)
    return bases if bases * hits_per_base <= most else max(1, int(most / hits_per_base))
