"""From the seed index to overlaps by X-drop on GPUs: hits, candidates and extensions stay on the device.

A GPU is sent the bounds of a block of queries and returns the overlaps that are long and score enough. It
knows the least score of each candidate, and gives up an extension that cannot reach it. Queries that do not
fit a GPU are left to the CPU, with the same result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlapper.candidates import dsoft_gpu
from overlapper.candidates.dsoft import DsoftFinder
from overlapper.candidates.dsoft_gpu import DeviceSeedIndex
from overlapper.extend import xdrop
from overlapper.extend.from_seeds_gpu import Counted, FromSeedsOnGpus
from overlapper.extend.threshold import has_seeds, least_a_base, score_threshold, seeds_a_base
from overlapper.gpu.gpus import Gpus
from overlapper.kernels.xdrop.xdrop import Scheme
from overlapper.params.stages import Params
from overlapper.tables import Intervals, Reads

if TYPE_CHECKING:
    from overlapper.kernels.candidates.cuda.dsoft import Found
    from overlapper.kernels.xdrop.cuda.overlaps import Scored
    from overlapper.runtime.gpu.memory import Arena

KERNELS = (*dsoft_gpu.KERNELS, "xdrop", "common.sort_by_class")
"""Prefixes of the names of the kernels that this module needs."""


class XdropOnGpus(FromSeedsOnGpus["Scored"]):
    """Finds overlaps by X-drop on GPUs.

    Scores of all possible overlaps must fit 32 bits (`overlapper.extend.xdrop.fits_scores`).
    """

    def __init__(self, gpus: Gpus, finder: DsoftFinder, reads: Reads, params: Params) -> None:
        super().__init__(gpus, finder, reads)
        self._params = params

    def _made(self, found: Found | None, there: DeviceSeedIndex, arena: Arena) -> Scored:
        from overlapper.kernels.xdrop.cuda.overlaps import Enough, extend_candidates

        params, k = self._params, self._finder.index.kmer_length
        enough = Enough(
            seeds_a_base(params), least_a_base(params.xdrop, params.threshold), params.classes.min_overlap
        )
        return extend_candidates(found, there.reads, k, Scheme(**vars(params.xdrop)), enough, arena)

    def _overlaps(self, scored: Scored) -> Counted:
        self._gpus.count(xdrop.REQUEUED, scored.n_requeued)
        query, target, reverse, *ends, score, seeds = scored.rows.T
        intervals = Intervals(query, target, reverse.astype(bool), *ends)
        overlaps = xdrop.estimated(intervals, score, seeds, self._params.xdrop)
        return overlaps, {
            "candidates": scored.n_candidates,
            "dropped: few seeds": scored.n_few,
            "dropped: low score": scored.n_low,
            "dropped: too short": scored.n_short,
        }

    def _extended(self, start: int, stop: int) -> Counted:
        params, found = self._params, self._finder.find(start, stop).without_hits()
        candidates = found.take(np.flatnonzero(has_seeds(found, params)))
        overlaps, _ = xdrop.extend(self._reads, candidates, params.xdrop, 1, self._gpus)
        enough = overlaps.score >= score_threshold(candidates.span, params.xdrop, params.threshold)
        return overlaps.take(np.flatnonzero(enough)), {
            "candidates": len(found),
            "dropped: few seeds": len(found) - len(candidates),
            "dropped: low score": int(np.count_nonzero(~enough)),
            "dropped: too short": 0,
        }
