"""Where circular contigs begin: at a place that their sequence gives, whatever reads they were made of.

**By themselves.** Of the words of `K` bases that a circle has once, on either strand, that with the smallest
hash is the first of the contig, on the strand on which it is the smaller one of the two. So equal circles
are equal contigs.

**By a sequence.** Of given ones, such as *dnaA* or an origin, that which maps with most equal bases begins
the circle, on its own strand; of equals the first one at the first place. Bases at its start that did not
map are counted back. Circles to which none maps begin by themselves.

Where two haplotypes are told apart no circle is turned: tables name places of contigs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from overlapper.correction.packed_reads import pack_reads
from overlapper.sketch.words import NO_WORD, words_of
from overlapper.tables import Reads

K = 31
_AT_A_TIME = 1 << 18
"""Places of a circle whose words are in memory, some 80 bytes each."""
_FEW = 1 << 10
"""About as many words are compared first, those with the smallest hashes."""
_MASK = np.uint64((1 << 2 * K) - 1)
_FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(K)


class Beginnings(NamedTuple):
    """Where contigs begin when they are turned."""

    start: np.ndarray
    """int64, shape (contigs,); their first base."""
    reverse: np.ndarray
    """bool, shape (contigs,); whether they go on from there on the other strand."""

    @classmethod
    def of(cls, sequences: Reads, circular: np.ndarray, first: Reads | None, threads: int) -> Self:
        """Find where circular contigs begin; all others stay.

        Parameters
        ----------
        sequences : Reads
        circular : ndarray of bool, shape (contigs,)
        first : Reads or None
            Sequences that circles begin with.
        threads : int
            Changes nothing but the time.
        """
        start, reverse = np.zeros(len(sequences), np.int64), np.zeros(len(sequences), np.bool_)
        circles = np.flatnonzero(circular & (sequences.lengths >= K))
        for contig in circles.tolist():
            start[contig], reverse[contig] = _by_itself(sequences.codes(contig))
        if first is not None and len(circles):
            for contig, place, on_other in _by_sequences(sequences, circles, first, threads):
                start[contig], reverse[contig] = place, on_other
        return cls(start, reverse)

    def turned(self, sequences: Reads) -> Reads:
        """Return the contigs, with their qualities, turned."""
        if not self.start.any() and not self.reverse.any():
            return sequences
        codes, qualities = [], []
        for contig, (start, reverse) in enumerate(
            zip(self.start.tolist(), self.reverse.tolist(), strict=True)
        ):
            own = _begun(sequences.codes(contig), start, reverse)
            codes.append(np.where(own < 4, 3 - own, own) if reverse else own)
            if (quality := sequences.qualities_of(contig)) is not None:
                qualities.append(_begun(quality, start, reverse))
        together = np.concatenate(qualities) if qualities else None
        return pack_reads(np.concatenate(codes), sequences.lengths, together, sequences.names)


def _begun(values: np.ndarray, start: int, reverse: bool) -> np.ndarray:
    """Return a circle of values from one of them on, in this order or the other one."""
    return np.roll(values, -start - 1)[::-1] if reverse else np.roll(values, -start)


def _by_itself(codes: np.ndarray) -> tuple[int, bool]:
    """Return where a circle begins by its own words; at its first base if it has none once."""
    around = np.concatenate([codes, codes[: K - 1]])
    limit = int(_MASK) // (len(codes) // _FEW + 1)
    while True:
        blocks = range(0, len(codes), _AT_A_TIME)
        found = [_hashes(around[start : start + _AT_A_TIME + K - 1], limit) for start in blocks]
        place = np.concatenate([start + block[0] for start, block in zip(blocks, found, strict=True)])
        hashes, reverse = (np.concatenate([block[column] for block in found]) for column in (1, 2))
        _, first, times = np.unique(hashes, return_index=True, return_counts=True)
        if (times == 1).any():
            row = first[times == 1][0]
            return int(place[row] + (K - 1) * reverse[row]) % len(codes), bool(reverse[row])
        if limit == _MASK:
            return 0, False
        limit = min(int(_MASK), limit * _FEW)


def _hashes(codes: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the places of words whose hash is no more than a limit, their hashes, and their strands."""
    one, other = words_of(codes, K), words_of(np.where(codes < 4, 3 - codes, codes)[::-1], K)[::-1]
    hashes = (np.minimum(one, other).astype(np.uint64) * _FACTORS[0]) & _MASK
    hashes = ((hashes ^ (hashes >> _HALF)) * _FACTORS[1]) & _MASK
    place = np.flatnonzero((hashes <= np.uint64(limit)) & (one != NO_WORD))
    return place, hashes[place], other[place] < one[place]


def _by_sequences(
    sequences: Reads, circles: np.ndarray, first: Reads, threads: int
) -> Iterator[tuple[int, int, bool]]:
    """Yield circles to which a given sequence maps, and where they begin."""
    from overlapper.mapping.mapper import map_reads  # takes long to load, and few ask for it

    twice = [2 * sequences.sequence(contig) for contig in circles.tolist()]  # nothing maps across the end
    mapped = map_reads(Reads.from_sequences([""] * len(twice), twice), first, threads=threads)
    best = np.lexsort([mapped.t_start, mapped.query, -mapped.matches, mapped.target])
    best = best[np.unique(mapped.target[best], return_index=True)[1]]
    before = mapped.q_start[best].astype(np.int64)
    reverse = mapped.reverse[best]
    place = np.where(reverse, mapped.t_end[best] - 1 + before, mapped.t_start[best] - before)
    contig = circles[mapped.target[best]]
    yield from zip(
        contig.tolist(), (place % sequences.lengths[contig]).tolist(), reverse.tolist(), strict=True
    )
