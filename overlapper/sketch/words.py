"""Words: so many successive bases as one number."""

from __future__ import annotations

import numpy as np

NO_WORD = -1
"""In place of a word one of whose bases is not known."""


def words_of(codes: np.ndarray, bases: int) -> np.ndarray:
    """Return the words that begin at each base of sequences, the first base in the highest bits.

    Parameters
    ----------
    codes : ndarray of uint8, shape (..., n)
    bases : int
        Of a word, at most 31. Words are made from shorter ones: of ``2 length`` bases from two of ``length``,
        of one more from that and the next base.

    Returns
    -------
    ndarray of int32, of int64 for words of more than 15 bases; shape (..., n - bases + 1)
        Empty where there are fewer bases.
    """
    kind = np.dtype(np.int32 if bases <= 15 else np.int64)
    words = base = codes.astype(kind) & 3
    length = 1
    for one_more in bin(bases)[3:]:
        words = words[..., :-length] << 2 * length | words[..., length:]
        length *= 2
        if one_more == "1":
            words = words[..., :-1] << 2 | base[..., length:]
            length += 1
    unknown = np.cumsum(codes > 3, axis=-1, dtype=np.int32)
    if unknown.any():
        before = unknown[..., : words.shape[-1]] - (codes[..., : words.shape[-1]] > 3)
        words[unknown[..., bases - 1 :] > before] = NO_WORD
    return words
