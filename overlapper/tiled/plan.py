"""How a read set is cut into tiles so that a run stays within a memory budget.

What takes memory at a time is, whichever is most,

- reading: a part of the packed reads;
- seeding: a range of hashes, as small as need be;
- a tile: bases (`TILE_PER_BASE`) and seeds of two blocks of reads;

on top of the program itself (`PROGRAM`), of what each thread works on (`A_THREAD`), and of lengths and places
of all reads (`A_READ`). `docs/notes/scale.md` shows what was measured.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.candidates import registry
from overlapper.errors import ParameterError
from overlapper.io.read_store import ReadStore
from overlapper.params.stages import Params
from overlapper.runtime.memory import all_memory
from overlapper.runtime.messages import counted

PROGRAM = 170 << 20
A_THREAD = 64 << 20
A_READ = 80
TILE_PER_BASE = 0.55
LEAST = 24 << 20
"""Bytes that a tile or a range of hashes is given at least."""
DISK_PER_BASE, MARKS_PER_BASE, DISK_PER_KMER, DISK_PER_OVERLAP = 0.26, 0.25, 8, 64
MOST_TILES = 20_000
TILES_A_WORKER = 2
"""Tiles for each of several workers, at least, so that they end at about the same time."""


@dataclasses.dataclass(frozen=True)
class Budget:
    """What a run may take."""

    memory: int
    """Bytes of main memory."""
    threads: int
    workers: int = 1
    """Processes that share the tiles, whose memory is that of each; 1 if there is none but this."""
    held: int = 0
    """Bytes that others than tiles hold meanwhile."""

    @classmethod
    def of(cls, memory: int, threads: int, workers: int = 1) -> Budget:
        """Return the budget given; 0 is half of the machine's memory, for all workers together."""
        return cls(memory or all_memory() // 2 // workers, threads, workers)

    def left(self, n_reads: int) -> int:
        """Return the bytes that are left for a tile or a range of hashes.

        Raises
        ------
        ParameterError
            When the budget is too small for the reads.
        """
        fixed = PROGRAM + self.held + self.threads * A_THREAD + n_reads * A_READ
        needed = fixed + LEAST
        if needed > self.memory:
            raise ParameterError(
                f"the memory budget of {self.memory / 1e6:,.1f} MB is too small for "
                f"{counted(n_reads, 'read')} on {counted(self.threads, 'thread')}, expected "
                f"{-(-needed // 10**6)} MB or more; fewer --threads take less"
            )
        return self.memory - fixed

    def expected(self, room: int, wanted: int) -> str:
        """Say what a run is expected to take of the budget, and what the budget is.

        Parameters
        ----------
        room : int
            Bytes that are left for a tile, or for votes.
        wanted : int
            Bytes that would be taken of them, if there were enough.
        """
        takes = self.memory - room + min(room, wanted)
        each = "" if self.workers == 1 else " for each worker"
        return f"memory: about {takes / 1e9:.2g} GB{each}; budget {self.memory / 1e9:.3g} GB{each}"


def fewest_tiles(workers: int) -> int:
    """Return how many tiles there are to be, if there are reads enough, so that all workers have work."""
    return TILES_A_WORKER * workers if workers > 1 else 1


def cut_blocks(lengths: np.ndarray, seed_bytes: int, room: int, fewest: int = 1) -> np.ndarray:
    """Cut reads into as few blocks as there must be for a tile of two to fit, and all workers to have work.

    Parameters
    ----------
    lengths : ndarray of int64, shape (reads,)
    seed_bytes : int
        Bytes that the seeds of all reads take in a tile.
    room : int
        Bytes that a tile may take.
    fewest : int
        `fewest_tiles`.

    Returns
    -------
    ndarray of int64, shape (blocks + 1,)
        Reads at which blocks start.

    Raises
    ------
    ParameterError
        When there would be more than `MOST_TILES` tiles.
    """
    bases = int(lengths.sum())
    whole = tile_bytes(bases, seed_bytes)
    blocks = 1 if whole <= room else -(-2 * whole // room)
    while blocks * (blocks + 1) // 2 < fewest:
        blocks += 1
    tiles = blocks * (blocks + 1) // 2
    if tiles > MOST_TILES:
        raise ParameterError(
            f"the memory budget would cut the reads into {tiles} tiles, expected at most {MOST_TILES}; "
            "give more memory"
        )
    ends = np.cumsum(lengths)
    inner = np.searchsorted(ends, np.arange(1, blocks) * bases // blocks, side="left") + 1
    return np.unique(np.concatenate([[0], np.minimum(inner, len(lengths)), [len(lengths)]]))


def tile_bytes(bases: int, seed_bytes: int, blocks: int = 1) -> int:
    """Return the bytes of a tile of reads that have so many bases and bytes of seeds, in so many blocks."""
    return (int(TILE_PER_BASE * bases) + seed_bytes) * min(2, blocks) // blocks


def describe(store: ReadStore, params: Params, budget: Budget) -> list[str]:
    """Say what a run would take: at most, as every k-mer that is looked at is counted as a seed.

    Returns
    -------
    list of str
        Lines.
    """
    seeded = registry.finder(params.finder)
    bases, kmers = int(store.lengths.sum()), seeded.looked_at(store, params, budget.threads)
    room = budget.left(len(store))
    seed_bytes = seeded.BYTES_PER_SEED * kmers
    blocks = len(cut_blocks(store.lengths, seed_bytes, room, fewest_tiles(budget.workers))) - 1
    tile = tile_bytes(bases, seed_bytes, blocks)
    pairs = len(store) * (len(store) - 1) // 2
    without_adapters = int(DISK_PER_BASE * bases) if params.sketch.cut_adapters else 0
    return [
        f"{counted(len(store), 'read')}, {counted(bases, 'base')}, about {kmers:,} k-mers that are looked at",
        f"at most {counted(blocks, 'block')}, {counted(blocks * (blocks + 1) // 2, 'tile')}",
        budget.expected(room, tile),
        f"disk, besides the overlaps ({DISK_PER_OVERLAP} bytes each, CIGARs not counted): at most "
        f"{disk_bytes(bases, kmers) + without_adapters >> 20} MB",
        f"if all reads overlap all others, as those of amplicons do: {pairs} overlaps, "
        f"{DISK_PER_OVERLAP * pairs >> 20} MB of disk; --best leaves fewer",
    ]


def disk_bytes(bases: int, kmers: int) -> int:
    """Return the bytes that reads and seeds take on disk, at most, of k-mers that are looked at."""
    reads = int(DISK_PER_BASE * bases)
    return max(reads + int(MARKS_PER_BASE * bases) + DISK_PER_KMER * kmers, 2 * reads)
