"""Searches on GPUs: each holds the index and searches a share of the reads, with the same matches as the CPU.

Every GPU holds the index, and searches its share of the reads in batches that its memory allows. A text whose
index does not fit is cut into parts (`overlapper.index.parts`), which are indexed anew and searched one after
the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

from overlapper.errors import DeviceError
from overlapper.index.build import LONGEST_TABLE_KMER, with_kmer_table
from overlapper.index.index import FixedSeeds, Index, kmer_variants, seed_length
from overlapper.index.limits import ANY_NUMBER, check_matches, check_seeds
from overlapper.index.parts import SHARE, cut, index_part, merge_fixed_seeds, merge_smems
from overlapper.index.segments import Segments
from overlapper.kernels.index.cuda.bounds import find_bounds
from overlapper.kernels.index.cuda.fm_index import (
    Batch,
    DeviceIndex,
    DeviceQueries,
    index_bytes,
    upload_index,
)
from overlapper.kernels.index.cuda.matches import Found
from overlapper.kernels.index.cuda.mems import find_mems
from overlapper.kernels.index.cuda.mismatch_seeds import find_fixed_seeds
from overlapper.kernels.index.cuda.smems import find_longest, find_nov_smems, find_places, find_smems
from overlapper.kernels.index.fm_index import FmIndex
from overlapper.kernels.index.smems import cut_nov_smems
from overlapper.runtime.gpu import driver
from overlapper.runtime.gpu.memory import Arena, available_bytes
from overlapper.runtime.threads import available_threads, cut_evenly
from overlapper.tables import Matches, Reads
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import BASES_PER_WORD

Result = TypeVar("Result")

_BASES_A_BLOCK = 1 << 20
_BYTES_A_BASE = 64
"""Estimated device memory to search a base of a read; batches that do not fit are halved."""
_LARGEST_ARENA = 1 << 34
"""Most bytes of a GPU's memory to search in; more is no faster."""


