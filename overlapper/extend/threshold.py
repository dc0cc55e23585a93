"""The adaptive score threshold (Guidi 2021, section 4)."""

from __future__ import annotations

import numpy as np

from overlapper.params.stages import GactParams, ThresholdParams, XdropParams


def score_threshold(
    span: np.ndarray, scores: XdropParams | GactParams, threshold: ThresholdParams
) -> np.ndarray:
    """Return the score that an overlap must reach.

    Parameters
    ----------
    span : ndarray of int
        Estimated overlaps, in bases.
    scores : XdropParams or GactParams
    threshold : ThresholdParams
        With the error rate.

    Returns
    -------
    ndarray of float64
        Never below 0.
    """
    return np.maximum(0.0, least_a_base(scores, threshold) * span)


def least_a_base(scores: XdropParams | GactParams, threshold: ThresholdParams) -> float:
    """Return the score that an overlap must reach for each base of its estimated length; it may be below 0.

    Two reads with error rate e agree in a base with probability ``(1 - e)**2``. A true overlap then scores at
    least ``phi = match * (1 - e)**2 - penalty * (1 - (1 - e)**2)`` a base, the penalty being the dearer of
    mismatch and gap; ``delta`` is the slack. For +1, -1, -1 that is BELLA's ``2 * (1 - e)**2 - 1``.
    """
    gap = scores.gap if isinstance(scores, XdropParams) else scores.gap_extend
    agree = (1 - threshold.error_rate) ** 2
    phi = scores.match * agree + min(scores.mismatch, gap) * (1 - agree)
    return (1 - threshold.delta) * phi
