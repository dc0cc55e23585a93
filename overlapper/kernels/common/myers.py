"""A column of 64 rows of the edit distance matrix by word operations (Myers 1999; blocks: Hyyro 2003).

CPU and GPU: `chain` walks on GPUs by it, too; and vectors, each lane of which has rows of its own.
"""

from __future__ import annotations

from overlapper.kernels.common.inlining import inner


@inner
def next_column(equal, above, below, rises_in, falls_in, one):
    """Step from one column to the next.

    Bit ``i`` of a word stands for row ``i`` of the block. All words are uint64, or vectors of one type.

    Parameters
    ----------
    equal : int
        Rows whose base is that of the column stepped to.
    above, below : int
        Rows whose cost lies above that of the row before, and below it, in the column stepped from.
    rises_in, falls_in : int
        1 if the cost of the row before the block rises, or falls, from this column to the next; else 0.
    one : int
        1, as a word.

    Returns
    -------
    above, below : int
        Of the column stepped to.
    rises, falls : int
        Rows whose cost rises, and falls, from column to column; the highest bit goes into the next block.
    """
    vertical = equal | below
    equal = equal | falls_in
    diagonal = (((equal & above) + above) ^ above) | equal
    rises, falls = below | ~(diagonal | above), above & diagonal
    up, down = (rises << one) | rises_in, (falls << one) | falls_in
    return down | ~(vertical | up), up & vertical, rises, falls
