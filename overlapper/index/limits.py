"""Checks of the parameters of searches, and of the number of matches."""

from __future__ import annotations

from overlapper.errors import ParameterError

ANY_NUMBER = 1 << 62
"""A limit above any number of matches."""


def check_sample_rate(sample_rate: int) -> None:
    """Raise a `ParameterError` if a sample rate is not a power of two."""
    if sample_rate < 1 or sample_rate & (sample_rate - 1):
        raise ParameterError(f"sample_rate is {sample_rate}, expected a power of two")


class TooManyMatchesError(ParameterError):
    """Raised when there are more matches than the limit that was given."""


def check_matches(count: int, most: int) -> None:
    """Raise a `TooManyMatchesError` if there are more matches than the limit."""
    if count > most:
        raise TooManyMatchesError(f"there are more than {most:,} matches, expected at most so many")
