"""Searches on GPUs: each holds the index and searches a share of the reads, with the same matches as the CPU.

Each GPU searches its share of the reads in batches that its memory allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from overlapper.errors import DeviceError
from overlapper.index.build import with_kmer_table
from overlapper.index.index import Index, seed_length
from overlapper.index.limits import ANY_NUMBER, check_matches
from overlapper.index.segments import Segments
from overlapper.kernels.index.cuda.fm_index import (
    Batch,
    DeviceQueries,
    index_bytes,
    upload_index,
)
from overlapper.kernels.index.cuda.matches import Found
from overlapper.kernels.index.cuda.mems import find_mems
from overlapper.kernels.index.cuda.smems import find_nov_smems, find_smems
from overlapper.kernels.index.fm_index import FmIndex
from overlapper.runtime.gpu import driver
from overlapper.runtime.gpu.memory import Arena, available_bytes
from overlapper.runtime.threads import cut_evenly
from overlapper.tables import Matches, Reads
from overlapper.tables.reads import BASES_PER_WORD

Result = TypeVar("Result")

SHARE = 0.7
"""Share of the memory for an index; the rest is for reads and matches."""
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
        When the index takes more than `SHARE` of the memory of a GPU.
    """

    def __init__(self, index: Index, devices: Sequence[int] = (0,), *, memory: int = 0) -> None:
        self._index = index
        room, size = min(_available(device, memory) for device in devices), index_bytes(index.fm)
        if size > SHARE * room:
            raise DeviceError(
                f"the index takes {size / 1e9:.3f} GB of GPU memory, and {SHARE * room / 1e9:.3f} GB of "
                f"{room / 1e9:.3f} GB are for it. Use a GPU with more memory, or the CPU"
            )
        self._gpus = [_Gpu(device, index.fm, size, room - size) for device in devices]

    def mems(self, reads: Reads, min_length: int, *, most: int = ANY_NUMBER) -> Matches:
        """Find all maximal exact matches; as `Index.mems`."""

        def find(fm: FmIndex, batch: Batch, arena: Arena) -> Found:
            return find_mems(
                fm, batch, arena, min_length=min_length, seed_length=seed_length(self._index.fm, min_length)
            )

        return self._search(find, reads, min_length, most)

    def smems(self, reads: Reads, min_length: int, *, most: int = ANY_NUMBER) -> Matches:
        """Find all places of all super-maximal exact matches; as `Index.smems`."""
        return self._search(partial(find_smems, min_length=min_length), reads, min_length, most)

    def nov_smems(self, reads: Reads, min_length: int, *, most: int = ANY_NUMBER) -> Matches:
        """Find all places of the greedy non-overlapping matches; as `Index.nov_smems`."""
        return self._search(partial(find_nov_smems, min_length=min_length), reads, min_length, most)

    def _search(self, find: Callable[..., Found], reads: Reads, min_length: int, most: int) -> Matches:
        """Return the matches that a search finds."""
        self._index.for_length(min_length)
        matches = _matches(self._run(find, reads, Segments.of(reads, min_length), min_length))
        check_matches(len(matches), most)
        return matches

    def _run(
        self, find: Callable[..., Result], reads: Reads, segments: Segments, longest_kmer: int
    ) -> list[Result]:
        """Run a search, every GPU on its share of the reads.

        Parameters
        ----------
        find : callable
            ``find(fm, batch, arena)`` searches some segments by an index on the device.
        segments : Segments
            Of the reads.
        longest_kmer : int
            The table may have no longer k-mers.

        Returns
        -------
        list
            Of all batches, in the order of the reads.
        """
        shares, fm = _shares(segments, len(self._gpus)), self._index.fm
        if longest_kmer < fm.kmer_length:
            fm = with_kmer_table(fm, longest_kmer, threads=1)
        with ThreadPoolExecutor(len(self._gpus)) as pool:
            tasks = [pool.submit(gpu.run, find, fm, reads, share)
                     for gpu, share in zip(self._gpus, shares, strict=True)]  # fmt: skip
            return [result for task in tasks for result in task.result()]


class _Gpu:
    """A GPU with an index and memory to search in.

    Parameters
    ----------
    number : int
    fm : FmIndex
    index_size, room : int
        Bytes for the index and for the rest.
    """

    def __init__(self, number: int, fm: FmIndex, index_size: int, room: int) -> None:
        self._number = number
        with driver.use(number):
            self._arena = Arena.allocate(min(room, _LARGEST_ARENA))
            index_arena = Arena(index_size, self._arena.pinned)
            self._held = upload_index(fm, index_arena)
            index_arena.stream.synchronize()

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
                table: Any = self._arena.upload(fm.table)
                index = index._replace(table=table, kmer_length=fm.kmer_length)
            mark = self._arena.mark()
            size = max(1, self._arena.free // (_BYTES_A_BASE * _BASES_A_BLOCK))
            while begin < count:
                end = min(begin + size, count)
                part = segments.rows(blocks[begin], blocks[end])
                try:
                    results.append(find(index, self._upload(reads, part), self._arena))
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
        return Matches(*batches[0])
    return Matches.concat([Matches(*batch) for batch in batches])
