"""Overlaps that lie in a tandem array, where reads would fit as well a unit further.

Of reads that begin or end in an array of equal units, an overlap within the array says nothing of where they
lie: two reads of a telomere that is as long as they are may lie anywhere in it. Laid out one after the other
they make an array that is longer than the molecule's.

**The array at an end** of a read, seen from there: of its first `SPAN` bases fewer than `SITES` differ from
the base one unit before. The unit is the one of 1 to `LONGEST` bases for which the fewest do, of equals the
shortest. The array ends before the `SITES`-th base of the read that differs; one that none ends is the whole
read. So a few errors, which reads of an array share by chance, do not end it, and units that differ, which
tell where reads lie, do.

**Within arrays** is an overlap that lies in the array at an end of one of the reads. It is left out, unless
it has one read whole and the other read is not an array as a whole: what a read that goes beyond the array
contains is placed about there.
"""

from __future__ import annotations

import numpy as np

from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.tables import Overlaps, Reads

LONGEST, SPAN = 100, 500
"""Bases of the longest unit, and of the shortest array: of the shortest overlap that counts."""
SITES = 12
"""Bases that differ from the unit before which end an array: a unit with a difference has two to four, a read
of an array one or two such units by errors that others have, too; of other sequence three of four differ.
Chosen on simulated HiFi reads of telomeres about as long as they are (``docs/notes/layout.md``)."""
_BLOCK_BASES = 1 << 24


def tandem_ends(reads: Reads, threads: int) -> np.ndarray:
    """Return the bases of the arrays that reads begin and end with (int64, shape (reads, 2)), 0 for none.

    Parameters
    ----------
    reads : Reads
    threads : int
        Changes nothing but the time.
    """
    from overlapper.kernels.seeds import tandem_ends as kernel

    def of_block(block: tuple[int, int]) -> np.ndarray:
        some = reads.rows(*block)
        return kernel.tandem_ends(some.words, some.word_offsets, some.lengths, LONGEST, SPAN, SITES)

    blocks = map_in_order(of_block, even_ranges(reads.lengths, _BLOCK_BASES), threads)
    return np.concatenate([np.empty((0, 2), np.int64), *blocks])


def within_arrays(overlaps: Overlaps, lengths: np.ndarray, arrays: np.ndarray) -> np.ndarray:
    """Return a mask of the overlaps within arrays.

    Parameters
    ----------
    overlaps : Overlaps
    lengths : ndarray of int64, shape (reads,)
    arrays : ndarray of int64, shape (reads, 2)
        Of `tandem_ends`.
    """
    within, kept = np.zeros((2, len(overlaps)), np.bool_)
    is_array = arrays[:, 0] >= np.maximum(lengths, 1)
    for read, other, start, end in overlaps.sides():
        length, (first, last) = lengths[read], arrays[read].T
        within |= (start == 0) & (end <= first) | (end == length) & (start >= length - last) & (last > 0)
        kept |= (start == 0) & (end == length) & ~is_array[other]
    return within & ~kept
