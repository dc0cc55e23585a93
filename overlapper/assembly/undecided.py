"""Runs of equal bases of contigs that hardly more reads have than have something else in their place.

Contigs of exact overlaps have what corrected reads agree on, and these may agree in an error. So what the
reads as given have is counted. A *run* is a stretch of equal bases, a single one too, as long as it can be;
its *surroundings* are the `FLANK` bases on either side of it. A read has a run of a contig where it has the
same one between the same surroundings, on either strand; it has *another one* where another base or length is
between them, and no contig has that between the same surroundings, as other haplotypes and copies may.

A run is *undecided* where at most one read more has it than has the most frequent other one. So it is where
`FEW` reads or fewer have it, and `TIMES` as many what another contig has there: a haplotype would have more,
and these may err alike. So are the first and last bases of linear contigs, which have no surroundings. Of
reads that are deeper than `DEPTH` on average every second, third ... counts, in canonical order.

Runs are told apart by words of surroundings, base and length; as many as there is room for are counted at a
time (``overlapper/kernels/seeds/surrounded_runs.py``; oracle ``tests/oracle/undecided.py``).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from overlapper.assembly.disagreeing import Disagreeing, Having
from overlapper.correction.doubt import Doubt, OnContigs, Reason
from overlapper.kernels.seeds import surrounded_runs
from overlapper.kernels.seeds.surrounded_runs import (
    ALLELE_BITS,
    BOTH,
    FLANK,
    LENGTH_BITS,
    TURNED,
    WORD_BITS,
    Known,
)  # fmt: skip
from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.tables import Reads
from overlapper.tables.base import column
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import UNKNOWN

MARGIN = 1
"""How many reads more than have another run leave it undecided at most. Fitted on a part
each of E. coli, *P. falciparum* and human X (R10 and HiFi), judged on others and on real reads
(``docs/notes/qualities.md``)."""
FEW, TIMES = 3, 2
"""Fitted on two haplotypes of human X (R10 and HiFi, 6x and 12x each), judged on another part of it."""
DEPTH = 30
"""Reads on a base that are enough. Chosen."""
_BLOCK_BASES = 1 << 18
_BYTES_A_WORD = 100
_ALLELE = np.uint64(ALLELE_BITS)


@dataclasses.dataclass(frozen=True, eq=False)
class Undecided(OnContigs):
    """Undecided runs of contigs, by place.

    Attributes
    ----------
    reads : ndarray of int64, shape (n,)
        How many have the run.
    others : ndarray of int64, shape (n,)
        How many have the most frequent other one.
    base, length : ndarray of uint8, int32, shape (n,)
        That one, on the strand of the contig.
    """

    reads: np.ndarray = column("i8")
    others: np.ndarray = column("i8")
    base: np.ndarray = column("u1")
    length: np.ndarray = column("i4")

    def doubt(self) -> Doubt:
        """Return stretches of undecided runs; the figure is how many reads have the run that fewest have."""
        if not len(self):
            return Doubt.empty()
        behind = (self.contig[1:] != self.contig[:-1]) | (self.start[1:] != self.end[:-1])
        first = np.append(0, np.flatnonzero(behind) + 1)
        last = np.append(first[1:], len(self)) - 1
        fewest = np.minimum.reduceat(self.reads, first)
        reason = np.full(len(first), Reason.UNDECIDED)
        return Doubt(self.contig[first], self.start[first], self.end[last], reason, fewest)

    def vcf(self, contigs: Reads) -> Iterator[str]:
        """Yield the lines of a VCF file of the runs that reads have something else in place of."""
        yield "##fileformat=VCFv4.3"
        yield '##INFO=<ID=AD,Number=R,Type=Integer,Description="Reads that have it between the same bases">'
        for name, length in zip(contigs.names, contigs.lengths, strict=True):
            yield f"##contig=<ID={name},length={length}>"
        yield "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
        inside = (self.start > 0) & (
            self.end <= contigs.lengths[self.contig]
        )  # not across the end of a circle
        for row in np.flatnonzero(inside & (self.others > 0)).tolist():
            bases, start = contigs.sequence(int(self.contig[row])), int(self.start[row])
            here = bases[start : self.end[row]]
            there = "ACGT"[self.base[row]] * int(self.length[row])
            if len(here) != len(there):  # with the base before, as VCF asks for
                start -= 1
                here, there = bases[start] + here, bases[start] + there
            place = f"{contigs.names[self.contig[row]]}\t{start + 1}\t."
            yield f"{place}\t{here}\t{there}\t.\t.\tAD={self.reads[row]},{self.others[row]}"


def find_in_doubt(
    contigs: Reads, circular: np.ndarray, reads: Reads, room: int | None, threads: int
) -> tuple[Undecided, Disagreeing]:
    """Find undecided runs, and bases about which strands disagree.

    Parameters
    ----------
    contigs : Reads
    circular : ndarray of bool
    reads : Reads
        As they were given.
    room : int or None
        Bytes of memory that may be used besides reads and contigs; None for no limit.
    threads : int
        Changes nothing but the time.
    """
    parts, bases, having = [Undecided.empty()], contigs.total_bases, Having(contigs.lengths)
    counted = np.arange(0, len(reads), max(1, reads.total_bases // max(1, DEPTH * bases)))
    share = bases if room is None else max(1, room // _BYTES_A_WORD)
    bounds = np.linspace(0, 1 << WORD_BITS, 1 - (-bases // max(1, share)), dtype=np.uint64)
    for low, high in itertools.pairwise(bounds):
        runs, ends = _Runs.of(contigs, circular, low, high)
        if low == 0:
            parts.append(Undecided(*ends.T, *np.zeros((4, len(ends)))))
        known, row = runs.known(low, high)
        met, of_contigs, others = _counted(known, row, reads, counted, low, high, threads)
        parts.append(_undecided(runs, row, known.table, met.sum(axis=1), of_contigs, others))
        met = met[row]
        met = np.where(runs.turned[:, None] & TURNED, met[:, ::-1], met)
        met[(runs.turned & BOTH > 0) | (np.bincount(row)[row] > 1)] = 0  # of either strand, or of copies
        having.add(runs.contig, runs.start, runs.end, met)
    found = Undecided.concat(parts)
    return found.take(np.lexsort((found.start, found.contig))), having.disagreeing()


class _Frequent(NamedTuple):
    """Of words with equal surroundings the most frequent one, of equals the smallest.

    Attributes
    ----------
    word : ndarray of uint64
        Ascending.
    met : ndarray of int64, shape (n,)
    """

    word: np.ndarray
    met: np.ndarray

    @classmethod
    def of(cls, words: np.ndarray, met: np.ndarray) -> Self:
        """Find them among different words, which ascend."""
        around = words >> _ALLELE
        first = np.flatnonzero(np.append(True, around[1:] != around[:-1])[: len(words)])
        if not len(words):
            return cls(words, met)
        sizes = np.diff(np.append(first, len(words)))
        most = np.flatnonzero(met == np.repeat(np.maximum.reduceat(met, first), sizes))
        most = most[np.append(True, np.diff(around[most]) > 0)]
        return cls(words[most], met[most])

    def beside(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return those with the surroundings of words, and how often they are met; 0 for none."""
        around, asked = (values >> _ALLELE for values in (self.word, words))
        place = np.searchsorted(around, asked)
        here = np.flatnonzero(place < len(around))
        here = here[around[place[here]] == asked[here]]
        found, met = np.zeros((2, len(words)), np.int64)
        found[here], met[here] = self.word[place[here]], self.met[place[here]]
        return found, met


