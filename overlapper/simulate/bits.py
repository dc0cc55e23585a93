"""Random numbers from the raw stream of PCG64, the same with every version of numpy."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Self

import numpy as np

from overlapper.errors import ParameterError

BINS = 1 << 14
"""Of a density that is tabulated."""


class Stream(enum.IntEnum):
    """What a stream is for; the first part of its key."""

    READ = 0
    GENOME = 1
    UNKNOWN_BASES = 2


class Bits:
    """A stream of random numbers.

    Numpy keeps the raw stream of a bit generator for ever, the routines that make distributions of it not.

    Parameters
    ----------
    stream : Stream
    seed : int
        0 or more.
    number : int
        Which of the streams of this kind, 0 or more.
    """

    def __init__(self, stream: Stream, seed: int, number: int = 0) -> None:
        if seed < 0:
            raise ParameterError(f"seed is {seed}, expected 0 or more")
        self._raw = np.random.PCG64(np.random.SeedSequence([stream, seed, number])).random_raw

    def unit(self) -> float:
        """Draw one number from [0, 1), of 53 random bits."""
        return (int(self._raw()) >> 11) * 2.0**-53

    def units(self, n: int) -> np.ndarray:
        """Draw n numbers from [0, 1) as float32, of 24 random bits."""
        words = self._raw(-(-n // 2)).view(np.uint32)[:n]
        return (words >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)

    def below(self, limit: int, n: int) -> np.ndarray:
        """Draw n uint8 numbers from 0 to limit - 1; limit is at most 256."""
        words = self._raw(-(-n // 4)).view(np.uint16)[:n].astype(np.uint32)
        return ((words * np.uint32(limit)) >> np.uint32(16)).astype(np.uint8)

    def bases(self, n: int) -> np.ndarray:
        """Draw n base codes (uint8, 0 to 3)."""
        return self._raw(-(-n // 8)).view(np.uint8)[:n] & np.uint8(3)


@dataclasses.dataclass(frozen=True)
class Distribution:
    """A distribution whose density is constant within each bin of a grid."""

    edges: np.ndarray
    """float64, shape (bins + 1,)."""
    cumulative: np.ndarray
    """float64, shape (bins + 1,); share of the distribution below each edge, from 0 to 1."""

    @classmethod
    def from_log_density(
        cls, log_density: Callable[[np.ndarray], np.ndarray], low: float, high: float
    ) -> Self:
        """Tabulate a density, known up to a factor, between two ends; what lies outside is cut off.

        Parameters
        ----------
        log_density : callable
            Gives the logarithms of the density at an array of values.
        """
        edges = np.linspace(low, high, BINS + 1)
        logs = log_density((edges[1:] + edges[:-1]) / 2)
        mass = np.cumsum(np.exp(logs - logs.max()))
        return cls(edges, np.concatenate([[0.0], mass / mass[-1]]))

    def draw(self, bits: Bits) -> float:
        """Draw one value."""
        return float(np.interp(bits.unit(), self.cumulative, self.edges))
