"""Sequence of haplotypes that is in no contig, found by its k-mers (``docs/algorithms/haplotypes.md``)."""

from __future__ import annotations

import dataclasses
import math
from typing import Self

import numpy as np

from overlapper.assembly.haplotypes import BYTES_A_KMER, COUNTING, MOST_KMERS
from overlapper.assembly.laid_out import LaidOut
from overlapper.assembly.pieces import K
from overlapper.kernels.seeds import kmer_columns
from overlapper.runtime.memory import check_room
from overlapper.sketch.adapters import END
from overlapper.sketch.counting import KmerCounts, count_kmers
from overlapper.tables import Reads

CONFIRMED = 3
"""Least reads that confirm a k-mer: two may have been corrected by each other."""
LEAST = 2_000
"""Least bases that the lost k-mers of a contig reach over: those of a single difference reach over 61."""


def kmers_of(
    reads: Reads, some: np.ndarray, contigs: Reads, least: int, room: int | None, what: str, threads: int
) -> tuple[KmerCounts, float]:
    """Return the k-mers of some reads and of contigs behind them, and the share of all that these are.

    Those count that occur ``least`` times. ``what`` is what they tell, for the message where there is too
    little memory. Other arguments are those of `LostKmers.of`.
    """
    both = Reads.concat([reads.take(some).bases_alone(), contigs.bases_alone()])
    bases = max(1, both.total_bases)
    sampled = min(1.0, MOST_KMERS / bases)
    counted = count_kmers(
        both, K, lower=least, upper=bases, sampled=sampled, threads=threads, memory=COUNTING
    )
    kmers = len(counted.occurrences)
    check_room(COUNTING + BYTES_A_KMER * kmers, room, f"{kmers:,} k-mers that tell {what}")
    return counted, sampled


@dataclasses.dataclass(frozen=True, eq=False)
class LostKmers:
    """Where k-mers are in reads that enough reads have, and no contig."""

    read: np.ndarray
    """int64, shape (n,)."""
    place: np.ndarray
    """int64, shape (n,); first base, on the forward strand."""

    @classmethod
    def of(cls, reads: Reads, laid_out: LaidOut, depth: float, room: int | None, threads: int) -> Self:
        """Find them among the reads that were laid out nowhere, as all bases of others are in contigs.

        The first and last `END` bases of reads are left out: what several reads have there are adapters.

        Parameters
        ----------
        reads : Reads
        laid_out : LaidOut
        depth : float
            Reads that cover a base of one haplotype; half as many are enough, but not fewer than `CONFIRMED`.
        room : int or None
            Bytes of memory that may be used besides reads and overlaps; None for no limit.
        threads : int
            Changes nothing but the time.

        Raises
        ------
        ParameterError
            When there is too little memory.
        """
        unplaced = np.setdiff1d(np.arange(len(reads)), laid_out.reads.read)
        contigs, least = laid_out.contigs.sequences, max(CONFIRMED, math.ceil(depth / 2))
        counted, _ = kmers_of(reads, unplaced, contigs, least, room, "what is lost", threads)
        found = np.concatenate(
            counted.by_range(kmer_columns.occurrences_of_frequent, least, len(unplaced), threads=threads)
        )
        read, place = unplaced[found >> 32], (found & 0xFFFFFFFF) >> 1
        inside = (place >= END) & (place + K + END <= reads.lengths[read])
        return cls(read[inside], place[inside])

    def contigs_with(self, laid_out: LaidOut) -> np.ndarray:
        """Return the contigs on which the lost k-mers reach over `LEAST` bases (int64).

        Parameters
        ----------
        laid_out : LaidOut
            Of the reads with lost k-mers alone.
        """
        own, lengths = laid_out.reads, laid_out.contigs.sequences.lengths
        order = np.argsort(own.read)
        row = np.searchsorted(own.read, self.read, sorter=order)
        laid = row < len(own)
        row, place = order[row[laid]], self.place[laid]
        inside = (
            (own.read[row] == self.read[laid]) & (place >= own.r_start[row]) & (place + K <= own.r_end[row])
        )
        row, place = row[inside], place[inside]
        along = np.where(own.reverse[row], own.r_end[row] - place - K, place - own.r_start[row])
        at, contig = own.start[row] + along, own.unitig[row]
        first, behind = lengths.copy(), np.zeros(len(lengths), np.int64)
        np.minimum.at(first, contig, at)
        np.maximum.at(behind, contig, at + K)
        return np.flatnonzero(behind - first >= LEAST)
