"""Count all k-mers of a read set, and list the occurrences of those with wanted multiplicities.

k-mers are canonical (`kernels.cpu.counting`). They are counted in ranges of hashes, as many at a time as fit
into a given memory; the result depends on neither the memory nor the threads.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.errors import ParameterError
from overlapper.tables import Reads
from overlapper.threads import cut_evenly, map_in_order

_BYTES_PER_KMER = 16
_BUCKET_KMERS = 1 << 15
_MOST_BUCKET_BITS = 16
_BLOCK_BASES = 1 << 20
_MOST_BLOCKS = 64
_BUCKETS_PER_TASK = 16


@dataclasses.dataclass(frozen=True)
class KmerCounts:
    """The k-mers of a read set.

    Attributes
    ----------
    spectrum : ndarray of int64, shape (most + 1,)
        Distinct k-mers by multiplicity; the last entry holds all from ``most`` on.
    column_offsets : ndarray of int64, shape (columns + 1,)
        Where the occurrences of each kept k-mer start; k-mers ascend by hash.
    occurrences : ndarray of int64
        Occurrences of the kept k-mers, ascending within a k-mer: ``read << 32 | position << 1 | reverse``,
        the position being the first base on the forward strand.
    of_read : ndarray of int32, shape (reads,)
        k-mers of each read that took part.
    """

    spectrum: np.ndarray
    column_offsets: np.ndarray
    occurrences: np.ndarray
    of_read: np.ndarray


def count_kmers(
    reads: Reads,
    k: int,
    *,
    lower: int,
    upper: int,
    sampled: float = 1.0,
    most: int = 1000,
    threads: int = 1,
    memory: int = 512 << 20,
) -> KmerCounts:
    """Count the canonical k-mers of all reads.

    Parameters
    ----------
    reads : Reads
    k : int
        1 to 31.
    lower, upper : int
        The k-mers of these multiplicities, both included, are kept; none when ``lower`` is above ``upper``.
    sampled : float
        Share of all k-mers, above 0 to 1, that take part: those with the smallest hashes.
    most : int
        Larger multiplicities are counted as this one in the spectrum.
    threads : int
    memory : int
        Bytes that k-mers may take while they are counted; the kept ones come on top.

    Returns
    -------
    KmerCounts

    Raises
    ------
    ParameterError
        When ``k`` or ``sampled`` is out of range.
    """
    if not 1 <= k <= 31:
        raise ParameterError(f"k is {k}, expected 1 to 31")
    if not 0 < sampled <= 1:
        raise ParameterError(f"sampled is {sampled}, expected above 0 to 1")
    return _Counter(reads, k, sampled, threads).count(lower, upper, most, memory)


class _Counter:
    """Blocks of reads, buckets of hashes, and how many k-mers of each block fall into each bucket."""

    def __init__(self, reads: Reads, k: int, sampled: float, threads: int) -> None:
        from overlapper.kernels.cpu import counting

        self.kernels, self.k, self.threads = counting, k, threads
        self.columns = (
            reads.words, reads.word_offsets, reads.lengths,
            reads.unknown_start, reads.unknown_end, reads.unknown_offsets,
        )  # fmt: skip
        self.limit = _hash_limit(k, sampled)
        share = max(_BLOCK_BASES, -(-reads.total_bases // _MOST_BLOCKS))
        self.bounds = cut_evenly(reads.lengths, share)
        bits = min(
            max(0, int(reads.total_bases * sampled) // _BUCKET_KMERS).bit_length(), _MOST_BUCKET_BITS, 2 * k
        )
        self.shift = 2 * k - bits
        self.buckets = ((self.limit - 1) >> self.shift) + 1
        self.of_read = np.empty(len(reads), np.int32)
        blocks = range(len(self.bounds) - 1)
        counted = list(map_in_order(self._count_block, blocks, threads))
        self.counts = np.array(counted, np.int64).reshape(len(blocks), self.buckets)

    def _count_block(self, block: int) -> np.ndarray:
        counts = np.zeros(self.buckets, np.int64)
        self.kernels.count_buckets(
            *self.columns, self.bounds[block], self.bounds[block + 1], self.k,
            np.uint64(self.limit), np.uint64(self.shift), counts, self.of_read,
        )  # fmt: skip
        return counts

    def count(self, lower: int, upper: int, most: int, memory: int) -> KmerCounts:
        """Count range by range."""
        ranges = cut_evenly(self.counts.sum(axis=0), max(1, memory // _BYTES_PER_KMER))
        spectrum = np.zeros(most + 1, np.int64)
        sizes: list[np.ndarray] = []
        occurrences: list[np.ndarray] = []
        of_bucket = self.counts.sum(axis=0)
        of_range = np.add.reduceat(of_bucket, ranges[:-1]) if len(of_bucket) else of_bucket
        entries = np.empty((max(of_range, default=0), 2), np.uint64)
        for first, last in zip(ranges[:-1].tolist(), ranges[1:].tolist(), strict=True):
            self._fill(first, last, entries)
            starts = np.concatenate([[0], np.cumsum(of_bucket[first:last])])

            def group(task: int, starts: np.ndarray = starts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
                bounds = starts[task : task + _BUCKETS_PER_TASK + 1]
                counted, room = np.zeros(most + 1, np.int64), bounds[-1] - bounds[0]
                kept_sizes, kept = np.empty(room, np.int64), np.empty(room, np.int64)
                columns, total = self.kernels.group_buckets(
                    entries[bounds[0] : bounds[-1]], bounds - bounds[0], self.shift, lower, upper,
                    counted, kept_sizes, kept,
                )  # fmt: skip
                return counted, kept_sizes[:columns].copy(), kept[:total].copy()

            for counted, kept_sizes, kept in map_in_order(
                group, range(0, last - first, _BUCKETS_PER_TASK), self.threads
            ):
                spectrum += counted
                sizes.append(kept_sizes)
                occurrences.append(kept)
        return KmerCounts(
            spectrum=spectrum,
            column_offsets=np.concatenate([[0], np.cumsum(_join(sizes), dtype=np.int64)]),
            occurrences=_join(occurrences),
            of_read=self.of_read,
        )

    def _fill(self, first: int, last: int, entries: np.ndarray) -> None:
        """Move hashes and occurrences of the buckets ``[first, last)`` together."""
        counts = self.counts[:, first:last]
        of_bucket = counts.sum(axis=0)
        earlier_buckets = np.cumsum(of_bucket) - of_bucket
        cursors = earlier_buckets + np.cumsum(counts, axis=0) - counts
        lowest, limit = first << self.shift, min(last << self.shift, self.limit)

        def fill(block: int) -> None:
            self.kernels.fill_buckets(
                *self.columns, self.bounds[block], self.bounds[block + 1], self.k,
                np.uint64(lowest), np.uint64(limit), np.uint64(self.shift), cursors[block], entries,
            )  # fmt: skip

        list(map_in_order(fill, range(len(self.bounds) - 1), self.threads))


def _hash_limit(k: int, sampled: float) -> int:
    """Return the limit below which a share of the canonical hashes lies.

    The smaller of two uniform values is below x with probability 1 - (1 - x)**2.
    """
    return max(1, round((1 - (1 - sampled) ** 0.5) * 4**k))


def _join(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
