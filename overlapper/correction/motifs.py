"""Motifs at which reads of a strand err alike, as modified bases are read as others.

At a place of such a motif reads of one strand have another base than those of the other one. So words of
reads are counted, at columns of a sample of pileups (`kernels.consensus.erring_words`): at how many a
strand has the middle of the word, and at how many of these the other strand has another base. A *motif*
is a part of 4 or 5 bases of words, with their middle. `FEWEST` or more of the words with it are
contradicted, each at other places, and a share of `LEAST`, and `TIMES` that of all words, of their
columns. The one that is least likely by chance is taken first, ``m log(m / chance)`` of ``m`` columns; of
equal ones the shortest, then the one that begins first, then the first by letters. The next one is looked
for among the words without it. In a motif, the base that is read for another one is a small letter:
``GgTC``, where the A of GATC is read as G.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.consensus.erring_words import WORD

FEWEST, LEAST, TIMES = 6, 0.1, 4
"""Chosen on simulated reads with errors at GATC and CCWGG (``docs/notes/correction.md``)."""
BASES = 4, 5
"""Bases of a motif; more have too few words."""
_MIDDLE = WORD // 2


def motifs(seen: np.ndarray, contradicted: np.ndarray) -> tuple[str, ...]:
    """Return motifs by the counts of words."""
    seen, contradicted = (counts.reshape((4,) * WORD).copy() for counts in (seen, contradicted))
    usual = (contradicted.sum() + 1) / (seen.sum() + 1)
    found: list[str] = []
    while True:
        best, words = 0.0, tuple[int | slice, ...]()
        for bases in BASES:
            for start in range(max(0, _MIDDLE + 1 - bases), min(_MIDDLE, WORD - bases) + 1):
                beside = tuple(x for x in range(WORD) if not start <= x < start + bases)
                n, m = seen.sum(axis=beside), contradicted.sum(axis=beside)
                enough = (contradicted > 0).sum(axis=beside) >= FEWEST
                enough &= m >= max(LEAST, TIMES * usual) * n
                surprise = np.where(enough, m * np.log(np.maximum(m, 1) / (usual * np.maximum(n, 1))), 0)
                if surprise.max() > best:
                    best, at = surprise.max(), np.unravel_index(surprise.argmax(), surprise.shape)
                    words = tuple(
                        int(at[x - start]) if start <= x < start + bases else slice(None) for x in range(WORD)
                    )
        if not best:
            return tuple(found)
        letters = ["" if isinstance(base, slice) else "ACGT"[base] for base in words]
        letters[_MIDDLE] = letters[_MIDDLE].lower()
        found.append("".join(letters))
        seen[words] = contradicted[words] = 0


def erring_words(found: tuple[str, ...]) -> np.ndarray:
    """Return the table of `kernels.consensus.layers.Settings` of motifs."""
    if not found:
        return np.zeros((2, 0), np.bool_)
    forward = np.zeros((4,) * WORD, np.bool_)
    for motif in found:
        start = _MIDDLE - next(x for x, letter in enumerate(motif) if letter.islower())
        codes = {start + x: "ACGT".index(letter) for x, letter in enumerate(motif.upper())}
        forward[tuple(codes.get(x, slice(None)) for x in range(WORD))] = True
    return np.stack([forward, np.flip(forward).T]).reshape(2, -1)
