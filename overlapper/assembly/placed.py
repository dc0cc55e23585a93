"""The places of reads on finished contigs, from the layout, and their alignments there.

The layout says which contig a read belongs to, on which strand, and where it begins. What is done to contigs
afterwards moves places: polishing changes lengths (places are scaled), ends are cut off, circles are turned.
So a place is known to some bases, or some hundred in contigs of noisy reads.

Reads as they were given are aligned there: of the chains of a read on the contigs (`overlapper.mapping`)
those count that are on its contig and strand, and of these those nearest to its place. Copies of a repeat and
other haplotypes thus do not take part. Reads that were set aside have no place in the layout: all their
chains count, the best one first, and mapping quality says how sure it is. A circular contig is there twice in
a row, so that reads go on across its first base; they are cut there in two, of which the shorter one is
supplementary.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Self

import numpy as np

from overlapper.assembly.beginnings import Beginnings
from overlapper.assembly.haplotypes import Phased
from overlapper.assembly.laid_out import Contigs
from overlapper.correction.doubt import turned_starts
from overlapper.correction.own_reads import OwnReads
from overlapper.io.mappings import MappingOptions, open_mappings
from overlapper.io.read_store import AsGiven, ReadStore
from overlapper.io.tags import with_tags
from overlapper.kernels.common import cigars
from overlapper.mapping.chains import Chains
from overlapper.mapping.mapper import BLOCK_BASES, BatchMapper
from overlapper.params.mapping import ChoiceParams, MapParams
from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.tables import MappingKind, Mappings, Reads
from overlapper.tables.base import Table, column
from overlapper.tables.cigars import DELETION, INSERTION
from overlapper.tables.ragged import places_within

NO_BLOCK = 0
"""Phase block of reads of no haplotype."""


@dataclasses.dataclass(frozen=True, eq=False)
class PlacedReads(Table):
    """Reads and the contigs that they belong to, by contig and place."""

    contig: np.ndarray = column("i4")
    read: np.ndarray = column("i4")
    """`contig`, `read`: int32, shape (n,); reads by their number in the input; each is there once."""
    start: np.ndarray = column("i8")
    """int64, shape (n,); about where the part that was laid out begins; on a circle it may end behind the
    last base."""
    reverse: np.ndarray = column("?")
    """bool, shape (n,)."""
    r_start: np.ndarray = column("i4")
    r_end: np.ndarray = column("i4")
    """`r_start`, `r_end`: int32, shape (n,); about which part that is, half open, on the read's forward
    strand."""
    read_length: np.ndarray = column("i8")
    """int64, shape (n,); of the read as it was given."""
    haplotype: np.ndarray = column("u1")
    """uint8, shape (n,); 1 or 2; 0 for none."""
    block: np.ndarray = column("i4")
    """int32, shape (n,); phase block; `NO_BLOCK` for none."""

    @classmethod
    def of(cls, own: OwnReads, read: np.ndarray, lengths: np.ndarray) -> Self:
        """Return the places of a layout, of a read that is there several times the longest one.

        Parameters
        ----------
        own : OwnReads
        read, lengths : ndarray of int64, shape (n,)
            Number in the input, and bases as given, of each of them.
        """
        r_start, r_end = (at.astype(np.int64) * lengths // own.read_length for at in (own.r_start, own.r_end))
        none = np.zeros(len(own), np.int64)
        made = cls(own.unitig, read, own.start, own.reverse, r_start, r_end, lengths, none, none)
        best = np.lexsort((made.start, made.contig, r_start - r_end, read))
        made = made.take(best[np.unique(read[best], return_index=True)[1]])
        return made.take(np.lexsort((made.read, made.start, made.contig)))

    @classmethod
    def of_mappings(cls, mappings: Mappings, lengths: np.ndarray) -> Self:
        """Return the places of mapped reads, given the lengths of reads."""
        none = np.zeros(len(mappings), np.int64)
        return cls(
            mappings.target, mappings.query, mappings.t_start, mappings.reverse,
            mappings.q_start, mappings.q_end, lengths[mappings.query], none, none,
        )  # fmt: skip

    def moved(
        self, before: np.ndarray, after: np.ndarray, cut: np.ndarray, beginnings: Beginnings | None
    ) -> Self:
        """Return the places on contigs that were polished, cut and turned.

        Parameters
        ----------
        before, after : ndarray of int64, shape (contigs,)
            Bases of contigs in the layout, and polished.
        cut : ndarray of int64, shape (contigs, 2)
            Bases that were then cut off both ends.
        beginnings : Beginnings or None
        """
        contig = self.contig
        start = self.start * after[contig] // np.maximum(before[contig], 1) - cut[contig, 0]
        if beginnings is None:
            return dataclasses.replace(self, start=start)
        lengths = np.maximum(after - cut.sum(axis=1), 1)
        start = turned_starts(contig, start, start + self.r_end - self.r_start, *beginnings, lengths)
        return dataclasses.replace(self, start=start, reverse=self.reverse ^ beginnings.reverse[contig])

    def phased(self, phased: Phased) -> Self:
        """Return the reads with the haplotype and the block of the piece that most of each lies on."""
        pieces = phased.pieces
        order = np.lexsort((pieces.start, pieces.contig))
        key = pieces.contig[order].astype(np.int64) << 32
        here, end = self.contig.astype(np.int64) << 32, self.start + self.r_end - self.r_start
        first = np.searchsorted(key + pieces.end[order], here + self.start.clip(0), "right")
        each = np.maximum(np.searchsorted(key + pieces.start[order], here + end.clip(0), "left") - first, 0)
        row = np.repeat(np.arange(len(self)), each)
        piece = order[first[row] + places_within(each)]
        shared = np.minimum(end[row], pieces.end[piece]) - np.maximum(self.start[row], pieces.start[piece])
        some = np.flatnonzero((phased.block[piece] > 0) & (shared > 0))
        some = some[np.lexsort((piece[some], -shared[some], row[some]))]
        rows, most = np.unique(row[some], return_index=True)
        haplotype, block = self.haplotype.copy(), self.block.copy()
        haplotype[rows] = phased.haplotype[piece[some[most]]]
        block[rows] = phased.block[piece[some[most]]]
        return dataclasses.replace(self, haplotype=haplotype, block=block)


class ContigMapper:
    """Aligns reads at their places on contigs.

    Parameters
    ----------
    contigs : Contigs
    placed : PlacedReads
    threads : int
        Changes nothing but the time.
    aside : ndarray of int64
        Numbers in the input of reads that go where they align best.

    Attributes
    ----------
    sequences : Reads
        Of the contigs.
    placed : PlacedReads
        By number in the input.
    """

    def __init__(self, contigs: Contigs, placed: PlacedReads, threads: int, aside: np.ndarray) -> None:
        self.sequences, self.threads = contigs.sequences, threads
        self._lengths, self._circular, self._aside = contigs.sequences.lengths, contigs.circular, aside
        self.placed = placed.take(np.argsort(placed.read, kind="stable"))
        twice = (
            contigs.sequences.sequence(contig) * (1 + int(contigs.circular[contig]))
            for contig in range(len(contigs))
        )
        params = dataclasses.replace(MapParams(), choice=ChoiceParams(most_secondary=0))
        reference = Reads.from_sequences(contigs.sequences.names, twice)
        self._mapper = BatchMapper.prepare(reference, params, threads)

    def aligned(self, store: ReadStore) -> Iterator[tuple[np.ndarray, Reads, Mappings]]:
        """Yield all reads of a store, some at a time, in the order of the input.

        Yields
        ------
        numbers : ndarray of int64
            Of the reads in the input.
        reads : Reads
        mappings : Mappings
            Of those that have a place, as far as they could be aligned there.
        """
        given = AsGiven(store)

        def one(block: tuple[int, int]) -> tuple[np.ndarray, Reads, Mappings]:
            numbers = np.arange(*block)
            reads = given.take(numbers)
            found = self._mapper.aligned(reads, lambda chains: self._once(self._near(chains, numbers)))
            return numbers, reads, self._at_origins(found)

        return map_in_order(one, even_ranges(given.names.lengths, BLOCK_BASES), self.threads)

    def _near(self, chains: Chains, numbers: np.ndarray) -> Chains:
        """Return the chains of reads that are nearest to their places, and all of reads set aside."""
        placed = self.placed
        if not len(placed) or not len(chains):
            return Chains.empty()
        row = np.searchsorted(placed.read, numbers[chains.read]).clip(0, len(placed) - 1)
        contig = placed.contig[row]
        fits = (placed.read[row] == numbers[chains.read]) & (contig == chains.target)
        fits &= placed.reverse[row] == chains.reverse
        aside = np.isin(numbers, self._aside)[chains.read]
        fits = (fits | aside) & (chains.t_start < self._lengths[chains.target])
        before = np.where(placed.reverse, placed.read_length - placed.r_end, placed.r_start)
        start = (placed.start - before)[row]
        end, length = start + placed.read_length[row], self._lengths[contig]
        apart = np.full(len(chains), np.iinfo(np.int64).max)
        for turn in (-1, 0, 1):
            moved = turn * np.where(self._circular[contig], length, 0)
            gap = np.maximum(start + moved - chains.t_end, chains.t_start - end - moved).clip(0)
            apart = np.where(aside, 0, np.minimum(apart, gap))
        least = np.full(len(numbers), np.iinfo(np.int64).max)
        np.minimum.at(least, chains.read[fits], apart[fits])
        return chains.take(np.flatnonzero(fits & (apart == least[chains.read])))

    def _once(self, chains: Chains) -> Chains:
        """Return chains without those that are, a turn later, within the best one across a first base."""
        length = self._lengths[chains.target]
        key = (chains.read * len(self._lengths) + chains.target) * 2 + chains.reverse
        across = np.flatnonzero(chains.t_end > length)
        across = across[np.lexsort((-chains.score[across], key[across]))]
        keys, first = np.unique(key[across], return_index=True)
        if not len(keys):
            return chains
        at = np.searchsorted(keys, key).clip(0, len(keys) - 1)
        best = across[first[at]]
        again = (keys[at] == key) & (chains.t_start + length >= chains.t_start[best])
        again &= chains.t_end + length <= chains.t_end[best]
        again &= (chains.q_start >= chains.q_start[best]) & (chains.q_end <= chains.q_end[best])
        return chains.take(np.flatnonzero(~again))

    def _at_origins(self, found: Mappings) -> Mappings:
        """Return mappings on contigs that are there once, cut at the first bases of circles."""
        length = self._lengths[found.target]
        across = np.flatnonzero((found.t_start < length) & (found.t_end > length))
        if not len(across):
            return found
        parts = [
            _cut(found.take(across[i : i + 1]), int(length[row])) for i, row in enumerate(across.tolist())
        ]
        others = np.setdiff1d(np.arange(len(found)), across)
        joined = Mappings.concat([found.take(others), *(part for both in parts for part in both)])
        kind = joined.kind.copy()
        order = np.lexsort((-joined.score, kind, joined.query))
        kind[order] = np.where(
            np.diff(joined.query[order], prepend=-1) != 0, MappingKind.PRIMARY, MappingKind.SUPPLEMENTARY
        )
        return dataclasses.replace(joined, kind=kind).take(order)


def _cut(one: Mappings, at: int) -> Iterator[Mappings]:
    """Yield the two parts of a mapping before and behind a base of its target, if they are not empty."""
    kinds, sizes = one.cigar & 15, (one.cigar >> 4).astype(np.int64)
    on_target = np.where(kinds == INSERTION, 0, sizes)
    before = (one.t_start[0] + np.cumsum(on_target) - on_target).clip(None, at)
    left = np.where(kinds == INSERTION, np.where(before < at, sizes, 0), np.minimum(sizes, at - before))
    way, scoring = -1 if one.reverse[0] else 1, MapParams().scoring
    q, t = int(one.q_end[0] if way < 0 else one.q_start[0]), int(one.t_start[0])
    for some, origin in ((left, 0), (sizes - left, at)):
        q_bases, t_bases = (int(some[kinds != gap].sum()) for gap in (DELETION, INSERTION))
        runs = (some.astype(np.uint32) << 4 | kinds)[some > 0]
        runs, offsets, off, behind = cigars.trim_gaps(runs, np.array([0, len(runs)], np.int64))
        ends = np.sort([q + way * off[0, 0], q + way * (q_bases - behind[0, 0])])
        if len(runs):
            sums = cigars.summarise(
                runs, offsets, scoring.match, scoring.mismatch, scoring.gap_open, scoring.gap_extend
            )
            yield dataclasses.replace(
                one, q_start=ends[:1], q_end=ends[1:], t_start=t + off[:, 1] - origin,
                t_end=t + t_bases - behind[:, 1] - origin, matches=sums[:, cigars.MATCHES],
                block_length=sums[:, cigars.COLUMNS], gaps=sums[:, cigars.GAPS],
                score=sums[:, cigars.SCORE], cigar=runs, cigar_offsets=offsets,
            )  # fmt: skip
        q, t = q + way * q_bases, t + t_bases


def write_reads(
    path: str, mapper: ContigMapper, phased: Phased | None, store: ReadStore, options: MappingOptions
) -> dict[str, int]:
    """Write all reads as BAM, aligned at their places, with haplotypes (HP) and phase blocks (PS) as tags.

    Parameters
    ----------
    path : str
    mapper : ContigMapper
    phased : Phased or None
        Haplotypes of the contigs, for reads that were set aside.
    store : ReadStore
        The reads as they were given.
    options : MappingOptions

    Returns
    -------
    dict of str to int
        Reads with a place, those of them that could not be aligned there, and of reads that were set aside
        those that were aligned.
    """
    placed, aligned = mapper.placed, np.zeros(2, np.int64)
    row_of = np.full(len(store), -1, np.int64)
    row_of[placed.read] = np.arange(len(placed))
    with open_mappings(path, mapper.sequences, options, threads=mapper.threads) as writer:
        for numbers, reads, mappings in mapper.aligned(store):
            rows = row_of[numbers]
            primary = mappings.take(np.flatnonzero(mappings.kind == MappingKind.PRIMARY))
            aside = primary.take(np.flatnonzero(rows[primary.query] < 0))
            here = placed.take(rows[rows >= 0])
            here = dataclasses.replace(here, read=np.flatnonzero(rows >= 0))
            if len(aside):
                found = PlacedReads.of_mappings(aside, reads.lengths)
                here = PlacedReads.concat([here, found.phased(phased) if phased else found])
            aligned += len(primary) - len(aside), len(aside)
            writer.write(_with_haplotypes(reads, here), mappings)
    counts = {"reads of contigs": len(placed), "reads of contigs not aligned": len(placed) - int(aligned[0])}
    return counts | ({"reads set aside, aligned to contigs": int(aligned[1])} if aligned[1] else {})


def _with_haplotypes(reads: Reads, placed: PlacedReads) -> Reads:
    """Return reads with tags that say of which haplotype and block those are that have a place."""
    block, haplotype = np.zeros((2, len(reads)), np.int64)
    block[placed.read], haplotype[placed.read] = placed.block, placed.haplotype

    def tags_of(read: int) -> bytes:
        tags = reads.tags_of(read)
        if block[read] == NO_BLOCK:
            return tags
        phased = b"HP:i:%d\tPS:i:%d" % (haplotype[read], block[read])
        return b"\t".join([tags, phased]) if tags else phased

    return with_tags(reads, tags_of)
