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

from overlapper.correction.doubt import Doubt, OnContigs, Reason
from overlapper.kernels.seeds import surrounded_runs
from overlapper.kernels.seeds.surrounded_runs import ALLELE_BITS, FLANK, LENGTH_BITS, WORD_BITS
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
_BYTES_A_WORD = 40


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

    @classmethod
    def of(cls, contigs: Reads, circular: np.ndarray, reads: Reads, room: int | None, threads: int) -> Self:
        """Find them.

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
        parts = [cls.empty()]
        step = reads.total_bases // max(1, DEPTH * contigs.total_bases)
        if step > 1:
            reads = reads.take(np.arange(0, len(reads), step))
        share = contigs.total_bases if room is None else max(1, room // _BYTES_A_WORD)
        bounds = np.linspace(0, 1 << WORD_BITS, 1 - (-contigs.total_bases // max(1, share)), dtype=np.uint64)
        for low, high in itertools.pairwise(bounds.tolist()):
            parts.append(cls(*_Counted.of(contigs, circular, reads, low, high, threads).undecided()))
        found = cls.concat(parts)
        return found.take(np.lexsort((found.start, found.contig)))

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


class _Frequent(NamedTuple):
    """Of words with equal surroundings the most frequent one, of equals the smallest, and its count."""

    word: np.ndarray
    met: np.ndarray

    @classmethod
    def of(cls, words: np.ndarray, counts: np.ndarray) -> Self:
        """Find them."""
        around = words >> np.uint64(ALLELE_BITS)
        order = np.lexsort((words, -counts, around))
        first = np.append(True, around[order][1:] != around[order][:-1])[: len(words)]
        return cls(words[order][first], counts[order][first])

    def beside(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return those with the surroundings of words, and how often they are met; 0 for none."""
        around, asked = (values >> np.uint64(ALLELE_BITS) for values in (self.word, words))
        place = np.searchsorted(around, asked)
        here = place < len(around)
        here[here] = around[place[here]] == asked[here]
        found, count = np.zeros(len(words), np.int64), np.zeros(len(words), np.int64)
        found[here], count[here] = self.word[place[here]].astype(np.int64), self.met[place[here]]
        return found, count


class _Counted(NamedTuple):
    """The words of contigs in a range, and those of reads there."""

    contigs: Reads
    circular: np.ndarray
    low: int
    high: int
    words: np.ndarray
    counts: np.ndarray
    others: _Frequent
    of_contigs: _Frequent

    @classmethod
    def of(
        cls, contigs: Reads, circular: np.ndarray, reads: Reads, low: int, high: int, threads: int
    ) -> Self:
        """Count them."""
        made = [np.empty(0, np.uint64)]
        for contig in range(len(contigs)):
            _, _, word, _ = surrounded_runs.surrounded_runs(_around(contigs, circular, contig))
            made.append(word[(word >= low) & (word < high)])
        words = np.sort(np.concatenate(made))
        words = words[np.append(True, words[1:] != words[:-1])[: len(words)]]
        bits = max(0, (high - low).bit_length() - len(words).bit_length())
        shift = max(ALLELE_BITS, bits)
        buckets = (words - np.uint64(low)) >> np.uint64(shift)
        sizes = np.bincount(buckets.astype(np.int64), minlength=((high - 1 - low) >> shift) + 1)
        first = offsets_of(sizes).astype(np.int32)

        def of_block(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            unknown = np.array([UNKNOWN], np.uint8)
            codes = itertools.chain.from_iterable((reads.codes(read), unknown) for read in range(*block))
            _, _, word, _ = surrounded_runs.surrounded_runs(np.concatenate([unknown, *codes]))
            hits = np.empty(len(word), np.int64)
            other = surrounded_runs.look_up(word, words, np.uint64(low), np.uint64(shift), first, hits)
            return hits, other

        counts, others = np.zeros(len(words), np.int64), [np.empty(0, np.uint64)]
        for hits, other in map_in_order(of_block, even_ranges(reads.lengths, _BLOCK_BASES), threads):
            surrounded_runs.count(hits, counts)
            others.append(other)
        other, of_other = np.unique(np.concatenate(others), return_counts=True)
        around = words >> np.uint64(ALLELE_BITS)
        alike = np.append(around[1:] == around[:-1], False)
        several = np.flatnonzero(alike | np.append(False, alike[:-1])[: len(words)])
        of_contigs = _Frequent.of(words[several], counts[several])
        frequent = _Frequent.of(other, of_other)
        return cls(contigs, circular, low, high, words, counts, frequent, of_contigs)

    def undecided(self) -> list[np.ndarray]:
        """Return the columns of `Undecided`, of the runs with these words."""
        rows = [[np.empty(0, np.int64)] * 7]
        for contig, (bases, circle) in enumerate(zip(self.contigs.lengths, self.circular, strict=True)):
            start, end, word, turned = surrounded_runs.surrounded_runs(
                _around(self.contigs, self.circular, contig)
            )
            shift = FLANK if circle else 0
            if self.low == 0 and not circle and len(start):  # once, where words are in several ranges
                edges = np.array([[0, start[0]], [end[-1], bases]]), np.zeros((2, 4), np.int64)
                rows.append([np.full(2, contig), *np.hstack(edges).T])
            some = (word >= self.low) & (word < self.high) & (start >= shift) & (start < shift + bases)
            start, end, word, turned = (values[some] for values in (start, end, word, turned))
            reads = self.counts[np.searchsorted(self.words, word)]
            other, others = self.others.beside(word)
            most, of_most = self.of_contigs.beside(word)
            few = (reads <= FEW) & (of_most >= TIMES * reads) & (of_most > others)
            other, others = np.where(few, most, other), np.where(few, of_most, others)
            base = other >> LENGTH_BITS & 3
            rows.append([
                np.full(len(word), contig), start - shift, end - shift, reads, others,
                np.where(turned & (others > 0), 3 - base, base), other & ((1 << LENGTH_BITS) - 1),
            ])  # fmt: skip
            left = reads - others <= MARGIN
            rows[-1] = [values[left] for values in rows[-1]]
        return [np.concatenate(values) for values in zip(*rows, strict=True)]


def _around(contigs: Reads, circular: np.ndarray, contig: int) -> np.ndarray:
    """Return the bases of a contig, of a circle with those around its first base."""
    codes = contigs.codes(contig)
    return np.concatenate([codes[-FLANK:], codes, codes[: 2 * FLANK]]) if circular[contig] else codes
