"""Sort arrays of a few dozen items inside kernels."""

from numba import njit


@njit(nogil=True, cache=True)
def sort_few(values):
    """Sort in place (Shell 1959, gaps that shrink by 9/4); numpy's sort takes numba seconds to compile."""
    gap = len(values)
    while gap > 1:
        gap = max(1, gap * 4 // 9)
        for i in range(gap, len(values)):
            value = values[i]
            at = i
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
