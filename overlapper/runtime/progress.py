"""How the progress of a run is reported."""

from collections.abc import Callable

Report = Callable[[str, int, int], None]
"""``report(step, done, total)`` is told how far a run is."""