class GpuIndex:
    """An index in the memory of GPUs, with the searches of `Index`.

    Parameters
    ----------
    index : Index
    devices : sequence of int
        Numbers of the GPUs.
    memory : int
        Bytes to take of each GPU at most; 0 for what is free.

    Raises
    ------
    DeviceError
        When the longest run of known bases does not fit the memory of a GPU.
    """

    def __init__(self, index: Index, devices: Sequence[int] = (0,), *, memory: int = 0) -> None:
        self._index = index
        room = min(_available(device, memory) for device in devices)
        self._resident = index_bytes(index.fm) <= SHARE * room
        if self._resident:
            self._bounds, size = [0, len(index.fm.segments) - 1], index_bytes(index.fm)
        else:
            self._bounds, size = cut(index.fm, room)
        self._parts: list[FmIndex] = []
        self._gpus = [_Gpu(device, size, room - size) for device in devices]
        if self._resident:
            for gpu in self._gpus:
                gpu.hold(index.fm)

    @property
    def parts(self) -> int:
        """Number of parts of the text."""
        return len(self._bounds) - 1

    def mems(self, reads: Reads, min_length: int, *, most: int = ANY_NUMBER) -> Matches:
        """Find all maximal exact matches; as `Index.mems`."""

        def find(index: DeviceIndex, fm: FmIndex, batch: Batch, arena: Arena) -> Found:
            return find_mems(
                index, batch, arena, min_length=min_length, seed_length=seed_length(fm, min_length)
            )

        parts = self._search(find, reads, min_length, most)
        return parts[0] if len(parts) == 1 else Matches.concat(parts).sort_canonical()

    def smems(self, reads: Reads, min_length: int, *, most: int = ANY_NUMBER) -> Matches:
        """Find all places of all super-maximal exact matches; as `Index.smems`."""

        def find(index: DeviceIndex, fm: FmIndex, batch: Batch, arena: Arena) -> Found:
            return find_smems(index, batch, arena, min_length=min_length)

        parts = self._search(find, reads, min_length, most)
        return parts[0] if len(parts) == 1 else merge_smems(parts)

    def nov_smems(self, reads: Reads, min_length: int, *, most: int = ANY_NUMBER) -> Matches:
        """Find all places of the greedy non-overlapping matches; as `Index.nov_smems`."""

        def find(index: DeviceIndex, fm: FmIndex, batch: Batch, arena: Arena) -> Found:
            return find_nov_smems(index, batch, arena, min_length=min_length)

        if self.parts == 1:
            return self._search(find, reads, min_length, most)[0]
        self._index.for_length(min_length)
        return self._nov_smems_in_parts(reads, min_length, most)

    def _nov_smems_in_parts(self, reads: Reads, min_length: int, most: int) -> Matches:
        """Find the ends of matches in all parts together, then their places in each part."""
        segments = Segments.of(reads, min_length)

        def measure(index: DeviceIndex, fm: FmIndex, batch: Batch, arena: Arena) -> np.ndarray:
            return find_longest(index, batch, arena, min_length)

        def find(index: DeviceIndex, fm: FmIndex, batch: Batch, arena: Arena) -> Found:
            return find_places(index, batch, arena)

        longest = np.zeros(int((segments.lengths - min_length + 1).sum()), np.int32)
        for batches in self._run(measure, reads, segments, min_length):
            np.maximum(longest, np.concatenate([longest[:0], *batches]), out=longest)
        offsets = offsets_of(segments.lengths - min_length + 1)
        segment, start, length = cut_nov_smems(longest, offsets, min_length).T
        matches = Segments(
            segments.reads[segment],
            segments.starts[segment] + start,
            length,
            segments.packed_starts[segment] + start,
        )
        parts = [_matches(found) for found in self._run(find, reads, matches, LONGEST_TABLE_KMER)]
        check_matches(sum(map(len, parts)), most)
        return Matches.concat(parts).sort_canonical()

    def fixed_seeds(
        self, reads: Reads, length: int, *, mismatches: int = 0, hit_limit: int = 128
    ) -> FixedSeeds:
        """Find all places of all windows of one length; as `Index.fixed_seeds`.

        Parameters
        ----------
        reads : Reads
        length, mismatches, hit_limit : int
            As `Index.fixed_seeds` takes them.
        """
        check_seeds(mismatches, hit_limit)
        self._index.for_length(length)

        def find(index: DeviceIndex, fm: FmIndex, batch: Batch, arena: Arena) -> tuple[Found, np.ndarray]:
            variants, costs = kmer_variants(fm.kmer_length, mismatches)
            return find_fixed_seeds(
                index, batch, arena, length=length, mismatches=mismatches, hit_limit=hit_limit,
                variants=variants, costs=costs,
            )  # fmt: skip

        parts = []
        for batches in self._run(find, reads, Segments.of(reads, length), length):
            dropped = np.concatenate([np.empty((0, 3), np.int64), *(rows for _, rows in batches)])
            found = [found for found, _ in batches]
            parts.append(
                FixedSeeds(
                    matches=_matches(found),
                    mismatches=np.concatenate([np.empty(0, np.uint8), *(f.mismatches for f in found)]),
                    dropped_query=dropped[:, 0].astype(np.int32),
                    dropped_start=dropped[:, 1],
                    dropped_hits=dropped[:, 2],
                )
            )
        return parts[0] if len(parts) == 1 else merge_fixed_seeds(parts, hit_limit)

    def bounds(self, patterns: Reads) -> np.ndarray:
        """Return the rows of the suffix array that start with each pattern; as `Index.bounds`."""
        bounds = np.zeros((len(patterns), 2), np.int64)
        bounds[patterns.lengths == 0, 1] = self._index.fm.rows
        whole = Segments.of(patterns)
        whole = whole.take(whole.lengths == patterns.lengths[whole.reads])

        def find(index: DeviceIndex, fm: FmIndex, batch: Batch, arena: Arena) -> np.ndarray:
            return find_bounds(index, batch.queries, arena)

        for batches in self._run(find, patterns, whole, LONGEST_TABLE_KMER):
            bounds[whole.reads] += np.concatenate([np.empty((0, 2), np.int64), *batches])
        return bounds

    def _search(self, find: Callable[..., Found], reads: Reads, min_length: int, most: int) -> list[Matches]:
        """Yield the matches in each part of the text."""
        self._index.for_length(min_length)
        segments = Segments.of(reads, min_length)
        parts = [_matches(batches) for batches in self._run(find, reads, segments, min_length)]
        check_matches(sum(map(len, parts)), most)
        return parts

    def _run(
        self, find: Callable[..., Result], reads: Reads, segments: Segments, longest_kmer: int
    ) -> list[list[Result]]:
        """Run a search on each part of the text, every GPU on its share of the reads.

        Parameters
        ----------
        find : callable
            ``find(index, fm, batch, arena)`` searches some segments.
        reads : Reads
        segments : Segments
            Of the reads.
        longest_kmer : int
            The table may have no longer k-mers.

        Returns
        -------
        list of list
            Of every part the results of all batches, in the order of the reads.
        """
        shares = _shares(segments, len(self._gpus))
        results = []
        for part in range(self.parts):
            fm = self._index.fm
            if not self._resident:
                fm = self._part(part)
                for gpu in self._gpus:
                    gpu.hold(fm)
            if longest_kmer < fm.kmer_length:
                fm = with_kmer_table(fm, longest_kmer, threads=1)
            with ThreadPoolExecutor(len(self._gpus)) as pool:
                tasks = [pool.submit(gpu.run, find, fm, reads, share)
                         for gpu, share in zip(self._gpus, shares, strict=True)]  # fmt: skip
                results.append([result for task in tasks for result in task.result()])
        return results

    def _part(self, number: int) -> FmIndex:
        """Return the index of a part, which the first search builds."""
        if number == len(self._parts):
            first, last = self._bounds[number], self._bounds[number + 1]
            self._parts.append(index_part(self._index.fm, first, last, available_threads()))
        return self._parts[number]


