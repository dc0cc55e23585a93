"""The base class of extenders that find candidates and extend them on a GPU, without a copy to the host.

A GPU is sent the bounds of a block of queries; the CPU makes overlaps of what it returns. Queries that do not
fit a GPU are left to the CPU, with the same result.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Generic, TypeVar

from overlapper.candidates.dsoft import DsoftFinder
from overlapper.candidates.dsoft_gpu import DeviceSeedIndex, DsoftOnGpus
from overlapper.gpu.gpus import Gpus
from overlapper.runtime.threads import even_ranges
from overlapper.tables import Overlaps, Reads

if TYPE_CHECKING:
    from overlapper.kernels.candidates.cuda.dsoft import Found
    from overlapper.runtime.gpu.memory import Arena

Made = TypeVar("Made")
Counted = tuple[Overlaps, dict[str, int]]
"""Overlaps, and the counts of candidates and of those dropped."""
HOST_BASES = 1 << 20
"""Query bases of a block that is left to the CPU."""
_BLOCK_HITS = 1 << 24
"""Most hits of a block of queries, as estimated: some 400,000 candidates."""


class FromSeedsOnGpus(abc.ABC, Generic[Made]):
    """Finds overlaps of any range of queries on GPUs.

    Parameters
    ----------
    gpus : Gpus
        That hold the reads.
    finder : DsoftFinder
    reads : Reads

    Attributes
    ----------
    blocks : callable
        `DsoftOnGpus.blocks`.
    slots : int
        Number of slots of all GPUs.
    """

    def __init__(self, gpus: Gpus, finder: DsoftFinder, reads: Reads) -> None:
        self._gpus, self._finder, self._reads = gpus, finder, reads
        self._dsoft = DsoftOnGpus(gpus, finder, _BLOCK_HITS)
        self.blocks, self.slots = self._dsoft.blocks, gpus.slots

    def find(self, start: int, stop: int) -> Counted:
        """Return the overlaps of queries ``[start, stop)``, with counts.

        Returns
        -------
        overlaps : Overlaps
            By candidate, not classified.
        taken : dict of str to int
            Candidates, and those dropped, by reason.
        """
        parts = []
        for first, last, made in self._dsoft.made(start, stop, self._made):
            parts.append(self._overlaps(made) if made else self._find_here(first, last))
        return _joined(parts)

    def _find_here(self, start: int, stop: int) -> Counted:
        """Find on the CPU the overlaps of queries that do not fit a GPU."""
        blocks = even_ranges(self._reads.lengths[start:stop], HOST_BASES)
        return _joined([self._extended(start + first, start + last) for first, last in blocks])

    @abc.abstractmethod
    def _made(self, found: Found | None, there: DeviceSeedIndex, arena: Arena) -> Made:
        """Extend candidates that lie in the memory of a GPU; return the result on the host."""

    @abc.abstractmethod
    def _overlaps(self, made: Made) -> Counted:
        """Make overlaps of the result of a GPU."""

    @abc.abstractmethod
    def _extended(self, start: int, stop: int) -> Counted:
        """Return the overlaps of a few queries, found on the CPU."""


def _joined(parts: list[Counted]) -> Counted:
    """Concatenate the overlaps of successive queries, and add up their counts."""
    taken = {name: sum(counts[name] for _, counts in parts) for name in parts[0][1]}
    return Overlaps.concat([overlaps for overlaps, _ in parts]), taken
