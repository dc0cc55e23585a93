"""Work on a tile, a block of queries against a block of targets, by this process or a worker.

A tile is done in strips of queries, each an artifact that a later run finds. What a strip holds depends on
neither the device nor the threads.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path

import numpy as np

from overlapper.candidates.blocks import IN_BLOCKS, SeededBlocks, sketched_form
from overlapper.extend.on_gpus import found_on
from overlapper.extend.registry import extending_devices
from overlapper.gpu.gpus import Gpus
from overlapper.io.artifacts import Artifact, Finisher, finished
from overlapper.io.pieces import write_piece
from overlapper.io.read_store import ReadStore
from overlapper.overlap import pipeline
from overlapper.params.stages import Params
from overlapper.runtime.threads import cut_evenly
from overlapper.tables import Overlaps, Reads

STRIP_BASES = 1 << 26
"""Query bases of a strip."""
PIECE_BYTES = 1 << 26
"""Bytes of overlaps that wait to be written."""

Tile = tuple[int, int]
"""Block of queries, block of targets."""
Found = tuple[Overlaps, dict[str, int]]
"""Overlaps of some queries, and how many each step took."""


@dataclasses.dataclass(frozen=True)
class TileWork:
    """Parameters and folders that a worker needs to do tiles.

    Attributes
    ----------
    reads, seeds, results : Path
        Folders of the stages.
    params : Params
    device : str
        What candidates are extended on, as `overlapper.runtime.gpu.devices.select_devices` takes it.
    gpu_memory : int
        Bytes to take on each GPU at most; 0 takes what is free.
    """

    reads: Path
    seeds: Path
    results: Path
    params: Params
    device: str = "cpu"
    gpu_memory: int = 0

    def store(self) -> ReadStore:
        """Return the reads."""
        return ReadStore.open(there(self.reads))

    def blocks(self) -> SeededBlocks:
        """Return the seeds."""
        return IN_BLOCKS[self.params.finder](there(self.seeds), self.params)

    def strips(self, tile: Tile) -> list[Path]:
        """Return where the strips of a tile are, or are to be."""
        bounds = self._strip_bounds(tile)
        return [self.results / f"{tile[0]}-{tile[1]}-{number}" for number in range(len(bounds) - 1)]

    def missing(self, tile: Tile, *, verify: bool = False) -> list[int]:
        """Return the numbers of the strips that are not finished.

        Parameters
        ----------
        tile : Tile
        verify : bool
            Compare the digests of those that are.
        """
        paths = self.strips(tile)
        return [number for number, path in enumerate(paths) if finished(path, verify=verify) is None]

    def _strip_bounds(self, tile: Tile) -> np.ndarray:
        """Return the queries, counted from the start of their block, at which strips start."""
        bounds = Artifact(self.seeds, {}).load("bounds", np.int64, tile[0], tile[0] + 2)
        lengths = Artifact(self.reads, {}).load("lengths", np.int64, int(bounds[0]), int(bounds[1]))
        return cut_evenly(lengths, STRIP_BASES)

    def run(self, tile: Tile, threads: int, numbers: list[int], loaded: LoadedTile | None = None) -> None:
        """Do some strips of a tile, which is loaded unless it is there already."""
        bounds, paths = self._strip_bounds(tile), self.strips(tile)
        devices = extending_devices(self.params.extender, self.device)
        on_gpus = devices[0].name != "cpu"
        with Gpus(devices, self.gpu_memory) if on_gpus else contextlib.nullcontext() as gpus:
            loaded = loaded or LoadedTile(self, tile, threads)
            strips = [(int(bounds[number]), int(bounds[number + 1])) for number in numbers]
            with Finisher() as finisher:
                of_strips = loaded.overlaps(strips, self.params, threads, gpus)
                for number, found in zip(numbers, of_strips, strict=True):
                    with finisher.writing(paths[number]) as artifact:
                        write_strip(artifact, found)
                        artifact.facts["devices"] = [device.name for device in devices]


class LoadedTile:
    """The reads and seeds of a tile, in memory.

    Attributes
    ----------
    reads : Reads
        Of the block of queries, then of the block of targets.
    seeded : Reads
        In the form in which they are sketched.
    finder : QueryFinder
    """

    def __init__(self, work: TileWork, tile: Tile, threads: int) -> None:
        store, seeds = work.store(), work.blocks()
        blocks = [tile[0]] if tile[0] == tile[1] else list(tile)
        bounds = [(int(seeds.bounds[block]), int(seeds.bounds[block + 1])) for block in blocks]
        self.reads = Reads.concat([store.block(*bound) for bound in bounds])
        self._order = np.concatenate([store.order[start:stop] for start, stop in bounds])
        self.seeded, self._run_map = sketched_form(self.reads, work.params.sketch.homopolymer_compressed)
        self.finder = seeds.finder(blocks, self.seeded, threads)

    def overlaps(
        self, strips: list[tuple[int, int]], params: Params, threads: int, gpus: Gpus | None
    ) -> Iterator[Iterator[Found]]:
        """Yield what is found of each strip of queries ``[start, stop)`` of the tile.

        While the last overlaps of a strip are written, candidates of the next one are looked for.
        """
        if gpus:
            gpus.hold(self.reads)
        gpus, there = found_on(gpus, self.finder, self.seeded, params)
        stages = pipeline.Tile(self.reads, self._order, self.seeded, self._run_map, params, gpus)
        lengths = self.reads.lengths
        if there:
            cuts = [there.blocks(start, stop) for start, stop in strips]
        else:
            share = pipeline.held_bases(pipeline.BLOCK_BASES, self.finder.hits_per_base())
            cuts = [start + cut_evenly(lengths[start:stop], share) for start, stop in strips]
        blocks = [list(itertools.pairwise(cut.tolist())) for cut in cuts]
        found = pipeline.overlaps_of_blocks(stages, there or self.finder, blocks, threads, gpus)
        for _, of_strip in itertools.groupby(found, key=itemgetter(0)):
            yield ((overlaps, counts) for _, overlaps, counts in of_strip)


def write_strip(artifact: Artifact, found: Iterable[Found]) -> None:
    """Write the overlaps of a strip, in pieces, and note how many each step took."""
    waiting: list[Overlaps] = []
    taken: dict[str, int] = {}
    for overlaps, counts in found:
        if len(overlaps):
            waiting.append(overlaps)
        taken = {name: taken.get(name, 0) + count for name, count in counts.items()}
        if sum(part.nbytes for part in waiting) >= PIECE_BYTES:
            write_piece(artifact, Overlaps.concat(waiting))
            waiting = []
    if waiting:
        write_piece(artifact, Overlaps.concat(waiting))
    artifact.facts["taken"] = taken


def there(path: Path, *, verify: bool = False) -> Artifact:
    """Return an artifact that is known to be finished."""
    artifact = finished(path, verify=verify)
    assert artifact, path
    return artifact
