"""The overlaps that a run found, in memory or in a folder, and those of them that it reports, in order."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator

from overlapper.errors import OutOfMemoryError
from overlapper.extend.cigars import with_cigars, without_cigars
from overlapper.extend.selection import Selection
from overlapper.gpu.gpus import Opening
from overlapper.io.artifacts import finished_artifact, writing
from overlapper.overlap.inside import Inside
from overlapper.overlap.parts import Part, by_queries, parts_of
from overlapper.overlap.tile import BLOCK_BASES, BlockOverlaps, Extension, Tile
from overlapper.overlap.tiles import Folder, TileOfWorker, Tiles, content_of
from overlapper.params.stages import Params
from overlapper.runtime.memory import free_memory
from overlapper.runtime.messages import Report, counted, reported
from overlapper.runtime.threads import share_for_threads
from overlapper.tables import Overlaps
from overlapper.tables.overlaps import pair_order

_COPIES = 2
"""Copies of the overlaps that are in memory while they are sorted."""
_PART_ROWS = 1 << 15
"""Least overlaps of a part, but for the last one: what is done with a part takes Python's lock many times."""


@dataclasses.dataclass(frozen=True)
class FoundOverlaps:
    """The overlaps of a run before they are chosen among, to be gone through several times."""

    in_memory: list[Overlaps]
    on_disk: list[Part]
    counts: dict[str, int]
    """What the funnel shows of seeds and candidates."""
    devices: list[str]
    """Names of the devices that extended candidates."""

    def __iter__(self) -> Iterator[Overlaps]:
        yield from self.in_memory
        for part in self.on_disk:
            yield part.read()

    @classmethod
    def of_whole(
        cls, tile: Tile, params: Params, opened: Opening, selection: Selection, threads: int, report: Report
    ) -> FoundOverlaps:
        """Find the overlaps of all reads, numbered as in the input; keep what the selection returns."""
        extension = Extension(tile, params, opened())
        gpus, share = extension.gpus, share_for_threads(tile.reads.total_bases, BLOCK_BASES, threads)
        taken: Counter[str] = Counter()
        found = extension.overlaps([(0, len(tile.reads))], threads, share, report, selection.add)
        parts = _kept(found, taken)
        on_gpus = {"candidates": taken["candidates"], **gpus.counts()} if gpus and taken else {}
        return cls(parts, [], {**tile.finder.counts(), **on_gpus, **taken}, extension.devices)

    @classmethod
    def of_tiles(
        cls,
        tiles: Tiles,
        loaded: Tile | None,
        folder: Folder,
        selection: Selection,
        threads: int,
        report: Report,
    ) -> FoundOverlaps:
        """Find the overlaps of tiles that are not done already, by this process or workers."""
        workdir, params = folder.workdir, dataclasses.asdict(tiles.params)
        workdir.note_changes(params)
        results = workdir.path("overlaps", params, tiles.bounds.tolist(), *content_of(tiles.store))
        tiles = dataclasses.replace(tiles, results=results)
        missing = [tile for tile in tiles.numbers if tiles.missing(tile, verify=True)]
        if len(missing) < len(tiles.numbers):
            workdir.note(
                f"done already: {len(tiles.numbers) - len(missing)} of {counted(len(tiles.numbers), 'tile')}"
            )
        if folder.workers:
            work = [TileOfWorker(tiles, t, tiles.missing(t), folder.workers.devices) for t in missing]
            by_workers = folder.workers.completed(TileOfWorker.found, work)
            for number, made in reported(by_workers, "overlapping", len(missing), report):
                paths = tiles.strips(work[number].tile)
                for at, content in zip(work[number].strips, made, strict=True):
                    with writing(paths[at]) as artifact:
                        content.copy_to(artifact)
        else:
            for done, tile in enumerate(missing):
                report("overlapping", done, len(missing))
                tiles.run(tile, threads, tiles.missing(tile), loaded)
        strips = [finished_artifact(path) for tile in tiles.numbers for path in tiles.strips(tile)]
        taken: Counter[str] = Counter()
        for strip in strips:
            taken.update(strip.facts["taken"])
        devices = sorted({name for strip in strips for name in strip.facts["devices"]}) or ["cpu"]
        seeds = loaded.finder.counts() if loaded else tiles.seeds.counts if tiles.seeds else {}
        found = cls([], parts_of(strips), {**seeds, **taken}, devices)
        for overlaps in found:
            selection.add(overlaps)
        return found


def _kept(found: Iterable[tuple[int, BlockOverlaps]], taken: Counter[str]) -> list[Overlaps]:
    """Return overlaps in parts of `_PART_ROWS`, and add their counts to ``taken``."""
    parts: list[Overlaps] = []
    small: list[Overlaps] = []
    held, room = 0, free_memory()
    for _, (overlaps, counts) in found:
        taken.update(counts)
        small.append(overlaps)
        held += overlaps.nbytes
        if _COPIES * held > room:
            raise OutOfMemoryError(
                f"{sum(map(len, parts + small)):,} overlaps were found, more than the {room / 1e6:,.0f} MB "
                "of memory that were free can hold. --memory keeps overlaps on disk; --best, or a longer "
                "--min-overlap, leaves fewer"
            )
        if sum(map(len, small)) >= _PART_ROWS:
            parts.append(Overlaps.concat(small))
            small = []
    return [*parts, Overlaps.concat(small)] if small else parts


@dataclasses.dataclass(frozen=True)
class ChosenOverlaps:
    """The overlaps that a run reports, in canonical order, in parts."""

    found: FoundOverlaps
    """Those in memory go as they are chosen."""
    selection: Selection
    """That has decided."""
    inside: Inside
    """Of the reads."""
    threads: int

    def __iter__(self) -> Iterator[Overlaps]:
        if self.found.in_memory:
            yield self._in_order(self.found.in_memory)
        for part in by_queries(self.found.on_disk, len(self.inside.store)):
            yield self._in_order([part])

    def _in_order(self, parts: list[Overlaps]) -> Overlaps:
        """Choose among parts, which are taken out of their list, and put them in order."""
        chosen = list(self.selection.chosen(parts))
        parts.clear()
        rows = pair_order(chosen, self.threads)
        overlaps = Overlaps.gather([without_cigars(part) for part in chosen], rows, self.threads)
        return self.inside.on_whole(with_cigars(overlaps, chosen, rows, threads=self.threads))
