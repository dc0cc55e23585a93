"""Samples of items, such as those that settings are fitted on."""

from __future__ import annotations

import numpy as np


def spread(n: int, wanted: int) -> np.ndarray:
    """Return the indices of ``wanted`` of ``n`` items, evenly spread, or of all items."""
    return np.unique(np.linspace(0, n - 1, min(n, wanted)).astype(int))
