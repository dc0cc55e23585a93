"""Python's search for garbage while kernels are compiled: seldom, and not among what was there before.

numba makes many objects, of which few are garbage until a kernel is done. By its own settings Python searches
all of them, and all that is loaded, again and again: a fifth of what compiling takes.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

_THRESHOLDS = 50_000, 20, 100
"""New objects between two searches among the youngest, and such searches between two among older ones.
Compiling takes as long as with no search at all, and 5 MB more than with Python's settings."""


@contextlib.contextmanager
def searched_seldom() -> Iterator[None]:
    """Have garbage be searched for seldom meanwhile, and nothing of what is there now be searched."""
    before = gc.get_threshold()
    if before == _THRESHOLDS:  # a kernel that another one calls
        yield
        return
    is_ours = not gc.get_freeze_count()  # else somebody froze what is theirs
    if is_ours:
        gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if is_ours:
            gc.unfreeze()
