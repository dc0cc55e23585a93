"""Which mappings of a read are for the same part of it; docs/algorithms/mapping.md has the definition.

CPU only.
"""

import numpy as np

from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def group_rows(starts, order, q_start, q_end, mask_level):
    """Group the rows of every read.

    Parameters
    ----------
    starts : ndarray of int64, shape (reads + 1,)
        Where the rows of each read start in ``order``.
    order : ndarray of int64, shape (n,)
        Rows of each read, the best first.
    q_start, q_end : ndarray of int64, shape (n,)
        Intervals of the rows on the read.
    mask_level : int
        Rows belong together that share this percentage of the shorter one.

    Returns
    -------
    ndarray of int64, shape (n,)
        Of each row, the head of its group: the first head before it that it belongs to, else itself.
    """
    head, heads = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    for read in range(len(starts) - 1):
        n_heads = 0
        for place in range(starts[read], starts[read + 1]):
            row = order[place]
            own = np.int64(-1)
            for number in range(n_heads):
                other = heads[number]
                shared = min(q_end[row], q_end[other]) - max(q_start[row], q_start[other])
                shorter = min(q_end[row] - q_start[row], q_end[other] - q_start[other])
                if shared > 0 and 100 * shared >= mask_level * shorter:
                    own = other
                    break
            if own < 0:
                own = heads[n_heads] = row
                n_heads += 1
            head[row] = own
    return head
