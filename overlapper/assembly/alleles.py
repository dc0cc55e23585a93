"""Whether reads have differences of two haplotypes within them (``docs/algorithms/haplotypes.md``)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from overlapper.assembly.pieces import K
from overlapper.evaluation.slices import spans_of
from overlapper.kernels.seeds import haplotype_kmers, kmer_table
from overlapper.kernels.seeds.counting import ALL, NONE
from overlapper.kernels.seeds.kmer_table import Spans
from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.tables import Reads

SHARED_A_DIFFERENCE = 25_000
"""Most shared k-mers of reads of two haplotypes for each difference within them. Chosen on simulated reads:
two haplotypes that differ in one base of 2,000 of a fifth of the genome have 10,100, one genome with exact
repeats no difference at all; within that, between the real sets of fewest differences
(``docs/notes/assembly.md``), so that these do not judge it."""
LOOKED_AT = 1 << 19
"""Bases of reads that are looked at."""
_BLOCK_BASES = 1 << 22
_ROWS_A_KMER = 4
"""So that most k-mers that the table does not have are looked for in one row."""


def differ(reads: Reads, depth: float, threads: int) -> bool:
    """Return whether reads have differences within them as reads of two haplotypes do, or more.

    Parameters
    ----------
    reads : Reads
        Accurate ones in canonical order, of which some are looked at.
    depth : float
        Reads that cover a base of one haplotype, if there are two.
    threads : int
        Changes nothing but the time.
    """
    step = -(-reads.total_bases // LOOKED_AT)
    spans = spans_of(reads.take(np.arange(0, len(reads), max(1, step))))
    bases = int((spans.stop - spans.start).sum())
    table = np.full((_ROWS_A_KMER * bases + 2, 2), NONE)
    kmer_table.add_kmers(table, spans, np.zeros(len(reads), np.int64), K, ALL, np.uint64(0), NONE)
    counts = counted(table, [reads], np.iinfo(np.uint16).max, threads)
    shared, differences = haplotype_kmers.differences(table, counts, spans, K, depth)
    return bool(0 < shared <= SHARED_A_DIFFERENCE * differences)


def counted(table: np.ndarray, reads: Iterable[Reads], most: int, threads: int) -> np.ndarray:
    """Return how often reads, in parts, have the k-mer of each row of a table, up to a number.

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
        One of `overlapper.kernels.seeds.kmer_table`.
    reads : iterable of Reads
    most : int
    threads : int

    Returns
    -------
    ndarray of the smallest unsigned type, shape (n,)
    """
    kind = np.min_scalar_type(most)
    counts = np.zeros(len(table), kind)

    def of_block(spans: Spans, block: tuple[int, int]) -> np.ndarray:
        found = np.zeros(len(table), kind)
        haplotype_kmers.count_known(table, spans, *block, K, most, found)
        return found

    for part in reads:
        spans = spans_of(part)
        blocks = even_ranges(spans.stop - spans.start, max(_BLOCK_BASES, part.total_bases // threads))
        for found in map_in_order(lambda block: of_block(spans, block), blocks, threads):  # noqa: B023
            counts += np.minimum(found, most - counts)
    return counts
