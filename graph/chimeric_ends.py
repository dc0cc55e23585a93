"""Chimeras at ends of molecules, cut where reads are otherwise kept whole.

Where overlaps match to the last base, reads are kept whole, as errors part the overlaps on a read just as the
junction of a chimera does (`overlapper.graph.confirmed`). Amid a molecule a chimera does no harm: reads of
either of its two places go on beyond it. At an end of a molecule none does, and a unitig would follow the
chimera into its other place::

    reads that end with the molecule   ──────────────────────
                                             ────────────────
    chimera                               ═══════════════════╪══════════════
    reads of its other place                                  ────────────────────
                                                                ───────────────────────

**Junction.** Of the intervals of a read that any overlap covers, after `CLIP` bases are taken off both ends
of every overlap and given back to the intervals, the two longest have a junction between them: no overlap
reaches across.

**End of a molecule.** Of the overlaps that cover the base `CLIP` bases before a junction, at least
``confirm_depth`` and at least half end no more than `RAGGED` bases from it, where the reads on the other side
of these overlaps end, too; or those behind the junction begin so. At an error reads end anywhere.

A read keeps the longer of its two intervals, the first one of equals, and all on the far side of that.
"""

from __future__ import annotations

import numpy as np

from overlapper.extend.classify import classify
from overlapper.graph.cores import cores_of, partings_of
from overlapper.graph.pairs import Pairs
from overlapper.params.graph import GraphParams
from overlapper.tables import OverlapClass

CLIP = 100
"""Bases that an overlap must have on either side of a place to cross it; chance matches have a few."""
RAGGED = 20
"""Most bases between the ends of reads that end with a molecule."""


def without_chimeric_ends(
    pairs: Pairs, lengths: np.ndarray, params: GraphParams, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the intervals of whole reads, with chimeras at ends of molecules cut.

    Parameters
    ----------
    pairs : Pairs
        On whole reads.
    lengths : ndarray of int, shape (reads,)
    params : GraphParams
    threads : int
        Changes nothing but the time.

    Returns
    -------
    start, end : ndarray of int32, shape (reads,)
        Kept interval of each read, half open.
    """
    kinds = classify(pairs, lengths, params.max_hang, params.min_ratio)
    fitting = pairs.take(kinds != OverlapClass.INTERNAL)
    cores, (offsets, opens, closes) = cores_of(fitting, 1, np.full(len(lengths), CLIP), threads)
    start, end = np.zeros(len(lengths), np.int32), lengths.astype(np.int32)
    for read, left, right, keeps_left in partings_of(cores):
        on_read = slice(offsets[read], offsets[read + 1])
        ends_there = _many_end(opens[on_read], closes[on_read], left, params.confirm_depth)
        begin_there = _many_end(-closes[on_read], -opens[on_read], -right, params.confirm_depth)
        if ends_there or begin_there:
            if keeps_left:
                end[read] = left
            else:
                start[read] = right
    return start, end


def _many_end(opens: np.ndarray, closes: np.ndarray, place: int, fewest: int) -> bool:
    """Return whether enough of the intervals that reach a place end at it."""
    near = closes[(opens <= place - CLIP) & (closes > place - CLIP)]
    ending = int((abs(near - place) <= RAGGED).sum())
    return ending >= fewest and 2 * ending >= len(near)
