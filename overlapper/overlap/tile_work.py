"""Work on a tile, a block of queries against a block of targets, by this process or a worker.

A tile is done in strips of queries, each an artifact that a later run finds. What a strip holds depends on
neither the device nor the threads.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable
from operator import itemgetter
from pathlib import Path

import numpy as np

from overlapper.candidates import registry
from overlapper.extend.registry import extending_devices
from overlapper.gpu.gpus import Gpus
from overlapper.io.artifacts import Artifact, Finisher, finished, finished_artifact
from overlapper.io.read_store import ReadStore
from overlapper.io.sorted_parts import write_part
from overlapper.overlap.tile import BLOCK_BASES, Extended, Extension, Tile
from overlapper.params.stages import Params
from overlapper.runtime.threads import cut_evenly
from overlapper.sketch.chosen_seeds import ChosenSeeds
from overlapper.sketch.homopolymers import sketched_form
from overlapper.tables import Overlaps, Reads

STRIP_BASES = 1 << 26
"""Query bases of a strip."""
WAITING_BYTES = 1 << 26
"""Bytes of overlaps that wait to be written."""

TileNumber = tuple[int, int]
"""Block of queries, block of targets."""


@dataclasses.dataclass(frozen=True)
class TileWork:
    """Parameters and folders that a worker needs to do tiles.

    Attributes
    ----------
    reads, results : Path
        Folders of the stages.
    seeds : Path or None
        Folder of what was chosen from all reads; None where one tile has all of them.
    params : Params
    device : str
        What candidates are extended on, as `overlapper.runtime.gpu.devices.select_devices` takes it.
    gpu_memory : int
        Bytes to take on each GPU at most; 0 takes what is free.
    """

    reads: Path
    seeds: Path | None
    results: Path
    params: Params
    device: str = "cpu"
    gpu_memory: int = 0

    def store(self) -> ReadStore:
        """Return the reads."""
        return ReadStore.open(finished_artifact(self.reads))

    def chosen(self) -> ChosenSeeds | None:
        """Return which places seed."""
        return ChosenSeeds(finished_artifact(self.seeds)) if self.seeds else None

    def bounds(self, first: int = 0, stop: int | None = None) -> np.ndarray:
        """Return the reads at which blocks ``[first, stop)`` start (int64), all by default."""
        if self.seeds:
            return Artifact(self.seeds, {}).load("bounds", np.int64, first, stop)
        return np.array([0, len(self.store())])[first:stop]

    def strips(self, tile: TileNumber) -> list[Path]:
        """Return where the strips of a tile are, or are to be."""
        bounds = self._strip_bounds(tile)
        return [self.results / f"{tile[0]}-{tile[1]}-{number}" for number in range(len(bounds) - 1)]

    def missing(self, tile: TileNumber, *, verify: bool = False) -> list[int]:
        """Return the numbers of the strips that are not finished.

        Parameters
        ----------
        tile : TileNumber
        verify : bool
            Compare the digests of those that are.
        """
        paths = self.strips(tile)
        return [number for number, path in enumerate(paths) if finished(path, verify=verify) is None]

    def _strip_bounds(self, tile: TileNumber) -> np.ndarray:
        """Return the queries, counted from the start of their block, at which strips start."""
        bounds = self.bounds(tile[0], tile[0] + 2)
        lengths = Artifact(self.reads, {}).load("lengths", np.int64, int(bounds[0]), int(bounds[1]))
        return cut_evenly(lengths, STRIP_BASES)

    def loaded(self, tile: TileNumber, threads: int) -> Tile:
        """Return the reads and seeds of a tile."""
        store, chosen, params = self.store(), self.chosen(), self.params
        blocks = [tile[0]] if tile[0] == tile[1] else list(tile)
        bounds = [self.bounds(block, block + 2).tolist() for block in blocks]
        reads = Reads.concat([store.block(*bound) for bound in bounds])
        order = np.concatenate([store.order[start:stop] for start, stop in bounds])
        seeded, run_map = sketched_form(reads, params.sketch.homopolymer_compressed)
        kind, first_target = registry.finder(params.finder), bounds[0][1] - bounds[0][0]
        finder = (
            kind.of_tile(
                seeded, chosen.of_blocks(blocks), chosen, params, first_target if blocks[1:] else 0, threads
            )
            if chosen
            else kind.prepare(seeded, params, threads)
        )
        return Tile(reads, order, seeded, run_map, finder)

    def run(self, tile: TileNumber, threads: int, numbers: list[int], loaded: Tile | None = None) -> None:
        """Do some strips of a tile, which is loaded unless it is there already.

        While the last overlaps of a strip are written, candidates of the next one are looked for.
        """
        bounds, paths = self._strip_bounds(tile), self.strips(tile)
        devices = extending_devices(self.params.extender, self.device)
        on_gpus = devices[0].name != "cpu"
        with Gpus(devices, self.gpu_memory) if on_gpus else contextlib.nullcontext() as gpus:
            loaded = loaded or self.loaded(tile, threads)
            if gpus:
                gpus.hold(loaded.reads)
            extension = Extension(loaded, self.params, gpus)
            strips = [(int(bounds[number]), int(bounds[number + 1])) for number in numbers]
            found = extension.overlaps(strips, threads, BLOCK_BASES)
            with Finisher() as finisher:
                for strip, of_strip in itertools.groupby(found, key=itemgetter(0)):
                    with finisher.writing(paths[numbers[strip]]) as artifact:
                        write_strip(artifact, map(itemgetter(1), of_strip))
                        artifact.facts["devices"] = extension.devices


def write_strip(artifact: Artifact, found: Iterable[Extended]) -> None:
    """Write the overlaps of a strip, in sorted parts, and note how many each step took."""
    waiting: list[Overlaps] = []
    taken: Counter[str] = Counter()
    for overlaps, counts in found:
        if len(overlaps):
            waiting.append(overlaps)
        taken.update(counts)
        if sum(part.nbytes for part in waiting) >= WAITING_BYTES:
            write_part(artifact, Overlaps.concat(waiting))
            waiting = []
    if waiting:
        write_part(artifact, Overlaps.concat(waiting))
    artifact.facts["taken"] = taken
