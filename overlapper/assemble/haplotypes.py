"""Phasing of pieces of contigs: which haplotype each is of (``docs/algorithms/haplotypes.md``).

::

    contigs ── k-mers that occur once ──┐
          └─── their reads, depth ──────┴──► pieces ──┬──► blocks, haplotype 1 and 2 in each
          └─── k-mers that occur again ──► opposite ──┘
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Self

import numpy as np

from overlapper.assemble.pieces import BIN, K, Pieces, ReadIntervals, cut_contig
from overlapper.correct.own_reads import OwnReads
from overlapper.kernels.seeds import kmer_columns
from overlapper.sketch.counting import KmerCounts, count_kmers
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of, places_within

MOST_KMERS = 1 << 25
"""Most k-mers of contigs that are compared: of larger assemblies, those of the smallest hashes."""
COUNTING, BYTES_A_KMER = 128 << 20, 64
"""Bytes of memory while k-mers are counted; bytes of each k-mer afterwards."""
MOST_TIMES = 3
"""Most occurrences in contigs of a k-mer that two pieces share: the last reads of a shared stretch are the
first ones of either haplotype."""
LEAST_OF_BIN = 0.1
"""Least share of the k-mers of a bin that opposite pieces share: haplotypes may differ in one base of 14."""
LEAST_SAME, ENOUGH = 10, 50
"""Least bins that opposite pieces have in common: half of those of the shorter piece; at least 10, more than
a repeat has, and at most 50, as many as ends of contigs of two reads' length that run into a shared stretch
have."""


@dataclasses.dataclass(frozen=True)
class Phased:
    """Pieces of contigs, and the haplotype of each.

    Attributes
    ----------
    pieces : Pieces
    block : ndarray of int32, shape (n,)
        Phase block, from 1, that of most bases first; 0 for shared pieces.
    haplotype : ndarray of uint8, shape (n,)
        1 or 2; 0 for shared pieces. Of different blocks it says nothing.
    opposite : list of (int, int, int)
        Two pieces of the same place, and how many bases they have in common.
    beside_shared : list of (int, int, int)
        A shared piece, one of a haplotype, and how many bases they have in common.
    """

    pieces: Pieces
    block: np.ndarray
    haplotype: np.ndarray
    opposite: list[tuple[int, int, int]]
    beside_shared: list[tuple[int, int, int]]

    @property
    def of_two(self) -> bool:
        """Whether reads are of two haplotypes, not of two species or strains.

        At least half of the phased bases are in blocks of both haplotypes, and opposite pieces have more in
        common than those of one haplotype with shared ones, which are deep as the frequent strain's are.
        """
        of_one, of_other = (np.unique(self.block[self.haplotype == haplotype]) for haplotype in (1, 2))
        phased = self.block > 0
        in_both = phased & np.isin(self.block, np.intersect1d(of_one, of_other))
        lengths = self.pieces.lengths
        of_both = bool(0 < lengths[phased].sum() <= 2 * lengths[in_both].sum())
        beside, opposite = (sum(bases for _, _, bases in of) for of in (self.beside_shared, self.opposite))
        return of_both and beside <= opposite

    def is_there_already(self, haplotype: int) -> np.ndarray:
        """Return a mask of the shared pieces that pieces of a haplotype have, too, but for two bins."""
        bases = np.zeros(len(self.pieces), np.int64)
        for shared, piece, common in self.beside_shared:
            bases[shared] += common * (self.haplotype[piece] == haplotype)
        return (bases > 0) & (bases >= self.pieces.lengths - 2 * BIN)


def phase(contigs: Reads, circular: np.ndarray, own: OwnReads, depth: float, *, threads: int = 1) -> Phased:
    """Tell the haplotypes of contigs apart.

    Parameters
    ----------
    contigs : Reads
    circular : ndarray of bool, shape (contigs,)
    own : OwnReads
        Where their reads lie.
    depth : float
        Reads that cover a base of one haplotype.
    threads : int
        Changes nothing but the time.
    """
    sampled = min(1.0, MOST_KMERS / max(1, contigs.total_bases))
    counted = count_kmers(
        contigs, K, lower=1, upper=MOST_TIMES, sampled=sampled, threads=threads, memory=COUNTING
    )
    on = ReadIntervals(own, contigs.lengths, circular)
    cut = (
        cut_contig(contig, int(contigs.lengths[contig]), sites, *on.of_contig(contig), depth)
        for contig, sites in enumerate(_sites(counted, len(contigs), threads))
    )
    pieces = Pieces.concat(list(cut))
    kmers = SharedKmers.of(pieces, contigs.lengths, counted, sampled, threads)
    return assign_haplotypes(pieces, opposite(kmers), beside_shared(kmers))


@dataclasses.dataclass(frozen=True)
class SharedKmers:
    """Bins in which pairs of pieces are the same, as they have enough k-mers in common there.

    Attributes
    ----------
    pieces : Pieces
    one, other : ndarray of int64, shape (n,)
        Pieces of each bin, of which the second comes later. Either may be shared, not both.
    between_sites : ndarray of bool, shape (n,)
        Whether the k-mers between the outermost sites of both pieces alone were counted, in bins of the one
        with fewer bases between these; else all k-mers, in bins of the shorter one.
    """

    pieces: Pieces
    one: np.ndarray
    other: np.ndarray
    between_sites: np.ndarray

    @classmethod
    def of(
        cls, pieces: Pieces, lengths: np.ndarray, counted: KmerCounts, sampled: float, threads: int = 1
    ) -> Self:
        """Find the bins.

        Parameters
        ----------
        pieces : Pieces
        lengths : ndarray of int64, shape (contigs,)
        counted : KmerCounts
            k-mers of the contigs that occur up to `MOST_TIMES`.
        sampled : float
            The share of all k-mers that these are of.
        threads : int
        """
        columns = columns_of(pieces, lengths)
        bins = int(np.diff(columns.first_bin).max(initial=1))
        found = counted.by_range(kmer_columns.count_shared, columns, BIN, K, bins, threads=threads)
        keys, kmers = kmer_columns.add_up(*map(np.concatenate, zip(*found, strict=True)))
        same = np.sort(keys[kmers >= LEAST_OF_BIN * BIN * sampled])
        one, other = np.divmod(same // (2 * bins), max(1, len(pieces)))
        return cls(pieces, one, other, same % 2 == 1)

    def in_common(self, taken: np.ndarray, lengths: np.ndarray) -> list[tuple[int, int, int]]:
        """Return pairs of pieces that have enough of the shorter one in common, by the number of bins.

        Parameters
        ----------
        taken : ndarray of bool, shape (n,)
            Which bins count.
        lengths : ndarray of int64, shape (pieces,)
            Bases of a piece that may be in common.

        Returns
        -------
        list of (int, int, int)
            Two pieces, and how many bases they have in common, in whole bins.
        """
        pairs, same = np.unique(np.stack([self.one, self.other])[:, taken], axis=1, return_counts=True)
        one, other = pairs
        half = np.minimum(lengths[one], lengths[other]) / BIN / 2
        enough = np.flatnonzero(same >= np.clip(half, LEAST_SAME, ENOUGH))
        order = enough[np.argsort(-same[enough], kind="stable")]
        return list(zip(*(values[order].tolist() for values in (one, other, same * BIN)), strict=True))


def opposite(kmers: SharedKmers) -> list[tuple[int, int, int]]:
    """Return pairs of opposite pieces, and how many bases they have in common."""
    pieces = kmers.pieces
    found = kmers.in_common(kmers.between_sites, pieces.behind_sites - pieces.first_site)
    alone = np.ones(len(pieces), np.bool_)
    alone[np.array(found, np.int64).reshape(-1, 3)[:, :2]] = False
    phased = (pieces.sites[kmers.one] > 0) & (pieces.sites[kmers.other] > 0)
    for one, other, bases in kmers.in_common(phased & ~kmers.between_sites, pieces.lengths):
        if alone[one] or alone[other]:
            alone[one] = alone[other] = False
            found.append((one, other, bases))
    return found


def beside_shared(kmers: SharedKmers) -> list[tuple[int, int, int]]:
    """Return pairs of a shared piece and one of a haplotype, and how many bases they have in common."""
    sites = kmers.pieces.sites
    one_of_two = (sites[kmers.one] > 0) != (sites[kmers.other] > 0)
    found = kmers.in_common(one_of_two, kmers.pieces.lengths)
    return [(other, one, bases) if sites[one] else (one, other, bases) for one, other, bases in found]


def assign_haplotypes(
    pieces: Pieces, pairs: list[tuple[int, int, int]], beside_shared: list[tuple[int, int, int]]
) -> Phased:
    """Give opposite pieces opposite haplotypes.

    Parameters
    ----------
    pieces : Pieces
    pairs : list of (int, int, int)
        Opposite pieces, as `opposite` returns them; one that contradicts those before it is left out.
    beside_shared : list of (int, int, int)
        As in `Phased`.
    """
    above, differs = list(range(len(pieces))), [False] * len(pieces)

    def root_of(piece: int) -> tuple[int, bool]:
        flipped = False
        while above[piece] != piece:
            flipped, piece = flipped ^ differs[piece], above[piece]
        return piece, flipped

    for one, other, _ in pairs:
        (first, first_flipped), (second, second_flipped) = root_of(one), root_of(other)
        if first != second:
            above[second], differs[second] = first, first_flipped == second_flipped
    of_piece = [root_of(piece) for piece in range(len(pieces))]
    root, flipped = np.array(of_piece, np.int64).reshape(-1, 2).T
    phased = pieces.sites > 0
    bases = (
        np.bincount(2 * root + flipped, pieces.lengths * phased, 2 * len(pieces))
        .astype(np.int64)
        .reshape(-1, 2)
    )
    block, haplotype = np.zeros(len(pieces), np.int32), np.zeros(len(pieces), np.uint8)
    blocks, so_far = np.unique(root[phased]), np.zeros(2, np.int64)
    longest_first = blocks[np.argsort(-bases[blocks].sum(axis=1), kind="stable")]
    for number, one in enumerate(longest_first.tolist(), start=1):
        # Of a block, the side of more bases goes to the haplotype that has fewer so far.
        swapped = (bases[one, 0] > bases[one, 1]) == (so_far[0] > so_far[1])
        so_far += bases[one, ::-1] if swapped else bases[one]
        inside = phased & (root == one)
        block[inside], haplotype[inside] = number, 1 + (flipped[inside] ^ swapped)
    return Phased(pieces, block, haplotype, pairs, beside_shared)


def _sites(counted: KmerCounts, contigs: int, threads: int) -> list[np.ndarray]:
    """Return where the k-mers start that occur once in their contig."""
    place = np.sort(np.concatenate(counted.by_range(kmer_columns.places_of_single, threads=threads)))
    bounds = np.searchsorted(place >> 32, np.arange(contigs + 1)).tolist()
    return [place[start:stop] & 0xFFFFFFFF for start, stop in itertools.pairwise(bounds)]


def columns_of(pieces: Pieces, lengths: np.ndarray) -> kmer_columns.PieceColumns:
    """Return pieces of contigs of given lengths as kernels take them."""
    start = pieces.contig.astype(np.int64) << 32 | pieces.start
    bins = -(-lengths // BIN)
    first_base = np.repeat(np.arange(len(lengths)), bins) << 32 | places_within(bins) * BIN
    return kmer_columns.PieceColumns(
        start, pieces.lengths, pieces.first_site, pieces.behind_sites,
        np.searchsorted(start, first_base, "right") - 1, offsets_of(bins),
    )  # fmt: skip
