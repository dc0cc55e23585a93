"""Whether shares of layers differ by more than chance, and whether strands show that they do by error.

Errors hit a strand at a time where they come from the bases around them, or from what these carry. Those that
some layers have are on one strand then, though the pile has both. Of a pile on one strand nothing is known,
and of one with few layers on the other strand little: what counts is how the strands of these layers differ
from those of the others (``docs/algorithms/correction.md``, section 5).
"""

from __future__ import annotations

from overlapper.kernels.common.inlining import inner

UNIT = 64
"""Unit of a chi square: one over this number."""


@inner
def differ(n, some, other_n, other_some, least):
    """Return whether two shares, of ``n`` and of ``other_n``, differ: by a chi square of ``least`` units."""
    all_n, all_some = n + other_n, some + other_some
    excess = some * other_n - other_some * n
    by_chance = n * other_n * all_some * (all_n - all_some)
    return excess != 0 and UNIT * excess * excess * all_n >= least * by_chance


@inner
def is_of_one_strand(forward, reverse, all_forward, all_reverse, least):
    """Return whether layers have something by error, as their strands differ from those of all others.

    Parameters
    ----------
    forward, reverse : int
        Layers that have it, by strand.
    all_forward, all_reverse : int
        Layers that have this or something else.
    least : int
        As ``strands`` in `kernels.consensus.layers.Settings`.
    """
    n = forward + reverse
    return differ(n, forward, all_forward + all_reverse - n, all_forward - forward, least)