class _Gpu:
    """A GPU with memory for an index and memory to search in.

    Parameters
    ----------
    number : int
    index_size, room : int
        Bytes for the index and for the rest.
    """

    def __init__(self, number: int, index_size: int, room: int) -> None:
        self._number = number
        with driver.use(number):
            self._arena = Arena.allocate(min(room, _LARGEST_ARENA))
            self._index_arena = Arena(index_size, self._arena.pinned)

    def hold(self, fm: FmIndex) -> None:
        """Copy an index to the device, in place of the last one."""
        self._index_arena.release(0)
        with driver.use(self._number):
            self._held = upload_index(fm, self._index_arena)
            self._index_arena.stream.synchronize()

    def run(self, find: Callable[..., Result], fm: FmIndex, reads: Reads, segments: Segments) -> list[Result]:
        """Run a search on segments, in batches that fit.

        A batch whose matches do not fit is halved and tried again.

        Raises
        ------
        DeviceError
            When a few reads alone do not fit.
        """
        blocks = cut_evenly(segments.lengths, _BASES_A_BLOCK)
        results, begin, count = [], 0, len(blocks) - 1
        with driver.use(self._number):
            index = self._held
            if fm.kmer_length != index.kmer_length:
                table = self._arena.upload(fm.table)
                index = index._replace(table=table, kmer_length=np.int64(fm.kmer_length))
            mark = self._arena.mark()
            size = max(1, self._arena.free // (_BYTES_A_BASE * _BASES_A_BLOCK))
            while begin < count:
                end = min(begin + size, count)
                part = segments.rows(blocks[begin], blocks[end])
                try:
                    results.append(find(index, fm, self._upload(reads, part), self._arena))
                    begin = end
                except DeviceError:
                    if end - begin == 1:
                        raise
                    size = (end - begin) // 2
                finally:
                    self._arena.stream.synchronize()
                    self._arena.release(mark)
            self._arena.release(0)
        return results

    def _upload(self, reads: Reads, part: Segments) -> Batch:
        """Copy segments, and the words of their reads, to the device."""
        first_word = int(part.packed_starts.min()) // BASES_PER_WORD
        last_word = -(-int((part.packed_starts + part.lengths).max()) // BASES_PER_WORD)
        upload = self._arena.upload
        queries = DeviceQueries(
            upload(reads.words[first_word:last_word]),
            upload(part.packed_starts - first_word * BASES_PER_WORD),
            upload(part.lengths),
        )
        return Batch(queries, part.lengths, upload(part.reads), upload(part.starts))


def _available(device: int, memory: int) -> int:
    with driver.use(device):
        return available_bytes(memory)


def _shares(segments: Segments, count: int) -> list[Segments]:
    """Cut segments into ``n`` shares of about equally many bases."""
    ends = np.cumsum(segments.lengths)
    total = int(ends[-1]) if len(ends) else 0
    bounds = np.searchsorted(ends, [total * i // count for i in range(count)], side="left")
    return [segments.rows(a, b) for a, b in pairwise([*bounds, len(segments)])]


def _matches(batches: list[Found]) -> Matches:
    """Concatenate the matches of successive batches."""
    if len(batches) == 1:
        return Matches(*batches[0][:5])
    return Matches.concat([Matches(*batch[:5]) for batch in batches])
