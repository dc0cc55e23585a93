"""The repeat limit: above which multiplicity a k-mer is taken for part of a repeat and does not seed."""

from __future__ import annotations

import numpy as np

COPIES = 2.5
FLOOR = 8


def repeat_limit(spectrum: np.ndarray) -> int:
    """Derive the repeat limit from a whole multiplicity spectrum.

    Of all occurrences of k-mers that occur at least twice, take the median multiplicity: what a place of the
    genome that occurs once typically shows, whatever coverage and error rate made it so, as long as less than half
    of the genome is repeated. A k-mer of `COPIES` times that multiplicity comes from as many copies or more. For
    thin coverage the limit is at least `FLOOR`, where chance alone reaches a multiple of the median.

    Parameters
    ----------
    spectrum : ndarray of int, shape (m,)
        ``spectrum[i]`` k-mers occur i times; the last value also counts those that occur more often.

    Returns
    -------
    int
        Largest multiplicity that seeds.
    """
    occurrences = np.cumsum(spectrum * np.arange(len(spectrum)))
    occurrences -= occurrences[1]
    median = int(np.searchsorted(occurrences, occurrences[-1] / 2)) if occurrences[-1] else 0
    return max(FLOOR, int(COPIES * median))
