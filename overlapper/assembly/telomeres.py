"""Ends of contigs that are telomeres, by their motif.

The motif is given as a contig begins with it, such as CCCTAA; a contig ends with its reverse complement. An
end is a telomere if a stretch of `LEAST` bases more in copies of the motif than outside of them begins there,
and before it never `MOST_BEHIND` bases more outside: as ``seqtk telo`` has it, whose defaults these are.
Copies match to the last base.
"""

from __future__ import annotations

import numpy as np

from overlapper.tables import Reads

LEAST, MOST_BEHIND = 300, 2000
_AT_FIRST = 1 << 14
"""Bases that are looked at first; more only where they leave it open."""


def telomeres(sequences: Reads, motif: str) -> np.ndarray:
    """Return which ends of sequences are telomeres (bool, shape (n, 2)); none for an empty motif."""
    found = np.zeros((len(sequences), 2), bool)
    codes = Reads.from_sequences(["motif"], [motif]).codes(0)
    for number in range(len(sequences) if motif else 0):
        bases = sequences.codes(number)
        turned = np.where(bases < 4, 3 - bases.astype(np.int8), bases)[::-1]
        found[number] = _begins(bases, codes), _begins(turned, codes)
    return found


def _begins(bases: np.ndarray, motif: np.ndarray) -> bool:
    """Tell whether a sequence begins with a telomere."""
    looked_at = _AT_FIRST
    while True:
        some = bases[: looked_at + len(motif) - 1]
        starts = np.arange(max(len(some) - len(motif) + 1, 0))
        here = starts[np.logical_and.reduce([some[starts + i] == base for i, base in enumerate(motif)])]
        within = np.zeros(len(some), bool)
        within[(here[:, None] + np.arange(len(motif))).reshape(-1)] = True
        more = np.cumsum(np.where(within[:looked_at], 1, -1))
        most = np.maximum.accumulate(np.maximum(more, 0))
        behind = np.flatnonzero(most - more > MOST_BEHIND)
        if len(behind) or looked_at >= len(bases):
            return bool(most[: behind[0] if len(behind) else None].max(initial=0) >= LEAST)
        looked_at *= 2
