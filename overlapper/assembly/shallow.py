"""Contigs that are left out by their depth: of contamination, or of reads whose barcode was another one's.

The *main* contig is the one that most bases of reads are of, depth times length: a plasmid at 500x is the
main one beside a host's chromosome at 5x, and a chromosome beside its plasmids. A contig less deep than a
given share of it is left out. Depths are those of all reads, those included that were set aside.
"""

from __future__ import annotations

import numpy as np

from overlapper.assembly.laid_out import Contigs, LaidOut
from overlapper.assembly.rubbish import NOWHERE, LeftOut, without


def without_shallow(
    laid_out: LaidOut, left_out: LeftOut, share: float, weights: np.ndarray
) -> tuple[LaidOut, LeftOut]:
    """Leave contigs out that are less deep than a share of the main one.

    Parameters
    ----------
    laid_out : LaidOut
    left_out : LeftOut
        Of contigs that are left out already.
    share : float
        0 leaves none out.
    weights : ndarray of float64, shape (reads,)
        For how many each read stands.

    Returns
    -------
    laid_out : LaidOut
    left_out : LeftOut
        With the reads of these contigs, which belong `NOWHERE`.
    """
    contigs = laid_out.contigs.of_all(laid_out.reads, weights)
    gone = np.flatnonzero(contigs.depth < share * _depth_of_main(contigs))
    none = np.zeros_like(gone)
    rows = np.stack([gone, none + NOWHERE, none, none], axis=1)
    return without(laid_out, left_out, rows) if len(gone) else (laid_out, left_out)


def _depth_of_main(contigs: Contigs) -> float:
    """Return the depth of the contig that most bases of reads are of; 0 if there are no contigs."""
    if not len(contigs):
        return 0.0
    return float(contigs.depth[np.argmax(contigs.depth * contigs.sequences.lengths)])
