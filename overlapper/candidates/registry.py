"""The registry of finders: a new one is a file here and a line below; see CONTRIBUTING.md for the rest."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self

import numpy as np

from overlapper.io.artifacts import Artifact
from overlapper.params.stages import Params
from overlapper.registry import registered
from overlapper.sketch.chosen_seeds import ChosenSeeds
from overlapper.tables import Candidates, Reads, Seeding


class QueryFinder(Protocol):
    """A finder prepared for a read set, which finds the candidates of any of its reads."""

    def hits_per_base(self) -> float:
        """Estimate the hits (occurrences of a seed in two reads) per base of the reads.

        Where it is computed from all seeds, it is never below what `find` returns.
        """

    def find(self, query_start: int, query_stop: int) -> Candidates:
        """Return the candidates whose query is in ``[query_start, query_stop)``, by query, target and strand.

        They come with seeds (``hit_*``, ``seed_length``, ``seeding``), which the chain extender needs. May be
        called from several threads at a time, for any ranges in any order.
        """


class SeedSource(Protocol):
    """Reads that seeds are made from, on disk; `overlapper.io.read_store.ReadStore` is one."""

    @property
    def lengths(self) -> np.ndarray:
        """Lengths of all reads (int64)."""

    def block(self, start: int, stop: int) -> Reads:
        """Return reads ``[start, stop)``."""

    def mapped(self) -> Reads:
        """Return all reads."""


class Finder(QueryFinder, Protocol):
    """The interface of a finder; contract tests check every registered one.

    All reads at once are prepared in memory. Within a budget it is chosen from all reads what seeds, and
    then a tile is prepared: a pair has the same candidates in either.
    """

    BYTES_PER_SEED: ClassVar[int]
    """Bytes that a seed takes in a tile."""

    @classmethod
    def prepare(cls, reads: Reads, params: Params, threads: int) -> Self:
        """Prepare to find candidates among all reads."""

    def counts(self) -> dict[str, int]:
        """Return the counts of seeding for the funnel.

        First the k-mers looked at (the sum of ``seeding.sketched``), then parts that add up to it, the last
        being those that seed.
        """

    @staticmethod
    def depends_on(params: Params) -> list[Any]:
        """Return the parameters that the seeds depend on."""

    @staticmethod
    def looked_at(store: SeedSource, params: Params, threads: int) -> int:
        """Estimate how many k-mers, or minimizers, of the reads are looked at before seeds are chosen."""

    @staticmethod
    def choose(artifact: Artifact, store: SeedSource, params: Params, memory: int, threads: int) -> int:
        """Write which places of all reads seed (`overlapper.sketch.chosen_seeds`); return how many do.

        Parameters
        ----------
        artifact : Artifact
            Written to.
        memory : int
            Bytes of main memory to stay within.
        """

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
        """Prepare to find candidates of the queries of a tile among its targets.

        Parameters
        ----------
        reads : Reads
            In the form in which they are sketched; queries first.
        seeding : Seeding
            Of these reads.
        chosen : ChosenSeeds
            Of all reads.
        first_target : int
            Number of the first read that is a target; 0 where each read is both.
        """


FINDERS = {
    "dsoft": "overlapper.candidates.dsoft:DsoftFinder",
    "spgemm": "overlapper.candidates.spgemm:SpgemmFinder",
}


def finder(name: str) -> type[Finder]:
    """Return a finder by name."""
    return registered("finder", name, FINDERS)
