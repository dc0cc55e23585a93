"""Counting of all k-mers of a read set, with the occurrences of those of wanted multiplicities.

k-mers are canonical (`kernels.seeds.counting`). They are counted in ranges of hashes, as many at a time as
fit into a given memory; the result depends on neither the memory nor the threads. Reads may stay on disk:
they are loaded block by block, once for every range.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np

from overlapper.errors import ParameterError
from overlapper.runtime.threads import cut_evenly, even_ranges, for_each, map_in_order
from overlapper.tables import Reads
from overlapper.tables.base import concatenate
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import words_for

_BYTES_PER_KMER = 16
_BUCKET_KMERS = 1 << 15
_MOST_BUCKET_BITS = 16
_BLOCK_BASES = 1 << 20
_MOST_BLOCKS = 64
_BUCKETS_PER_TASK = 16
Result = TypeVar("Result")


@dataclasses.dataclass(frozen=True)
class KmerCounts:
    """The k-mers of a read set."""

    spectrum: np.ndarray
    """int64, shape (most + 1,); distinct k-mers by multiplicity; the last entry holds all from ``most``
    on."""
    column_offsets: np.ndarray
    """int64, shape (columns + 1,); where the occurrences of each kept k-mer start; k-mers ascend by hash."""
    occurrences: np.ndarray
    """int64; occurrences of the kept k-mers, ascending within a k-mer: ``read << 32 | position << 1 |
    reverse``, the position being the first base on the forward strand."""
    of_read: np.ndarray
    """int32, shape (reads,); k-mers of each read that took part."""

    def by_range(self, kernel: Callable[..., Result], *arguments: object, threads: int) -> list[Result]:
        """Return what a kernel returns for successive ranges of columns, one for each thread.

        Parameters
        ----------
        kernel : callable
            ``kernel(column_offsets, occurrences, first, last, *arguments)``, of columns ``[first, last)``.
        *arguments : object
        """
        bounds = np.linspace(0, len(self.column_offsets) - 1, threads + 1).astype(np.int64).tolist()
        return list(
            map_in_order(
                lambda columns: kernel(self.column_offsets, self.occurrences, *columns, *arguments),
                itertools.pairwise(bounds),
                threads,
            )
        )


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
    marks: np.ndarray | None = None,
) -> KmerCounts:
    """Count the canonical k-mers of all reads.

    Parameters
    ----------
    k : int
        1 to 31.
    lower, upper : int
        The k-mers of these multiplicities, both included, are kept; none when ``lower`` is above ``upper``.
    sampled : float
        Share of all k-mers, above 0 to 1, that take part: those with the smallest hashes.
    most : int
        Larger multiplicities are counted as this one in the spectrum.
    memory : int
        Bytes that k-mers may take while they are counted; the kept ones come on top.
    marks : ndarray of uint32, optional
        Those of `Seeding`, where only the k-mers take part that are marked.

    Raises
    ------
    ParameterError
        When ``k`` or ``sampled`` is out of range.
    """
    if not 1 <= k <= 31:
        raise ParameterError(f"k is {k}, expected 1 to 31")
    if not 0 < sampled <= 1:
        raise ParameterError(f"sampled is {sampled}, expected above 0 to 1")
    counter = KmerCounter(reads.rows, reads.lengths, k, sampled, threads, marks)
    spectrum = np.zeros(most + 1, np.int64)
    sizes, occurrences = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for counted, kept_sizes, kept in counter.groups(lower, upper, most, memory):
        spectrum += counted
        sizes.append(kept_sizes)
        occurrences.append(kept)
    return KmerCounts(
        spectrum=spectrum,
        column_offsets=offsets_of(concatenate(sizes, threads)),
        occurrences=concatenate(occurrences, threads),
        of_read=counter.of_read,
    )


class KmerCounter:
    """Counts k-mers by bucket of hashes in one pass, and lists them, a few buckets at a time, in another.

    Parameters
    ----------
    load : callable
        ``load(start, stop)`` gives reads ``[start, stop)``.
    lengths : ndarray of int64, shape (reads,)
    k, sampled, threads, marks
        As `count_kmers` takes them.

    Attributes
    ----------
    of_read : ndarray of int32, shape (reads,)
        k-mers of each read that take part.
    word_offsets : ndarray of int64, shape (reads + 1,)
        Those of `Reads`.
    """

    def __init__(
        self,
        load: Callable[[int, int], Reads],
        lengths: np.ndarray,
        k: int,
        sampled: float,
        threads: int,
        marks: np.ndarray | None = None,
    ) -> None:
        from overlapper.kernels.seeds import counting

        self._kernels: Any = counting
        self._k, self._threads, self._load = k, threads, load
        self._marks = np.empty(0, np.uint32) if marks is None else marks
        self.word_offsets = offsets_of(words_for(lengths))
        bases = int(lengths.sum())
        self._limit = _hash_limit(k, sampled)
        self._blocks = list(_blocks_of(lengths, max(_BLOCK_BASES, -(-bases // _MOST_BLOCKS))))
        bits = min(max(0, int(bases * sampled) // _BUCKET_KMERS).bit_length(), _MOST_BUCKET_BITS, 2 * k)
        self._shift = 2 * k - bits
        self._buckets = ((self._limit - 1) >> self._shift) + 1
        self.of_read = np.zeros(len(lengths), np.int32)
        self._counts = np.zeros((len(self._blocks), self._buckets), np.int64)
        counted = map_in_order(self._count_block, self._blocks, threads)
        for number, (block, (counts, of_read)) in enumerate(zip(self._blocks, counted, strict=True)):
            self._counts[number] = counts
            self.of_read[block.first : block.stop] += of_read

    def _part(self, block: _Block) -> tuple[Any, Any]:
        """Return the reads of a block, and which of its k-mers count, for kernels."""
        from overlapper.kernels.common.walks import PackedReads

        first, last = self.word_offsets[[block.first, block.stop]]
        part = self._kernels.Part(block.begin, block.end, self._k, self._marks[first:last])
        return PackedReads.of(self._load(block.first, block.stop)), part

    def _count_block(self, block: _Block) -> tuple[np.ndarray, np.ndarray]:
        counts = np.zeros(self._buckets, np.int64)
        of_read = np.empty(block.stop - block.first, np.int32)
        self._kernels.count_buckets(
            *self._part(block), np.uint64(self._limit), np.uint64(self._shift), counts, of_read
        )
        return counts, of_read

    def groups(
        self, lower: int, upper: int, most: int, memory: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the k-mers by hash, a few buckets at a time.

        Parameters
        ----------
        lower, upper, most, memory : int
            As `count_kmers` takes them.

        Yields
        ------
        spectrum : ndarray of int64, shape (most + 1,)
            Of these k-mers.
        sizes : ndarray of int64
            Multiplicities of those that are kept.
        occurrences : ndarray of int64
            Theirs, one k-mer after the other.
        """
        of_bucket = self._counts.sum(axis=0)
        ranges = cut_evenly(of_bucket, max(1, memory // _BYTES_PER_KMER))
        of_range = np.add.reduceat(of_bucket, ranges[:-1]) if len(of_bucket) else of_bucket
        entries = np.empty((max(of_range, default=0), 2), np.uint64)
        for first, last in zip(ranges[:-1].tolist(), ranges[1:].tolist(), strict=True):
            self._fill(first, last, entries)
            starts = offsets_of(of_bucket[first:last])

            def group(task: int, starts: np.ndarray = starts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
                bounds = starts[task : task + _BUCKETS_PER_TASK + 1]
                counted, room = np.zeros(most + 1, np.int64), bounds[-1] - bounds[0]
                kept_sizes, kept = np.empty(room, np.int64), np.empty(room, np.int64)
                columns, total = self._kernels.group_buckets(
                    entries[bounds[0] : bounds[-1]], bounds - bounds[0], self._shift, lower, upper,
                    counted, kept_sizes, kept,
                )  # fmt: skip
                return counted, kept_sizes[:columns].copy(), kept[:total].copy()

            yield from map_in_order(group, range(0, last - first, _BUCKETS_PER_TASK), self._threads)

    def _fill(self, first: int, last: int, entries: np.ndarray) -> None:
        """Collect hashes and occurrences of the buckets ``[first, last)``."""
        counts = self._counts[:, first:last]
        of_bucket = counts.sum(axis=0)
        earlier_buckets = np.cumsum(of_bucket) - of_bucket
        cursors = earlier_buckets + np.cumsum(counts, axis=0) - counts
        lowest, limit = first << self._shift, min(last << self._shift, self._limit)

        def fill(number: int) -> None:
            block = self._blocks[number]
            self._kernels.fill_buckets(
                *self._part(block), np.uint64(lowest), np.uint64(limit), np.uint64(self._shift),
                block.first, cursors[number], entries,
            )  # fmt: skip

        for_each(fill, range(len(self._blocks)), self._threads)


class _Block(NamedTuple):
    """Reads ``[first, stop)``, and where k-mers start in each, from ``begin`` to before ``end``."""

    first: int
    stop: int
    begin: int
    end: int


def _blocks_of(lengths: np.ndarray, share: int) -> Iterator[_Block]:
    """Cut reads into blocks of about ``share`` bases: several reads, or a part of a long one."""
    for first, stop in even_ranges(lengths, share):
        longest = int(lengths[first:stop].max())
        parts = -(-longest // share)  # 1 of several reads
        for part in range(parts):
            yield _Block(first, stop, part * longest // parts, (part + 1) * longest // parts)


def _hash_limit(k: int, sampled: float) -> int:
    """Return the limit below which a share of the canonical hashes lies.

    The smaller of two uniform values is below x with probability 1 - (1 - x)**2.
    """
    return max(1, round((1 - (1 - sampled) ** 0.5) * 4**k))
