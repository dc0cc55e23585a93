"""Bases of contigs about which the strands of reads disagree, and motifs that these share.

Modified bases are read as others, or not at all: one strand has them where the other one has their
complement. So what reads have is counted by strand, by the runs of `overlapper.assembly.undecided`.

As many reads of a strand *have* a base as have the run over it, with its surroundings, that most of them
have, of runs that the contigs have once. As many *lack* it as have bases on both sides of it, in the next
blocks of `AROUND` bases of the contig, more than have this one. Strands disagree about a base that more than
`MARGIN` reads more of the one strand have than lack, and more than `MARGIN` reads more of the other one lack
than have. Noisy reads, of which few have any run, cannot be asked so.

Motifs: bases are looked at on the strand that lacks them, `NEAR` to either side. A *motif* is a word of
4 to 6 bases, not all equal, or of 5 that is the same on both strands but for its middle (W, S or N). It is
*shared* if `FEWEST` stretches and a share of `LEAST` have it, and `TIMES` as many as of places all over the
contigs. The one that is least likely by chance is told first, ``m * log(m / chance)`` of ``m`` stretches; of
equal ones the first by k-mer. The next one is looked for among the stretches without it.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from overlapper.correction.doubt import Doubt, OnContigs, Reason
from overlapper.kernels.seeds.surrounded_runs import FLANK, raise_around
from overlapper.runtime.messages import counted
from overlapper.runtime.threads import for_each, map_in_order
from overlapper.tables import Reads
from overlapper.tables.base import column
from overlapper.tables.ragged import offsets_of, runs_of

MARGIN = 1
"""How many reads more decide what a strand has: as of undecided runs (`overlapper.assembly.undecided`)."""
AROUND = 64
"""Chosen: reads that have errors at a base have bases there."""
NEAR = 6
"""What a pore or a polymerase has in it at a time. Chosen."""
FEWEST, LEAST, TIMES = 5, 0.1, 4
"""Chosen."""
_BLOCK = 1 << 20
_SIZES, _MOST = (4, 5, 6), 2_000
_MIDDLES = {"W": (0, 3), "S": (1, 2), "N": (0, 1, 2, 3)}


@dataclasses.dataclass(frozen=True, eq=False)
class Disagreeing(OnContigs):
    """Stretches of bases about which strands disagree, by place."""

    reverse: np.ndarray = column("?")
    """bool, shape (n,); whether the reads on the reverse strand of the contig are those that have something
    else."""
    reads: np.ndarray = column("i8")
    """int64, shape (n,); how many of these have."""

    def doubt(self) -> Doubt:
        """Return them as stretches in doubt; the figure is the number of reads."""
        reason = np.full(len(self), Reason.STRANDS)
        return Doubt(self.contig, self.start, self.end, reason, self.reads)


class Having:
    """How often strands have the bases of contigs."""

    def __init__(self, lengths: np.ndarray) -> None:
        self._first = offsets_of(lengths)
        self._has = np.zeros((int(self._first[-1]), 2), np.uint8)

    def add(
        self, runs: np.ndarray, start: np.ndarray, end: np.ndarray, met: np.ndarray, threads: int
    ) -> None:
        """Add runs of contigs.

        Parameters
        ----------
        runs : ndarray of int64, shape (contigs + 1,)
            Where those of each contig begin.
        start, end : ndarray of int32, shape (n,)
            By place on each contig; they may reach beyond the end of a circle.
        met : ndarray of int32, shape (2, n)
            How many reads of either strand have them.
        threads : int
        """

        def of_block(block: tuple[int, int, int]) -> None:
            contig, first, behind = block
            here, bases = slice(*runs[contig : contig + 2]), int(np.diff(self._first[contig : contig + 2])[0])
            has = self._has[self._first[contig] + first : self._first[contig] + behind]
            for turn in (0, bases, -bases):
                low = np.searchsorted(end[here], first + turn - FLANK, "right")
                high = np.searchsorted(start[here], behind + turn + FLANK)
                some = slice(here.start + low, here.start + max(low, high))
                raise_around(start[some] - first - turn, end[some] - first - turn, met[:, some], has)

        blocks = [
            (contig, first, min(first + _BLOCK, bases))
            for contig, bases in enumerate(np.diff(self._first).tolist())
            for first in range(0, bases, _BLOCK)
        ]
        for_each(of_block, blocks, threads)

    def disagreeing(self, threads: int) -> Disagreeing:
        """Return the stretches about which strands disagree."""
        contigs = range(len(self._first) - 1)
        found = Disagreeing.concat([Disagreeing.empty(), *map_in_order(self._of_contig, contigs, threads)])
        return found.take(np.lexsort((found.start, found.contig)))

    def _of_contig(self, contig: int) -> Disagreeing:
        has = self._has[self._first[contig] : self._first[contig + 1]].astype(np.int16)
        blocks = np.maximum.reduceat(has, np.arange(0, len(has), AROUND))
        around = np.pad(blocks, ((1, 1), (0, 0)))
        most = np.repeat(np.minimum(around[:-2], around[2:]), AROUND, axis=0)[: len(has)]
        lacks = np.maximum(most - has, 0)
        more, parts = has - lacks, []
        for strand in range(2):
            differs = (more[:, strand] < -MARGIN) & (more[:, 1 - strand] > MARGIN)
            start, end, _ = runs_of(differs, np.array([0, len(has)]))
            reads = [lacks[place:stop, strand].max() for place, stop in zip(start, end, strict=True)]
            same = np.full((2, len(start)), [[contig], [strand]])
            parts.append(Disagreeing(same[0], start, end, same[1], np.array(reads, np.int64)))
        return Disagreeing.concat(parts)


class Motif(NamedTuple):
    """A motif, and how many stretches share it."""

    bases: str
    stretches: int


def shared_motifs(contigs: Reads, found: Disagreeing) -> list[Motif]:
    """Find the motifs of stretches; of very many stretches only those of a part are counted."""
    if len(found) < FEWEST:
        return []
    found = found.take(np.linspace(0, len(found) - 1, min(len(found), _MOST)).astype(np.int64))
    near = _near(contigs, found.contig, (found.start + found.end - 1) // 2, found.reverse)
    anywhere = np.linspace(0, contigs.total_bases - 1, _MOST).astype(np.int64)
    before = np.append(0, np.cumsum(contigs.lengths))
    contig = np.searchsorted(before, anywhere, "right") - 1
    there = _near(contigs, contig, anywhere - before[contig], np.arange(_MOST) % 2 == 1)
    names, has = _words(near)
    chance = (_words(there)[1].sum(axis=0) + 1) / len(there)
    shared: list[Motif] = []
    while True:
        places = has.sum(axis=0)
        few = places < np.maximum(max(FEWEST, LEAST * len(near)), TIMES * chance * len(has))
        surprise = np.where(few, 0, places * np.log(np.maximum(places, 1) / (chance * max(1, len(has)))))
        best = int(np.argmax(surprise))
        if few[best]:
            return shared
        shared.append(Motif(names[best], int(places[best])))
        has = has[~has[:, best]]


def told(found: Disagreeing, motifs: list[Motif]) -> list[str]:
    """Return one line, or none of few, about how many bases strands disagree, and near which motifs."""
    if len(found) < FEWEST:
        return []
    near = ", ".join(f"{motif.stretches:,} near {motif.bases}" for motif in motifs)
    bases = int((found.end - found.start).sum())
    return [
        f"the strands of reads disagree about {counted(bases, 'base')} in {counted(len(found), 'place')}"
        + (f", {near}: modified bases?" if near else "")
    ]


def _near(contigs: Reads, contig: np.ndarray, middle: np.ndarray, reverse: np.ndarray) -> np.ndarray:
    """Return the bases around places, on one strand or the other; where there are none, those at the end."""
    made = np.empty((len(contig), 2 * NEAR + 1), np.uint8)
    for number in np.unique(contig).tolist():
        rows, codes = np.flatnonzero(contig == number), contigs.codes(number)
        at = middle[rows, None] + np.arange(-NEAR, NEAR + 1)
        made[rows] = codes[at.clip(0, len(codes) - 1)]
    return np.where(reverse[:, None], 3 - made[:, ::-1], made) & 3


def _words(bases: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return all words that may be motifs, and which of some places have which of them."""
    names: list[str] = []
    parts: list[np.ndarray] = []
    for k in _SIZES:
        words = ["".join(letters) for letters in itertools.product("ACGT", repeat=k)]
        at = np.lib.stride_tricks.sliding_window_view(bases, k, axis=1) @ (4 ** np.arange(k - 1, -1, -1))
        has = np.zeros((len(bases), 4**k), np.bool_)
        np.put_along_axis(has, at, True, axis=1)
        has[:, [word.count(word[0]) == k for word in words]] = False
        names += words
        parts.append(has)
        if k % 2:
            for name, numbers in _palindromes(k):
                names.append(name)
                parts.append(np.asarray(has[:, numbers].any(axis=1))[:, None])
    return names, np.concatenate(parts, axis=1)


def _palindromes(k: int) -> Iterator[tuple[str, list[int]]]:
    """Yield the words of an odd length that are the same on both strands but for their middle."""
    for half in itertools.product(range(4), repeat=k // 2):
        for letter, middles in _MIDDLES.items():
            of_word = [(*half, middle, *(3 - base for base in half[::-1])) for middle in middles]
            name = "".join("ACGT"[base] for base in half)
            other = "".join("TGCA"[base] for base in half[::-1])
            yield (
                name + letter + other,
                [int(np.dot(word, 4 ** np.arange(k - 1, -1, -1))) for word in of_word],
            )
