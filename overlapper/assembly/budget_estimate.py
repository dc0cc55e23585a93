"""Estimates of disk and memory for correction, polishing and assembly in a memory budget."""

from __future__ import annotations

from overlapper.candidates.registry import finder
from overlapper.correction.pileup_source import ROW_BYTES
from overlapper.correction.resources import with_votes
from overlapper.io.read_store import ReadStore
from overlapper.params.stages import Params
from overlapper.runtime.messages import counted
from overlapper.tiled.plan import DISK_PER_OVERLAP, Budget, cut_blocks, disk_bytes, fewest_tiles, tile_bytes

CONSENSUS_BYTES = 1.26
"""Bytes on disk for each base of a consensus."""


def describe(
    store: ReadStore, params: Params, budget: Budget, rounds: int, unitig_bases: int = 0
) -> list[str]:
    """Describe the most disk and memory that a run in a memory budget takes, as text.

    Parameters
    ----------
    store : ReadStore
    params : Params
        For finding the overlaps of the reads as given.
    budget : Budget
    rounds : int
        Of correction; 0 where reads are not corrected.
    unitig_bases : int
        Of unitigs that are polished.

    Returns
    -------
    list of str
        Lines.

    Raises
    ------
    ParameterError
        When the budget is too small for the reads.
    """
    seeded = finder(params.finder)
    bases, kmers = int(store.lengths.sum()), seeded.looked_at(store, params, budget.threads)
    with_held = with_votes(budget, len(store), unitig_bases)
    room = with_held.left(len(store))
    seed_bytes = seeded.BYTES_PER_SEED * kmers
    blocks = len(cut_blocks(store.lengths, seed_bytes, room, fewest_tiles(budget.workers))) - 1
    tile = tile_bytes(bases, seed_bytes, blocks)
    voting = int(store.bytes_of_each.sum() if rounds < 2 else CONSENSUS_BYTES * bases)
    whole = voting < room and budget.workers == 1
    at_once = "all reads at once" if whole else "some targets, and the reads on them, at a time"
    on_disk = disk_bytes(bases, kmers) + int(store.bytes_of_each.sum())
    return [
        f"{counted(len(store), 'read')}, {counted(bases, 'base')}, about {kmers:,} k-mers that are looked at",
        with_held.expected(room, max(tile, voting)),
        f"overlaps: at most {counted(blocks, 'block')}, {counted(blocks * (blocks + 1) // 2, 'tile')}",
        f"votes: {at_once}",
        f"disk, besides overlaps ({DISK_PER_OVERLAP + 2 * ROW_BYTES} bytes each, in every round): at most "
        f"{on_disk + int(CONSENSUS_BYTES * rounds * bases) >> 20} MB",
    ]
