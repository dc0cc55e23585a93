"""Axes: where values lie on them, and which of them to label."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

_STEPS = (1, 2, 5, 10)


@dataclasses.dataclass(frozen=True)
class Axis:
    """An axis from ``low`` to ``high``, linear or logarithmic."""

    label: str
    low: float
    high: float
    """`low`, `high`: what lies at its ends; equal ones are drawn apart. Above 0 where logarithmic."""
    log: bool = False
    whole: bool = False
    """Label whole numbers alone."""

    def place(self, values: np.ndarray | float) -> np.ndarray:
        """Return where values lie, 0 at the low end and 1 at the high one; others are put there."""
        low, high, at = self.low, self.high, np.asarray(values, np.float64)
        if self.log:
            low, high, at = math.log(low), math.log(high), np.log(np.maximum(at, self.low))
        return np.clip((at - low) / ((high - low) or 1.0), 0.0, 1.0)

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Return the values to label, at most ``most`` of them, and their labels."""
        values = self._decades(most) if self.log else self._even(most)
        return [(value, short_number(value)) for value in values]

    def _even(self, most: int) -> list[float]:
        span = (self.high - self.low) or 1.0
        power = 10.0 ** math.floor(math.log10(span / most))
        step = next(s * power for s in _STEPS if span / (s * power) <= most)
        if self.whole:
            step = max(1.0, step)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [i * step for i in range(first, last + 1)]

    def _decades(self, most: int) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for mantissas in ((1, 2, 5), (1, 3), (1,)):
            values = [m * 10.0**e for e in range(first, last + 1) for m in mantissas]
            shown = [v for v in values if self.low * 0.999 <= v <= self.high * 1.001]
            if len(shown) <= most:
                return shown
        return shown[:: -(-len(shown) // most)]


def short_number(value: float) -> str:
    """Return a number in few letters: 12k, 4.6M, 0.05."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:.3g}{letter}"
    return f"{value:.3g}"
