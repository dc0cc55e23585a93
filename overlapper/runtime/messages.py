"""What a run says of itself: how far it is, and counts within sentences."""

from collections.abc import Callable

Report = Callable[[str, int, int], None]
"""``report(step, done, total)`` is told how far a run is."""


def unreported(step: str, done: int, total: int) -> None:
    """Report nothing."""


def counted(number: int, noun: str) -> str:
    """Return a count as sentences have it.

    >>> counted(1, "read"), counted(2000, "read")
    ('1 read', '2,000 reads')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
