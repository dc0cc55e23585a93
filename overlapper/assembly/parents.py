"""Which parent each group of pieces is of (``docs/algorithms/haplotypes.md``, "Parents")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from overlapper.assembly.pieces import K, Pieces
from overlapper.evaluation.slices import spans_of
from overlapper.kernels.seeds import haplotype_kmers
from overlapper.kernels.seeds.counting import NONE
from overlapper.kernels.seeds.kmer_table import Spans
from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.tables import Reads

LEAST = 10
"""k-mers that have to speak for a parent: a single difference gives 31, which few errors leave in part."""
_BLOCK_BASES = 1 << 22
_ROWS_A_KMER = 1.5

ParentReads = tuple[Iterable[Reads] | None, Iterable[Reads] | None]
"""Reads of either parent, in parts; None where they are not known."""


class Sites(NamedTuple):
    """Sites of contigs: k-mers that one contig alone has, where it is of one haplotype."""

    contig: np.ndarray
    place: np.ndarray
    """`contig`, `place`: int64, shape (n,); the first base of each."""


def parents_of_groups(
    contigs: Reads, pieces: Pieces, sites: Sites, parents: ParentReads, threads: int
) -> np.ndarray:
    """Return which parent each group of pieces is of: 1 or 2, 0 where that is not known (uint8).

    Parameters
    ----------
    contigs : Reads
    pieces : Pieces
    sites : Sites
        Of these contigs.
    parents : ParentReads
        Reads of one of them, or of both.
    threads : int
        Changes nothing but the time.
    """
    table = table_of(contigs, pieces, sites, pieces.group)
    used = table[:, 0] != NONE
    has = [
        None if reads is None else (_counted(table, reads, threads) >= haplotype_kmers.ENOUGH)[used]
        for reads in parents
    ]
    of_first, of_second = _votes(table[used, 1].astype(np.int64), has, 1 + int(pieces.group.max(initial=-1)))
    parent = np.where(of_first > of_second, 1, 2).astype(np.uint8)
    parent[np.maximum(of_first, of_second) < LEAST] = 0
    return parent


def table_of(contigs: Reads, pieces: Pieces, sites: Sites, label: np.ndarray) -> np.ndarray:
    """Return a table (`overlapper.kernels.seeds.haplotype_kmers`) of the sites of pieces.

    Parameters
    ----------
    contigs : Reads
    pieces : Pieces
    sites : Sites
    label : ndarray of int, shape (pieces,)
        What is noted of the sites of each piece; those of a piece below 0 are left out.
    """
    starts = pieces.contig.astype(np.int64) << 32 | pieces.start
    of_site = label[np.searchsorted(starts, sites.contig << 32 | sites.place, "right") - 1].astype(np.int64)
    kept = of_site >= 0
    return labelled(contigs, Sites(sites.contig[kept], sites.place[kept]), of_site[kept])


def labelled(contigs: Reads, sites: Sites, label: np.ndarray) -> np.ndarray:
    """Return a table of sites of contigs with their labels; of equal k-mers the first one counts."""
    table = np.full((int(_ROWS_A_KMER * len(label)) + 2, 2), NONE)
    first_word = contigs.word_offsets[sites.contig].astype(np.int64)
    haplotype_kmers.add_labelled(table, contigs.words, first_word, sites.place, label, K)
    return table


def _votes(group: np.ndarray, has: list[np.ndarray | None], groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many k-mers of each group speak for either parent (float64, shape (groups,)).

    Of two parents those k-mers do that the other one lacks. Of one parent, what it lacks is of the other one;
    half of all k-mers are of its own haplotype, of which it lacks none. A group of which it lacks less than
    of all is of it.
    """

    def count(of: np.ndarray) -> np.ndarray:
        return np.bincount(group[of], minlength=groups).astype(np.float64)

    one, other = has
    if one is not None and other is not None:
        return count(one & ~other), count(other & ~one)
    lacks = ~(one if one is not None else other)  # type: ignore[operator] # one of them is known
    lacking, all_ = count(lacks), count(np.ones(len(group), np.bool_))
    expected = all_ * (lacking.sum() / max(1, all_.sum()))
    known, unknown = np.maximum(2 * expected - lacking, 0), lacking
    return (known, unknown) if one is not None else (unknown, known)


def _counted(table: np.ndarray, reads: Iterable[Reads], threads: int) -> np.ndarray:
    """Return how many reads have the k-mer of each row, up to `ENOUGH`."""
    counts = np.zeros(len(table), np.uint8)
    for part in reads:
        spans = spans_of(part)
        blocks = even_ranges(spans.stop - spans.start, max(_BLOCK_BASES, part.total_bases // threads))
        for found in map_in_order(lambda block: _of_block(table, spans, block), blocks, threads):  # noqa: B023
            np.minimum(counts + found, haplotype_kmers.ENOUGH, out=counts)
    return counts


def _of_block(table: np.ndarray, spans: Spans, block: tuple[int, int]) -> np.ndarray:
    counts = np.zeros(len(table), np.uint8)
    haplotype_kmers.count_known(table, spans, *block, K, counts)
    return counts
