"""What a run says of itself: how far it is, and counts within sentences."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Result = TypeVar("Result")
Report = Callable[[str, int, int], None]
"""``report(step, done, total)`` is told how far a run is."""


def unreported(step: str, done: int, total: int) -> None:
    """Report nothing."""


def reported(results: Iterable[Result], step: str, total: int, report: Report) -> Iterator[Result]:
    """Yield results, and report how many of them there are."""
    for done, result in enumerate(results):
        yield result
        report(step, done + 1, total)


def counted(number: int, noun: str) -> str:
    """Return a count as sentences have it.

    >>> counted(1, "read"), counted(2000, "read")
    ('1 read', '2,000 reads')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
