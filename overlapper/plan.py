"""How a read set is cut into tiles so that a run stays within a memory budget.

What takes memory at a time is, whichever is most,

- reading: a part of the packed reads;
- seeding: a range of hashes, as small as need be;
- a tile: bases (`TILE_PER_BASE`) and seeds of two blocks of reads;

on top of the program itself (`PROGRAM`), of what each thread works on (`A_THREAD`), and of lengths and places
of all reads (`A_READ`). `docs/scaling.md` shows what was measured.
"""

from __future__ import annotations

import dataclasses
import os

import numpy as np

from overlapper.errors import ParameterError
from overlapper.sketch.seed_store import expected_minimizers

PROGRAM = 170 << 20
A_THREAD = 64 << 20
A_READ = 80
TILE_PER_BASE = 0.75
LEAST = 24 << 20
"""Bytes that a tile or a range of hashes is given at least."""
DISK_PER_BASE, DISK_PER_MINIMIZER, DISK_PER_SEED = 0.26, 8, 12
DISK_PER_OVERLAP = 64
MOST_TILES = 20_000


@dataclasses.dataclass(frozen=True)
class Budget:
    """What a run may take.

    Attributes
    ----------
    memory : int
        Bytes of main memory.
    threads : int
    """

    memory: int
    threads: int

    @classmethod
    def of(cls, memory: int, threads: int) -> Budget:
        """Return the budget given; 0 is half of the machine's memory."""
        half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        return cls(memory or half, threads)

    def left(self, n_reads: int) -> int:
        """Return the bytes that are left for a tile or a range of hashes.

        Raises
        ------
        ParameterError
            When the budget is too small for the reads.
        """
        fixed = PROGRAM + self.threads * A_THREAD + n_reads * A_READ
        needed = fixed + LEAST
        if needed > self.memory:
            raise ParameterError(
                f"the memory budget of {self.memory >> 20} MB is too small for {n_reads} reads on "
                f"{self.threads} threads, expected at least {-(-needed >> 20)} MB; fewer --threads take less"
            )
        return self.memory - fixed


def cut_blocks(lengths: np.ndarray, seed_bytes: int, room: int) -> np.ndarray:
    """Cut reads into as few blocks as there must be for a tile of two to fit.

    Parameters
    ----------
    lengths : ndarray of int64, shape (reads,)
    seed_bytes : int
        Bytes that the seeds of all reads take in a tile.
    room : int
        Bytes that a tile may take.

    Returns
    -------
    ndarray of int64, shape (blocks + 1,)
        Reads at which blocks start.
    """
    bases = int(lengths.sum())
    whole = tile_bytes(bases, seed_bytes)
    blocks = 1 if whole <= room else -(-2 * whole // room)
    tiles = blocks * (blocks + 1) // 2
    if tiles > MOST_TILES:
        raise ParameterError(
            f"the memory budget would cut the reads into {tiles} tiles, expected at most {MOST_TILES}; "
            "give more memory"
        )
    ends = np.cumsum(lengths)
    inner = np.searchsorted(ends, np.arange(1, blocks) * bases // blocks, side="left") + 1
    return np.unique(np.concatenate([[0], np.minimum(inner, len(lengths)), [len(lengths)]]))


def tile_bytes(bases: int, seed_bytes: int) -> int:
    """Return the bytes that a tile of reads with so many bases and bytes of seeds takes."""
    return int(TILE_PER_BASE * bases) + seed_bytes


def describe(lengths: np.ndarray, window: int, budget: Budget) -> list[str]:
    """Say what a run would take, at most: every minimizer is counted as a seed.

    Returns
    -------
    list of str
        Lines.
    """
    bases = int(lengths.sum())
    minimizers = expected_minimizers(bases, window)
    room = budget.left(len(lengths))
    blocks = len(cut_blocks(lengths, 24 * minimizers, room)) - 1
    return [
        f"{len(lengths)} reads, {bases} bases, about {minimizers} minimizers",
        f"at most {blocks} blocks, {blocks * (blocks + 1) // 2} tiles",
        f"memory: at most {budget.memory >> 20} MB",
        f"disk, besides the overlaps ({DISK_PER_OVERLAP} bytes each, CIGARs not counted): at most "
        f"{disk_bytes(bases, minimizers) >> 20} MB",
    ]


def disk_bytes(bases: int, minimizers: int) -> int:
    """Return the bytes that reads and seeds take on disk, at most."""
    return int(DISK_PER_BASE * bases + (DISK_PER_MINIMIZER + DISK_PER_SEED) * minimizers)
