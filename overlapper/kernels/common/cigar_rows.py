"""CIGARs of some rows, copied to where they belong.

CPU only.
"""

from __future__ import annotations

import numpy as np

from overlapper.runtime.compile.cache import njit
from overlapper.tables.cigars import DELETION, INSERTION


@njit(nogil=True, cache=True)
def put_cigars(cigar, offsets, places, swapped, reverse, out):
    """Copy CIGARs to their places.

    Parameters
    ----------
    cigar : ndarray of uint32
        In BAM's packing.
    offsets : ndarray of int64, shape (n + 1,)
        Where each CIGAR starts.
    places : ndarray of int64, shape (n,)
        Where in ``out`` it goes; -1 for one that is left out.
    swapped : ndarray of bool, shape (n,)
        Whether query and target change places.
    reverse : ndarray of bool, shape (n,)
        Whether they lie on opposite strands. If they change places, too, the CIGAR then runs backwards.
    out : ndarray of uint32
        Written.
    """
    both = np.uint32(INSERTION ^ DELETION)
    for row in range(len(places)):
        at = places[row]
        if at < 0:
            continue
        begin, end = offsets[row], offsets[row + 1]
        if not swapped[row]:
            for k in range(end - begin):
                out[at + k] = cigar[begin + k]
            continue
        for k in range(end - begin):
            run = cigar[end - 1 - k] if reverse[row] else cigar[begin + k]
            operation = run & np.uint32(15)
            gap = operation == INSERTION or operation == DELETION
            out[at + k] = run ^ both if gap else run
