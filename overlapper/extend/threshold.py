"""Filters of aligning extenders: adaptive score threshold (Guidi 2021, section 4), and fewest seeds."""

from __future__ import annotations

import numpy as np

from overlapper.params.stages import GactParams, Params, ThresholdParams, XdropParams
from overlapper.tables import Candidates

FEWEST_SEEDS = 0.1
"""Least seed bases of a candidate, relative to what two reads of the given error rate share. Fitted on
reads as of a worm (R9) and HiFi reads of yeast, judged on seven other sets (``docs/notes/overlaps.md``)."""


def score_threshold(
    span: np.ndarray, scores: XdropParams | GactParams, threshold: ThresholdParams
) -> np.ndarray:
    """Return the least score of each overlap.

    Parameters
    ----------
    span : ndarray of int
        Estimated overlaps, in bases.
    threshold : ThresholdParams
        With the error rate.

    Returns
    -------
    ndarray of float64
        Never below 0.
    """
    return np.maximum(0.0, least_a_base(scores, threshold) * span)


def least_a_base(scores: XdropParams | GactParams, threshold: ThresholdParams) -> float:
    """Return the least score per base of an overlap's estimated length; it may be negative.

    Two reads with error rate e agree in a base with probability ``(1 - e)**2``. A true overlap then scores at
    least ``phi = match * (1 - e)**2 - penalty * (1 - (1 - e)**2)`` a base, the penalty being the dearer of
    mismatch and gap; ``delta`` is the slack. For +1, -1, -1 that is BELLA's ``2 * (1 - e)**2 - 1``.
    """
    gap = scores.gap if isinstance(scores, XdropParams) else scores.gap_extend
    agree = (1 - threshold.error_rate) ** 2
    phi = scores.match * agree + min(scores.mismatch, gap) * (1 - agree)
    return (1 - threshold.delta) * phi


def has_seeds(candidates: Candidates, params: Params) -> np.ndarray:
    """Return a mask of the candidates with enough seeds to be extended; see `seeds_a_base`."""
    enough: np.ndarray = candidates.seeds >= seeds_a_base(params) * candidates.span
    return enough


def seeds_a_base(params: Params) -> float:
    """Return the least bases that seeds of D-SOFT cover, per base of an estimated overlap.

    Two reads with error rate e have ``(1 - e)**(2 k)`` of their k-mers in common, and of w + 1 of these two
    are minimizers, of k bases each. An overlap whose score is enough has about half of that or more, of which
    the best window has a part, as insertions and deletions carry the overlap on. Chance leaves two or three
    seeds, however far the reads go on beside each other.

    Returns
    -------
    float
        0 for seeds of another finder.
    """
    if params.finder != "dsoft":
        return 0.0
    k, w = params.sketch.kmer_length, params.sketch.window
    shared = (1 - params.threshold.error_rate) ** (2 * k)
    return FEWEST_SEEDS * min(1.0, 2 * k / (w + 1)) * shared
