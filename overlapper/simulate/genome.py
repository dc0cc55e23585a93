"""Random references to draw reads from."""

from __future__ import annotations

import numpy as np

from overlapper.errors import ParameterError
from overlapper.simulate.bits import Bits, Stream
from overlapper.tables import Reads

_LETTERS = np.frombuffer(b"ACGT", np.uint8)


def random_genome(
    size: int,
    seed: int = 1,
    *,
    repeat_copies: int = 0,
    repeat_length: int = 0,
    repeat_divergence: float = 0.0,
) -> Reads:
    """Return one random sequence, named ``genome``.

    Parameters
    ----------
    size : int
        Bases.
    seed : int
    repeat_copies : int
        Copies of one random element, on either strand, at random places that do not overlap.
    repeat_length : int
        Bases of the element.
    repeat_divergence : float
        Share of the bases that are substituted, at random in every copy.

    Raises
    ------
    ParameterError
        When a value is out of range or the repeats do not fit.
    """
    if size < 1:
        raise ParameterError(f"genome size is {size}, expected 1 or more")
    if repeat_copies < 0 or repeat_length < 0 or not 0 <= repeat_divergence <= 1:
        raise ParameterError(
            f"repeats are {repeat_copies} copies of {repeat_length} bases with divergence "
            f"{repeat_divergence}, expected 0 or more, 0 or more, and 0 to 1"
        )
    free = size - repeat_copies * repeat_length
    if free < 0:
        raise ParameterError(
            f"{repeat_copies} repeats of {repeat_length} bases do not fit into a genome of {size} bases"
        )
    bits = Bits(Stream.GENOME, seed)
    codes = bits.bases(size)
    element = bits.bases(repeat_length)
    # Places in what is left when the copies are taken out; putting them back pushes each by those before it.
    gaps = sorted(int(bits.unit() * (free + 1)) for _ in range(repeat_copies))
    for copy, gap in enumerate(gaps):
        start = gap + copy * repeat_length
        codes[start : start + repeat_length] = _diverged(element, repeat_divergence, bits)
    return Reads.from_sequences(["genome"], [_LETTERS[codes].tobytes().decode()])


def _diverged(element: np.ndarray, divergence: float, bits: Bits) -> np.ndarray:
    copy = element.copy()
    hit = np.flatnonzero(bits.units(len(copy)) < divergence)
    copy[hit] = (copy[hit] + 1 + bits.below(3, len(hit))) & 3
    return 3 - copy[::-1] if bits.unit() < 0.5 else copy
