"""D-SOFT: candidates from minimizers that fall together on a diagonal band (Turakhia 2018, section 4).

``docs/algorithms/dsoft.md`` is the definition: which minimizers seed, what hits, windows and their support
are, which windows are candidates, and which seeds a candidate carries.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from overlapper.candidates.registry import SeedSource
from overlapper.errors import ParameterError
from overlapper.io.artifacts import Artifact
from overlapper.params.stages import DsoftParams, Params
from overlapper.sketch.chosen_seeds import ChosenSeeds, write_seeds
from overlapper.sketch.grouped import SeedingMinimizers
from overlapper.sketch.page_chains import expected_minimizers
from overlapper.sketch.seed_index import SeedIndex
from overlapper.tables import Candidates, Reads, Seeding
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import words_for

if TYPE_CHECKING:
    from overlapper.kernels.candidates.dsoft import Bands

SAMPLED_SEEDS = 4096
"""Seeds whose hits are counted to estimate the number of all hits."""


@dataclasses.dataclass
class DsoftFinder:
    """Finds candidates from a seed index of the whole read set, or of two blocks of it."""

    BYTES_PER_SEED: ClassVar[int] = 11
    lengths: np.ndarray
    """int64, shape (reads,)."""
    index: SeedIndex
    params: DsoftParams
    first_target: int = 0
    """Reads before this one are not targets."""

    @classmethod
    def prepare(cls, reads: Reads, params: Params, threads: int) -> Self:
        """Index a read set."""
        return cls(reads.lengths, SeedIndex.build(reads, params.sketch, threads), params.dsoft)

    @staticmethod
    def depends_on(params: Params) -> list[Any]:
        """See `Finder`."""
        return [dataclasses.asdict(params.sketch)]

    @staticmethod
    def looked_at(store: SeedSource, params: Params, threads: int) -> int:
        """See `Finder`."""
        return expected_minimizers(int(store.lengths.sum()), params.sketch.window)

    @staticmethod
    def choose(artifact: Artifact, store: SeedSource, params: Params, memory: int, threads: int) -> int:
        """See `Finder`."""
        chosen = SeedingMinimizers.choose(
            store.block, store.lengths, params.sketch, threads, memory, artifact
        )
        word_offsets = offsets_of(words_for(store.lengths))
        write_seeds(
            artifact, word_offsets, chosen.sketched,
            lambda: chosen.occurrences.bases(word_offsets, threads), memory,
        )  # fmt: skip
        artifact.facts |= {"limit": chosen.limit, "counts": chosen.counts}
        artifact.remove("grouped")
        return len(chosen.occurrences)

    @classmethod
    def of_tile(
        cls,
        reads: Reads,
        seeding: Seeding,
        chosen: ChosenSeeds,
        params: Params,
        first_target: int,
        threads: int,
    ) -> Self:
        """See `Finder`."""
        index = SeedIndex.of_tile(
            reads, seeding, chosen.facts["limit"], chosen.counts, params.sketch, first_target, threads
        )
        return cls(reads.lengths, index, params.dsoft, first_target)

    def counts(self) -> dict[str, int]:
        """Return the counts of seeding for the funnel."""
        return self.index.counts

    def hits_per_base(self) -> float:
        """Estimate the hits per base of the reads from a sample of the seeds."""
        seeds = int(self.index.list_starts[-1])
        step = 1 + seeds // SAMPLED_SEEDS
        hits = self.index.lists.hits(step) / max(1, -(-seeds // step)) * seeds
        return hits / max(1, int(self.lengths.sum()))

    def bands(self) -> Bands:
        """Return the parameters as kernels take them."""
        from overlapper.kernels.candidates.dsoft import Bands

        p = self.params
        return Bands(
            self.index.kmer_length, p.band_width.bit_length() - 1, p.min_bases, p.drift, p.most_windows,
            p.min_share,
        )  # fmt: skip

    def find(self, query_start: int, query_stop: int) -> Candidates:
        """See `QueryFinder`; of a target and strand, the best is the first. Memory is that of candidates."""
        from overlapper.kernels.candidates.dsoft import find_candidates

        if not 0 <= query_start <= query_stop <= len(self.lengths):
            raise ParameterError(f"queries [{query_start}, {query_stop}) of {len(self.lengths)} reads")
        lists, starts = self.index.lists, self.index.list_starts
        numbers = lists.numbers(int(starts[query_start]), int(starts[query_stop]))
        rows, hit_counts, hit_query_pos, hit_target_pos = find_candidates(
            *lists.occurrences.columns, starts, numbers, self.lengths,
            query_start, query_stop, self.first_target, self.index.limit, self.bands(),
        )  # fmt: skip
        return Candidates.of_rows(
            rows, hit_counts, hit_query_pos, hit_target_pos, self.index.kmer_length, self.index.seeding
        )
