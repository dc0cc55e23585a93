"""The seeders. A new one is a class with these two methods and a line here."""

from __future__ import annotations

from typing import Protocol, Self

from overlapper.mapping.anchors import Anchors
from overlapper.params.mapping import MapParams
from overlapper.registry import registered
from overlapper.tables import Reads


class Seeder(Protocol):
    """The interface of a seeder; contract tests check every registered one."""

    @classmethod
    def prepare(cls, reference: Reads, params: MapParams, threads: int) -> Self:
        """Index a reference."""

    def find(self, reads: Reads) -> Anchors:
        """Return the anchors of reads. May be called from several threads at a time."""


SEEDERS = {
    "minimizers": "overlapper.mapping.minimizer_seeds:MinimizerSeeder",
    "smem": "overlapper.mapping.match_seeds:SmemSeeder",
    "nov-smem": "overlapper.mapping.match_seeds:NovSmemSeeder",
}


def seeder(name: str) -> type[Seeder]:
    """Return a seeder by name."""
    return registered("seeder", name, SEEDERS)
