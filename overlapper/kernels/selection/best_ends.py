"""Highest scores of the overlaps at every read end. Definitions are in `overlapper.extend.best_ends`."""

from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def add_scores(ends, scores, best):
    """Enter scores into the lists of their ends.

    Parameters
    ----------
    ends : ndarray of int64, shape (n,)
    scores : ndarray of int32, shape (n,)
    best : ndarray of int32, shape (ends, most)
        In and out: the highest scores of each end, falling.
    """
    most = best.shape[1]
    for i in range(len(ends)):
        row, score = best[ends[i]], scores[i]
        place = most
        while place > 0 and row[place - 1] < score:
            place -= 1
        for j in range(most - 1, place, -1):
            row[j] = row[j - 1]
        if place < most:
            row[place] = score
