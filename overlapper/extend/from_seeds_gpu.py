"""Overlaps of queries from the seed index on, on GPUs: what extenders have in common there.

A block of queries goes to a GPU as two numbers, and what comes back is made into overlaps on the CPU; what a
GPU has no room for is done by the CPU, with the same result.
"""

from __future__ import annotations

import abc
import itertools
from typing import TYPE_CHECKING, Generic, TypeVar

from overlapper.candidates.dsoft import DsoftFinder
from overlapper.candidates.dsoft_gpu import DsoftOnGpus, IndexThere
from overlapper.gpu.gpus import Gpus
from overlapper.runtime.threads import cut_evenly
from overlapper.tables import Overlaps, Reads

if TYPE_CHECKING:
    from overlapper.kernels.candidates.cuda.dsoft import Found
    from overlapper.runtime.gpu.memory import Arena

Made = TypeVar("Made")
Counted = tuple[Overlaps, dict[str, int]]
"""Overlaps, and how many each step took."""
HOST_BASES = 1 << 20
"""Query bases that the CPU does at a time, where it has to."""
_BLOCK_HITS = 1 << 24
"""Of which seeds go to a GPU together, at most, as far as known: some 400,000 candidates."""


class FromSeedsOnGpus(abc.ABC, Generic[Made]):
    """Overlaps of any range of queries, found on GPUs.

    Parameters
    ----------
    gpus : Gpus
        That hold the reads.
    finder : DsoftFinder
    reads : Reads

    Attributes
    ----------
    blocks : callable
        That of `DsoftOnGpus`.
    slots : int
        Of the GPUs.
    """

    def __init__(self, gpus: Gpus, finder: DsoftFinder, reads: Reads) -> None:
        self._gpus, self._finder, self._reads = gpus, finder, reads
        self._dsoft = DsoftOnGpus(gpus, finder, _BLOCK_HITS)
        self.blocks, self.slots = self._dsoft.blocks, gpus.slots

    def find(self, start: int, stop: int) -> Counted:
        """Return the overlaps of queries ``[start, stop)``, and how many each step took.

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
        """Do on the CPU what no GPU has room for."""
        bounds = start + cut_evenly(self._reads.lengths[start:stop], HOST_BASES)
        return _joined([self._extended(*block) for block in itertools.pairwise(bounds.tolist())])

    @abc.abstractmethod
    def _made(self, found: Found | None, there: IndexThere, arena: Arena) -> Made:
        """Return what a GPU makes of candidates that lie in its memory."""

    @abc.abstractmethod
    def _overlaps(self, made: Made) -> Counted:
        """Return the overlaps of what a GPU made."""

    @abc.abstractmethod
    def _extended(self, start: int, stop: int) -> Counted:
        """Return the overlaps of a few queries, found on the CPU."""


def _joined(parts: list[Counted]) -> Counted:
    """Return what was found of successive queries, together."""
    taken = {name: sum(counts[name] for _, counts in parts) for name in parts[0][1]}
    return Overlaps.concat([overlaps for overlaps, _ in parts]), taken
