"""Phasing of pieces of contigs: which haplotype each is of (``docs/algorithms/haplotypes.md``).

::

    contigs ── k-mers that occur once ──┐
          └─── their reads, depth ──────┴──► pieces ──┬──► blocks, haplotype 1 and 2 in each
          └─── k-mers that occur again ──► opposite ──┘
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable

import numpy as np

from overlapper.assembly.hic import HicReads, HicSeen, Links, join_blocks, links_of_groups
from overlapper.assembly.parents import ParentReads, Sites, parents_of_groups
from overlapper.assembly.pieces import BIN, K, Pieces, ReadIntervals, cut_contig
from overlapper.correction.own_reads import OwnReads
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
MOST = 0.5
"""Share of the k-mers of a bin by which one contig has it, or three have: where each haplotype has a contig,
two have most k-mers, unless these differ in one base of 45."""
LEAST_OF_BIN = 0.1
"""Least share of the k-mers of a bin that opposite pieces share: haplotypes may differ in one base of 14."""
LEAST_SAME, ENOUGH = 10, 50
"""Least bins that opposite pieces have in common: half of those of the shorter piece; at least 10, more than
a repeat has, and at most 50, as many as ends of contigs of two reads' length that run into a shared stretch
have."""


@dataclasses.dataclass(frozen=True)
class Phased:
    """Pieces of contigs, and the haplotype of each."""

    pieces: Pieces
    block: np.ndarray
    """int32, shape (n,); phase block, from 1, that of most bases first; 0 for shared pieces."""
    haplotype: np.ndarray
    """uint8, shape (n,); 1 or 2; 0 for shared pieces. Of different blocks it says nothing."""
    opposite: list[tuple[int, int, int]]
    """List of (int, int, int); two contigs with opposite groups of pieces, and how many bases these have in
    common."""
    hic: HicSeen | None = None
    """What Hi-C reads say, where they are given."""

    @property
    def of_two(self) -> bool:
        """Whether reads are of two haplotypes: half of the phased bases are in blocks of both."""
        of_one, of_other = (np.unique(self.block[self.haplotype == haplotype]) for haplotype in (1, 2))
        phased = self.block > 0
        in_both = phased & np.isin(self.block, np.intersect1d(of_one, of_other))
        lengths = self.pieces.lengths
        return bool(0 < lengths[phased].sum() <= 2 * lengths[in_both].sum())


def phase(
    contigs: Reads,
    circular: np.ndarray,
    own: OwnReads,
    depth: float,
    *,
    parents: ParentReads | None = None,
    hic: HicReads | None = None,
    threads: int = 1,
) -> Phased:
    """Tell the haplotypes of contigs apart.

    Parameters
    ----------
    contigs : Reads
    circular : ndarray of bool, shape (contigs,)
    own : OwnReads
        Where their reads lie.
    depth : float
        Reads that cover a base of one haplotype.
    parents : ParentReads, optional
        Reads of the parents: haplotype 1 is of the first of them, haplotype 2 of the other one.
    hic : HicReads, optional
        Pairs of reads, which join phase blocks.
    threads : int
        Changes nothing but the time.
    """
    sampled = min(1.0, MOST_KMERS / max(1, contigs.total_bases))
    counted = count_kmers(
        contigs, K, lower=1, upper=MOST_TIMES, sampled=sampled, threads=threads, memory=COUNTING
    )
    on = ReadIntervals(own, contigs.lengths, circular)
    found = np.sort(np.concatenate(counted.by_range(kmer_columns.not_in_two, threads=threads)))
    first = np.searchsorted(found >> 32, np.arange(len(contigs) + 1))
    place, is_site = (found & 0xFFFFFFFF) >> 1, (found & 1).astype(np.bool_)
    cut, kept = [], []
    for contig, length in enumerate(contigs.lengths.tolist()):
        there = slice(first[contig], first[contig + 1])
        sites, others = place[there][is_site[there]], place[there][~is_site[there]]
        alone, by_three = (
            np.bincount(places // BIN, minlength=-(-length // BIN)) >= MOST * BIN * sampled
            for places in (sites, others)
        )
        made, sites = cut_contig(contig, length, sites, alone, by_three, *on.of_contig(contig), depth)
        cut.append(made)
        kept.append(sites)
    pieces = Pieces.concat(cut)
    pairs = opposite(pieces, contigs.lengths, counted, sampled, threads)
    of_contigs = np.repeat(np.arange(len(kept)), [len(sites) for sites in kept])
    own_kmers = Sites(of_contigs, np.concatenate([*kept, np.empty(0, np.int64)]))
    parent = parents_of_groups(contigs, pieces, own_kmers, parents, threads) if parents else None
    by_hic = hic and functools.partial(links_of_groups, contigs, pieces, own_kmers, hic, threads)
    return assign_haplotypes(pieces, pairs, parent, by_hic)


def opposite(
    pieces: Pieces, lengths: np.ndarray, counted: KmerCounts, sampled: float, threads: int = 1
) -> list[tuple[int, int, int]]:
    """Return pairs of opposite groups of pieces, and how many bases they have in common.

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
    group = pieces.group
    one, other = np.sort(group[np.stack(np.divmod(same // (2 * bins), max(1, len(pieces))))], axis=0)
    between_sites = same % 2 == 1
    of_two = (one >= 0) & (one < other)
    bases, extents = (
        np.bincount(group[group >= 0], values[group >= 0])
        for values in (pieces.lengths, pieces.behind_sites - pieces.first_site)
    )
    pairs = in_common(one[of_two & between_sites], other[of_two & between_sites], extents)
    alone = np.ones(len(bases), np.bool_)
    alone[np.array(pairs, np.int64).reshape(-1, 3)[:, :2]] = False
    of_two &= ~between_sites
    for pair in in_common(one[of_two], other[of_two], bases):
        if alone[pair[0]] or alone[pair[1]]:
            alone[list(pair[:2])] = False
            pairs.append(pair)
    return pairs


def in_common(one: np.ndarray, other: np.ndarray, lengths: np.ndarray) -> list[tuple[int, int, int]]:
    """Return pairs of groups that have enough of the shorter one in common, by the number of bins.

    Parameters
    ----------
    one, other : ndarray of int64, shape (n,)
        Groups of each bin that is the same.
    lengths : ndarray of float64, shape (groups,)
        Bases of a group that may be in common.

    Returns
    -------
    list of (int, int, int)
        Two groups, and how many bases they have in common, in whole bins.
    """
    (one, other), same = np.unique(np.stack([one, other]), axis=1, return_counts=True)
    half = np.minimum(lengths[one], lengths[other]) / BIN / 2
    enough = np.flatnonzero(same >= np.clip(half, LEAST_SAME, ENOUGH))
    order = enough[np.argsort(-same[enough], kind="stable")]
    return list(zip(*(values[order].tolist() for values in (one, other, same * BIN)), strict=True))


def assign_haplotypes(
    pieces: Pieces,
    pairs: list[tuple[int, int, int]],
    parent: np.ndarray | None = None,
    by_hic: Callable[[np.ndarray, np.ndarray], Links] | None = None,
) -> Phased:
    """Give opposite groups of pieces opposite haplotypes.

    A group that is opposite to none, and that Hi-C joins to none, is of the haplotype of the one before it on
    its contig, or of the one behind it: nothing speaks against that.

    Parameters
    ----------
    pieces : Pieces
    pairs : list of (int, int, int)
        Opposite groups, as `opposite` returns them; one that contradicts those before it is left out.
    parent : ndarray of uint8, shape (groups,), optional
        1 or 2, 0 where it is not known: all groups of a known one are of one block, whatever the pairs say.
    by_hic : callable, optional
        Returns links of Hi-C reads, of the block and the haplotype (0 or 1) of each group.
    """
    group = pieces.group
    phased = np.flatnonzero(group >= 0)
    groups = 1 + int(group.max(initial=-1))
    contig = np.zeros(groups, np.int64)
    contig[group[phased]] = pieces.contig[phased]
    parent = np.zeros(groups, np.uint8) if parent is None else parent
    known = np.flatnonzero(parent).tolist()
    joins = [(known[0], one, bool(parent[one] != parent[known[0]])) for one in known]
    joins += [(one, other, True) for one, other, _ in pairs]
    joined, seen = {of for pair in pairs for of in pair[:2]}, None
    if by_hic:
        root, flipped = _related(groups, joins)
        first, block = np.unique(root, return_inverse=True)
        links = by_hic(block, flipped)
        of, turned = join_blocks(links)
        more = np.flatnonzero(of != np.arange(len(of)))
        joins += [(int(first[of[one]]), int(first[one]), bool(turned[one])) for one in more]
        joined |= {int(first[one]) for one in (*more, *of[more])}
        seen = links.seen(len(more))
    for one in sorted(set(range(groups)) - joined):
        beside = (
            other for other in (one - 1, one + 1) if 0 <= other < groups and contig[other] == contig[one]
        )
        joins += [(one, other, False) for other in itertools.islice(beside, 1)]
    root, flipped = _related(groups, joins)
    side = 2 * root + flipped
    bases = np.bincount(side[group[phased]], pieces.lengths[phased], 2 * groups).astype(np.int64)
    bases = bases.reshape(-1, 2)
    # The last one is that of shared pieces.
    block, haplotype = np.zeros(groups + 1, np.int32), np.zeros(groups + 1, np.uint8)
    blocks, so_far = np.unique(root), np.zeros(2, np.int64)
    longest_first = blocks[np.argsort(-bases[blocks].sum(axis=1), kind="stable")]
    for number, one in enumerate(longest_first.tolist(), start=1):
        # Of a block without parents, the side of more bases goes to the haplotype that has fewer so far.
        swapped = (bases[one, 0] > bases[one, 1]) == (so_far[0] > so_far[1])
        if known and root[known[0]] == one:
            swapped = (flipped[known[0]] == 1) != (parent[known[0]] == 2)
        so_far += bases[one, ::-1] if swapped else bases[one]
        inside = np.flatnonzero(root == one)
        block[inside], haplotype[inside] = number, 1 + (flipped[inside] ^ swapped)
    of_contigs = [(int(contig[one]), int(contig[other]), bases) for one, other, bases in pairs]
    return Phased(pieces, block[group], haplotype[group], of_contigs, seen)


def _related(groups: int, joins: list[tuple[int, int, bool]]) -> tuple[np.ndarray, np.ndarray]:
    """Return a group of the block of each group, and whether both are of different haplotypes (int64).

    Parameters
    ----------
    groups : int
    joins : list of (int, int, bool)
        Two groups, and whether they are of different haplotypes; one within a block is left out.
    """
    above, differs = list(range(groups)), [False] * groups

    def root_of(one: int) -> tuple[int, bool]:
        flipped = False
        while above[one] != one:
            flipped, one = flipped ^ differs[one], above[one]
        return one, flipped

    for one, other, opposite in joins:
        (first, first_flipped), (second, second_flipped) = root_of(one), root_of(other)
        if first != second:
            above[second], differs[second] = first, first_flipped ^ second_flipped ^ opposite
    root, flipped = np.array([root_of(one) for one in range(groups)], np.int64).reshape(-1, 2).T
    return root, flipped


def columns_of(pieces: Pieces, lengths: np.ndarray) -> kmer_columns.PieceColumns:
    """Return pieces of contigs of given lengths as kernels take them."""
    start = pieces.contig.astype(np.int64) << 32 | pieces.start
    bins = -(-lengths // BIN)
    first_base = np.repeat(np.arange(len(lengths)), bins) << 32 | places_within(bins) * BIN
    return kmer_columns.PieceColumns(
        start, pieces.lengths, pieces.first_site, pieces.behind_sites,
        np.searchsorted(start, first_base, "right") - 1, offsets_of(bins),
    )  # fmt: skip