class _Runs(NamedTuple):
    """Runs of contigs whose words are in a range, by place."""

    contig: np.ndarray
    start: np.ndarray
    end: np.ndarray
    word: np.ndarray
    turned: np.ndarray

    @classmethod
    def of(
        cls, contigs: Reads, circular: np.ndarray, low: np.uint64, high: np.uint64
    ) -> tuple[Self, np.ndarray]:
        """Find them, and the ends of linear contigs that have no surroundings: contig, start, end."""
        made = [(*[np.empty(0, np.int64)] * 3, np.empty(0, np.uint64), np.empty(0, np.uint8))]
        ends = [np.empty((0, 3), np.int64)]
        for contig, (bases, circle) in enumerate(zip(contigs.lengths.tolist(), circular, strict=True)):
            codes, shift = contigs.codes(contig), FLANK if circle else 0
            if circle:
                codes = np.concatenate([codes[-FLANK:], codes, codes[: 2 * FLANK]])
            start, end, word, turned, edges = surrounded_runs.surrounded_runs(codes, low, high)
            if not circle and edges[1]:
                ends.append(np.array([[contig, 0, edges[0]], [contig, edges[1], bases]]))
            some = slice(*np.searchsorted(start, [shift, shift + bases]))
            start, end = start[some] - shift, end[some] - shift
            made.append((np.full(len(start), contig), start, end, word[some], turned[some]))
        return cls(*(np.concatenate(values) for values in zip(*made, strict=True))), np.concatenate(ends)

    def known(self, low: np.uint64, high: np.uint64) -> tuple[Known, np.ndarray]:
        """Return their words, sorted to be looked up, and which of these each run has."""
        table, place, row = np.unique(self.word, return_index=True, return_inverse=True)
        shift = max(ALLELE_BITS, int(high - low).bit_length() - len(table).bit_length())
        buckets = ((table - low) >> np.uint64(shift)).astype(np.int64)
        first = offsets_of(np.bincount(buckets, minlength=(int(high - low) - 1 >> shift) + 1))
        known = Known(
            self.word, self.turned, table, place.astype(np.int32), first.astype(np.int32), low,
            np.uint64(shift),
        )  # fmt: skip
        return known, row


