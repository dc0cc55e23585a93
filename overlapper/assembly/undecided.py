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
import functools
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
)
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
_BLOCK_WORDS, _PARTS = 1 << 18, 16
_BYTES_A_WORD, _MOST_BASES = 60, 1 << 31
"""Bases of contigs whose runs are numbered by 32 bits."""
_ALLELE = np.uint64(ALLELE_BITS)


@dataclasses.dataclass(frozen=True, eq=False)
class Undecided(OnContigs):
    """Undecided runs of contigs, by place."""

    reads: np.ndarray = column("i8")
    """int64, shape (n,); how many have the run."""
    others: np.ndarray = column("i8")
    """int64, shape (n,); how many have the most frequent other one."""
    base: np.ndarray = column("u1")
    length: np.ndarray = column("i4")
    """`base`, `length`: uint8, int32, shape (n,); that one, on the strand of the contig."""

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
    share = _MOST_BASES if room is None else max(1, min(_MOST_BASES, room // _BYTES_A_WORD))
    bounds = np.linspace(0, 1 << WORD_BITS, 1 - (-bases // max(1, share)), dtype=np.uint64)
    for low, high in itertools.pairwise(bounds):
        runs = _Runs.of(contigs, circular, low, high, threads)
        if low == 0:
            parts.append(runs.ends_of_lines())
        known = runs.known(low, high, threads)
        met, others = _counted(known, reads, counted, threads)
        buckets = np.searchsorted(known.first, np.arange(0, len(known.order), _BLOCK_WORDS))
        rows = np.unique([*known.first[buckets].tolist(), len(known.order)]).tolist()
        judged = functools.partial(_undecided, runs, known, met, *np.unique(others, return_counts=True))
        parts.extend(map_in_order(judged, itertools.pairwise(rows), threads))
        having.add(runs.first, runs.start, runs.end, met, threads)
    found = Undecided.concat(parts)
    return found.take(np.lexsort((found.start, found.contig))), having.disagreeing(threads)


class _Frequent(NamedTuple):
    """Of words with equal surroundings the most frequent one, of equals the smallest."""

    word: np.ndarray
    """uint64; ascending."""
    met: np.ndarray
    """int64, shape (n,)."""

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

    first: np.ndarray
    """int64, shape (contigs + 1,); where the runs of each contig begin."""
    edges: np.ndarray
    """int64, shape (contigs, 2); of lines, where the first run of any word starts and the last one ends; -1
    where there is none."""
    lengths: np.ndarray
    start: np.ndarray
    end: np.ndarray
    """`start`, `end`: int32, shape (n,)."""
    word: np.ndarray
    """uint64, shape (n,)."""
    turned: np.ndarray
    """uint8, shape (n,)."""

    @classmethod
    def of(cls, contigs: Reads, circular: np.ndarray, low: np.uint64, high: np.uint64, threads: int) -> Self:
        """Find them."""

        def of_contig(contig: int) -> tuple[np.ndarray, ...]:
            codes, bases = contigs.codes(contig), int(contigs.lengths[contig])
            shift = FLANK if circular[contig] else 0
            if shift:
                codes = np.concatenate([codes[-FLANK:], codes, codes[: 2 * FLANK]])
            start, end, word, turned, edges = surrounded_runs.surrounded_runs(codes, low, high)
            some = slice(*np.searchsorted(start, [shift, shift + bases]))
            edges = edges if edges[1] and not shift else np.full(2, -1)
            start, end = ((at[some] - shift).astype(np.int32) for at in (start, end))
            return edges, start, end, word[some].copy(), turned[some].copy()

        edges, *columns = zip(*map_in_order(of_contig, range(len(contigs)), threads), strict=True)
        first = offsets_of(np.array([len(start) for start in columns[0]]))
        return cls(first, np.array(edges), contigs.lengths, *map(np.concatenate, columns))

    def ends_of_lines(self) -> Undecided:
        """Return the ends of linear contigs that have no surroundings."""
        line = np.flatnonzero(self.edges[:, 1] >= 0)
        start = np.stack([np.zeros(len(line), np.int64), self.edges[line, 1]], axis=1).ravel()
        end = np.stack([self.edges[line, 0], self.lengths[line]], axis=1).ravel()
        return Undecided(np.repeat(line, 2), start, end, *np.zeros((4, len(start)), np.int64))

    def known(self, low: np.uint64, high: np.uint64, threads: int) -> Known:
        """Return their words, sorted to be looked up."""
        shift = max(ALLELE_BITS, int(high - low).bit_length() - len(self.word).bit_length())
        buckets = (int(high - low) - 1 >> shift) + 1

        def of_part(part: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            bounds = (np.uint64(bucket << shift) + low for bucket in part)
            place = surrounded_runs.places_between(self.word, *bounds)
            words = self.word[place]
            order = np.argsort(words)
            bucket = ((words[order] - low) >> np.uint64(shift)).astype(np.int64) - part[0]
            return place[order], np.bincount(bucket, minlength=part[1] - part[0])

        parts = itertools.pairwise(np.linspace(0, buckets, min(buckets, _PARTS) + 1, dtype=np.int64).tolist())
        order, sizes = zip(*map_in_order(of_part, parts, threads), strict=True)
        first = offsets_of(np.concatenate(sizes)).astype(np.int32)
        return Known(self.word, self.turned, np.concatenate(order), first, low, high, np.uint64(shift))


def _counted(known: Known, reads: Reads, counted: np.ndarray, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many of some reads have each run, by strand (shape (2, n)), and the other words."""

    def of_block(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        unknown = np.array([UNKNOWN], np.uint8)
        codes = itertools.chain.from_iterable((reads.codes(read), unknown) for read in counted[slice(*block)])
        runs = surrounded_runs.surrounded_runs(np.concatenate([unknown, *codes]), known.low, known.high)
        return surrounded_runs.look_up(*runs[2:4], known)

    met, others = np.zeros((2, len(known.word) + 1), np.int32), [np.empty(0, np.uint64)]
    for stretches, other in map_in_order(
        of_block, even_ranges(reads.lengths[counted], _BLOCK_BASES), threads
    ):
        surrounded_runs.count(stretches, met)
        others.append(other)
    np.cumsum(met, axis=1, out=met)
    return met[:, :-1], np.concatenate(others)


def _undecided(
    runs: _Runs,
    known: Known,
    met: np.ndarray,
    other: np.ndarray,
    times: np.ndarray,
    rows: tuple[int, int],
) -> Undecided:
    """Return the undecided ones of some runs by word, and leave what is met of runs that have a strand.

    Parameters
    ----------
    runs : _Runs
    known : Known
    met : ndarray of int32, shape (2, n)
        By strand of the contig. Out: 0 where contigs have the word several times, or the surroundings are the
        same on both strands.
    other, times : ndarray of uint64, ndarray of int64
        Words that no contig has, ascending, and how often they are met.
    rows : (int, int)
        Which of the runs by word, half open: all that have the surroundings of one of them.
    """
    place = known.order[slice(*rows)]
    words = known.word[place]
    begin = np.flatnonzero(np.append(True, words[1:] != words[:-1]))
    copies = np.diff(begin, append=len(words))
    row, table = np.repeat(np.arange(len(begin)), copies), words[begin]
    reads = np.add.reduceat(met[:, place].sum(axis=0, dtype=np.int64), begin)
    met[:, place[(known.turned[place] & BOTH > 0) | (copies[row] > 1)]] = 0
    around = table >> _ALLELE
    alike = np.append(around[1:] == around[:-1], False)
    several = np.flatnonzero(alike | np.append(False, alike[:-1]))
    most, at_most = _Frequent.of(table[several], reads[several]).beside(table)
    beside = slice(*np.searchsorted(other >> _ALLELE, [around[0], around[-1] + np.uint64(1)]))
    other, others = _Frequent.of(other[beside], times[beside]).beside(table)
    few = (reads <= FEW) & (at_most >= TIMES * reads) & (at_most > others)
    other, others = np.where(few, most, other), np.where(few, at_most, others)
    left = np.flatnonzero((reads - others <= MARGIN)[row])
    reads, other, others = (of[row[left]] for of in (reads, other, others))
    place = place[left]
    base = other >> LENGTH_BITS & 3
    base = np.where((known.turned[place] & TURNED > 0) & (others > 0), 3 - base, base)
    contig = np.searchsorted(runs.first, place, "right") - 1
    length = other & ((1 << LENGTH_BITS) - 1)
    return Undecided(contig, runs.start[place], runs.end[place], reads, others, base, length)
