"""The registry of finders: a new one is a file here and a line below; see CONTRIBUTING.md for the rest."""

from __future__ import annotations

from typing import Protocol, Self

from overlapper.params.stages import Params
from overlapper.registry import registered
from overlapper.tables import Candidates, Reads


class QueryFinder(Protocol):
    """A finder prepared for a read set, which finds the candidates of any of its reads."""

    def hits_per_base(self) -> float:
        """Estimate the hits (occurrences of a seed in two reads) per base of the reads.

        Where it is computed from all seeds, it is never below what `find` returns.
        """

    def find(self, query_start: int, query_stop: int) -> Candidates:
        """Return the candidates whose query is in ``[query_start, query_stop)``, in canonical order.

        They come with seeds (``hit_*``, ``seed_length``, ``seeding``), which the chain extender needs. May be
        called from several threads at a time, for any ranges in any order.

        Raises
        ------
        ParameterError
            For a range outside the set: "queries [a, b) of n reads".
        """


class Finder(QueryFinder, Protocol):
    """The interface of a finder; contract tests check every registered one."""

    @classmethod
    def prepare(cls, reads: Reads, params: Params, threads: int) -> Self:
        """Prepare to find candidates among all reads."""

    def counts(self) -> dict[str, int]:
        """Return the counts of seeding for the funnel.

        First the k-mers looked at (the sum of ``seeding.sketched``), then parts that add up to it, the last
        being those that seed.
        """


FINDERS = {
    "dsoft": "overlapper.candidates.dsoft:DsoftFinder",
    "spgemm": "overlapper.candidates.spgemm:SpgemmFinder",
}


def finder(name: str) -> type[Finder]:
    """Return a finder by name.

    Raises
    ------
    ParameterError
        When there is none of that name.
    """
    return registered("finder", name, FINDERS)