def _counted(
    known: Known,
    row: np.ndarray,
    reads: Reads,
    counted: np.ndarray,
    low: np.uint64,
    high: np.uint64,
    threads: int,
) -> tuple[np.ndarray, _Frequent, _Frequent]:
    """Count words of some reads: those of contigs by strand, the most frequent of them, and others."""

    def of_block(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        unknown = np.array([UNKNOWN], np.uint8)
        codes = itertools.chain.from_iterable((reads.codes(read), unknown) for read in counted[slice(*block)])
        _, _, word, turned, _ = surrounded_runs.surrounded_runs(np.concatenate([unknown, *codes]), low, high)
        turned[turned & BOTH > 0] = 0
        hits = np.empty(len(word), np.int64)
        return hits, surrounded_runs.look_up(word, turned, known, hits)

    at_place, others = np.zeros((len(known.word), 2), np.int32), [np.empty(0, np.uint64)]
    for hits, other in map_in_order(of_block, even_ranges(reads.lengths[counted], _BLOCK_BASES), threads):
        surrounded_runs.count(hits, at_place)
        others.append(other)
    met = np.stack([np.bincount(row, of_strand, len(known.table)) for of_strand in at_place.T], axis=1)
    met = met.astype(np.int64)
    around = known.table >> _ALLELE
    alike = np.append(around[1:] == around[:-1], False)
    several = np.flatnonzero(alike | np.append(False, alike[:-1])[: len(around)])
    of_contigs = _Frequent.of(known.table[several], met[several].sum(axis=1))
    return met, of_contigs, _Frequent.of(*np.unique(np.concatenate(others), return_counts=True))


def _undecided(
    runs: _Runs,
    row: np.ndarray,
    table: np.ndarray,
    reads: np.ndarray,
    of_contigs: _Frequent,
    of_others: _Frequent,
) -> Undecided:
    """Return the runs that are undecided; ``reads`` is how many have each word of the table."""
    other, others = of_others.beside(table)
    most, at_most = of_contigs.beside(table)
    few = (reads <= FEW) & (at_most >= TIMES * reads) & (at_most > others)
    other, others = np.where(few, most, other), np.where(few, at_most, others)
    left = np.flatnonzero((reads - others <= MARGIN)[row])
    reads, other, others = (of[row[left]] for of in (reads, other, others))
    base = other >> LENGTH_BITS & 3
    base = np.where((runs.turned[left] & TURNED > 0) & (others > 0), 3 - base, base)
    length = other & ((1 << LENGTH_BITS) - 1)
    return Undecided(runs.contig[left], runs.start[left], runs.end[left], reads, others, base, length)
