"""The seed index: occurrences of the minimizers that seed, by hash and by read."""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np

from overlapper.params.stages import SketchParams
from overlapper.sketch.grouped import SeedingMinimizers, shared_minimizers
from overlapper.sketch.seed_lists import HostSeedLists, SeedLists
from overlapper.tables import Reads, Seeding


@dataclasses.dataclass(frozen=True)
class SeedIndex:
    """Occurrences of the minimizers that seed, of a read set or a tile of it."""

    kmer_length: int
    limit: int
    """Largest multiplicity of a seed."""
    lists: SeedLists
    """Occurrences, and their numbers by read."""
    list_starts: np.ndarray
    """int64, shape (reads + 1,); where the numbers of each read start."""
    seeding: Seeding
    """All seeding minimizers of the reads; an index of a whole read set holds their occurrences, in the same
    order."""
    counts: dict[str, int]
    """Counts for the funnel; those of the whole read set."""

    @classmethod
    def build(cls, reads: Reads, sketch: SketchParams, threads: int) -> Self:
        """Sketch and index a read set."""
        chosen = SeedingMinimizers.choose(reads.rows, reads.lengths, sketch, threads)
        lists = HostSeedLists(chosen.occurrences, reads.word_offsets, threads)
        seeding = lists.seeding(chosen.sketched)
        return cls(sketch.kmer_length, chosen.limit, lists, seeding.starts, seeding, chosen.counts)

    @classmethod
    def of_tile(
        cls,
        reads: Reads,
        seeding: Seeding,
        limit: int,
        counts: dict[str, int],
        sketch: SketchParams,
        first_target: int,
        threads: int,
    ) -> Self:
        """Index what the queries and the targets of a tile share, or what its reads do.

        Parameters
        ----------
        reads, seeding, sketch, first_target, threads
            As `overlapper.sketch.grouped.shared_minimizers` takes them.
        limit, counts
            Of the whole read set.
        """
        occurrences = shared_minimizers(reads, seeding, sketch, first_target, threads)
        lists = HostSeedLists(occurrences, reads.word_offsets, threads)
        starts = lists.seeding(seeding.sketched).starts
        return cls(sketch.kmer_length, limit, lists, starts, seeding, counts)
