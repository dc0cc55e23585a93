"""Plain pairs on one GPU: a batch goes there in chunks, several at a time.

A thread takes the next chunk of a batch, packs it into pinned memory, copies it, launches the kernels, waits
for them, and copies what they found to its place in the result. While it packs or copies, the kernels of
other threads run. Each thread has a stream and memory of its own, taken once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from overlapper.errors import ParameterError
from overlapper.extend.block_pool import BlockPool
from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.pairwise import pairwise as cpu
from overlapper.kernels.pairwise.pairwise_chunks import Extent, chunk_in, extent_of, mean_bytes_of, pack

if TYPE_CHECKING:
    from overlapper.kernels.pairwise.cuda.pairwise import PairAligner

SLOTS = 16
"""Chunks that a GPU has in hand at most, a thread each."""
LARGEST_ARENA = 2 << 30
"""Bytes of GPU memory of a thread; more would not make it faster."""
CHUNK_BYTES = 32 << 20
"""Bytes of a chunk: launching takes as long for fewer, and for more the first one would be waited for."""
_SHARE = 15 / 16
"""How much of a chunk is given to pairs of mean size, so that those of one seldom come to need two."""
_SPARE_RUNS = 1 / 8
"""Room for CIGARs beyond what the pairs so far lead to expect."""


Part = TypeVar("Part")
Result = TypeVar("Result")


def joined(
    pool: ThreadPoolExecutor, works: Sequence[Callable[[], Part]], made_of: Callable[[list[Part]], Result]
) -> Future[Result]:
    """Return the future of what is made of the results of all calls together, by the last one done."""
    whole: Future[Result] = Future()
    whole.set_running_or_notify_cancel()
    lock, left = threading.Lock(), [len(works)]

    def done(_: Future[Part]) -> None:
        with lock:
            left[0] -= 1
            if left[0]:
                return
        try:
            whole.set_result(made_of([part.result() for part in parts]))
        except BaseException as error:
            whole.set_exception(error)

    parts = [pool.submit(work) for work in works]
    for part in parts:
        part.add_done_callback(done)
    return whole


class BatchResult:
    """The result of a batch, which threads fill chunk by chunk.

    Parameters
    ----------
    pairs : int
    wanted : int
        What is asked for.
    memory : BlockPool
        Where it is kept.

    Attributes
    ----------
    fields : tuple of ndarray of int32, shape (n,)
        As `FIELDS` of the CPU's kernels says; those that are not wanted are empty.
    cigar_offsets : ndarray of int64, shape (n + 1,)
    failed : bool
    """

    def __init__(self, pairs: int, wanted: int, memory: BlockPool) -> None:
        starts = wanted != cpu.ENDS
        is_wanted = (True, starts, True, starts, True, starts, starts)
        self.fields = tuple(memory.array(pairs if is_there else 0, np.int32) for is_there in is_wanted)
        self.cigar_offsets = memory.array(pairs + 1 if wanted == cpu.PATHS else 1, np.int64)
        self.cigar_offsets[0] = 0
        self._cigar, self._memory = memory.array(0, np.uint32), memory
        self._used = self._writing = self._placed = 0
        self._changed = threading.Condition()
        self.failed = False

    def fail(self) -> None:
        """Mark the batch as failed, so that no thread waits for its other chunks."""
        with self._changed:
            self.failed = True
            self._changed.notify_all()

    def cigar(self) -> np.ndarray:
        """Return the operations of all pairs."""
        return self._cigar[: self._used]

    @contextmanager
    def place(self, extent: Extent, runs: np.ndarray) -> Iterator[np.ndarray]:
        """Return where the CIGARs of a chunk go, once the chunks before it have their place.

        Parameters
        ----------
        runs : ndarray of int64, shape (n + 1,)
            Runs before each pair of the chunk.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._placed == extent.begin or self.failed)
            begin, end = self._used, self._used + int(runs[-1])
            if end > len(self._cigar):
                self._changed.wait_for(lambda: not self._writing or self.failed)
                expected = end / extent.end * (len(self.cigar_offsets) - 1) * (1 + _SPARE_RUNS)
                larger = self._memory.array(max(end, int(expected)), np.uint32)
                larger[:begin] = self._cigar[:begin]
                self._cigar = larger
            here = self._cigar[begin:end]
            self._used, self._placed, self._writing = end, extent.end, self._writing + 1
            self._changed.notify_all()
        try:
            np.add(runs[1:], begin, out=self.cigar_offsets[extent.begin + 1 : extent.end + 1])
            yield here
        finally:
            with self._changed:
                self._writing -= 1
                self._changed.notify_all()


class GpuPairs:
    """Aligns batches on one GPU.

    Parameters
    ----------
    gpu : int
        Its number.
    scheme : Scheme
    wanted : int
        `ENDS`, `STARTS` or `PATHS` of the CPU's kernels.
    threads : int
        Of the CPU, at most.
    memory : int
        Bytes of GPU memory that a thread takes, at most.
    """

    def __init__(
        self, gpu: int, scheme: cpu.Scheme, wanted: int, threads: int, memory: int = LARGEST_ARENA
    ) -> None:
        self._gpu, self._scheme, self._wanted, self._memory = gpu, scheme, wanted, memory
        self._slots = min(threads, SLOTS)
        self.pool = ThreadPoolExecutor(self._slots)
        self._own = threading.local()
        self._memory_of_results = BlockPool()

    def submit(
        self,
        queries: PackedReads,
        targets: PackedReads,
        pairs: cpu.Pairs,
        made_of: Callable[[BatchResult], Result],
    ) -> Future[Result]:
        """Take a batch and return at once; the future is of what ``made_of`` makes of what is found."""
        found = BatchResult(len(pairs.query), self._wanted, self._memory_of_results)
        batch = _Batch(queries, targets, pairs, self._scheme, found)
        workers = max(1, min(self._slots, batch.shares(CHUNK_BYTES)))
        return joined(self.pool, [partial(self._work, batch)] * workers, lambda _: made_of(found))

    def _work(self, batch: _Batch) -> None:
        """Align chunks of a batch until there are none left."""
        from overlapper.runtime.gpu import driver

        try:
            with driver.use(self._gpu):
                aligner = self._aligner()
                while (share := batch.next_share(aligner.room)) is not None:
                    for extent in batch.extents(*share, aligner.room):
                        self._align(batch, extent, aligner)
        except BaseException:
            batch.found.fail()
            raise

    def _aligner(self) -> PairAligner:
        """Return what this thread aligns with: its memory is taken once."""
        from overlapper.kernels.pairwise.cuda.pairwise import PairAligner
        from overlapper.runtime.gpu import driver
        from overlapper.runtime.gpu.memory import Arena, available_bytes

        if not hasattr(self._own, "aligner"):
            size = min(available_bytes() // (self._slots + 1), self._memory)
            arena = Arena.allocate(size, driver.pinned_array(min(size, CHUNK_BYTES)))
            self._own.aligner = PairAligner(self._scheme, self._wanted, arena)
        return self._own.aligner

    def _align(self, batch: _Batch, extent: Extent, aligner: PairAligner) -> None:
        """Align a chunk and put what is found to its place."""
        block = aligner.stage(extent)
        starts = pack(
            batch.queries, batch.targets, batch.pairs, extent.begin, aligner.classes, chunk_in(block, extent)
        )
        left = aligner.align(extent, block, starts)
        found = aligner.found()
        for field, numbers in zip(batch.found.fields, found, strict=False):
            if len(field):
                field[extent.begin : extent.end] = numbers
        runs = np.zeros(extent.end - extent.begin + 1, np.int64)
        if self._wanted == cpu.PATHS:
            np.cumsum(found[-1], out=runs[1:])
        if len(left):
            self._align_with_left(batch, extent, aligner, runs, left)
        elif self._wanted == cpu.PATHS:
            with batch.found.place(extent, runs) as here:
                aligner.write_cigars(runs, here)

    def _align_with_left(
        self, batch: _Batch, extent: Extent, aligner: PairAligner, runs: np.ndarray, left: np.ndarray
    ) -> None:
        """Align some pairs of a chunk on the CPU, and put their alignments among those of the GPU."""
        some = cpu.Pairs(*(column[extent.begin + left] for column in batch.pairs))
        rows, their_cigar, their_offsets = cpu.align_pairs(
            batch.queries, batch.targets, some, self._scheme, 32, self._wanted
        )
        for field, numbers in zip(batch.found.fields, rows.T, strict=True):
            if len(field):
                field[extent.begin + left] = numbers
        if self._wanted != cpu.PATHS:
            return
        cigar = np.empty(runs[-1], np.uint32)
        aligner.write_cigars(runs, cigar)
        counts, is_theirs = np.diff(runs), np.zeros(len(runs) - 1, bool)
        counts[left], is_theirs[left] = np.diff(their_offsets), True
        theirs = np.repeat(is_theirs, counts)
        with batch.found.place(extent, np.concatenate([[0], counts.cumsum()])) as here:
            here[theirs], here[~theirs] = their_cigar, cigar


class _Batch:
    """A batch of which threads take chunks in turn."""

    def __init__(
        self,
        queries: PackedReads,
        targets: PackedReads,
        pairs: cpu.Pairs,
        scheme: cpu.Scheme,
        found: BatchResult,
    ) -> None:
        self.queries, self.targets, self.pairs, self.found = queries, targets, pairs, found
        self._scheme, self._begin, self._taking = scheme, 0, threading.Lock()
        self._mean_bytes = mean_bytes_of(queries, targets)

    def next_share(self, room: int) -> tuple[int, int] | None:
        """Return the next pairs, about a chunk of ``room`` bytes; None if there are none, or one failed.

        As many as would fit if all were of mean size: to measure them is left to who takes them.
        """
        with self._taking:
            begin, count = self._begin, len(self.pairs.query)
            if begin == count or self.found.failed:
                return None
            self._begin = min(count, begin + self._share_of(room))
            return begin, self._begin

    def shares(self, room: int) -> int:
        """Return how many shares there are for chunks of ``room`` bytes."""
        return -(-len(self.pairs.query) // self._share_of(room))

    def _share_of(self, room: int) -> int:
        return max(1, int(_SHARE * room / self._mean_bytes))

    def extents(self, begin: int, end: int, room: int) -> Iterator[Extent]:
        """Yield the chunks of a share, of at most ``room`` bytes each."""
        while begin < end:
            extent = extent_of(self.queries, self.targets, self.pairs, begin, end, room)
            self._check(extent)
            yield extent
            begin = extent.end

    def _check(self, extent: Extent) -> None:
        from overlapper.kernels.pairwise.cuda.pairwise import LONGEST, fits_device

        longest = np.array([extent.q_longest]), np.array([extent.t_longest])
        if fits_device(*longest, self._scheme).all():
            return
        q_lengths = self.queries.lengths[self.pairs.query[extent.begin : extent.end]]
        t_lengths = self.targets.lengths[self.pairs.target[extent.begin : extent.end]]
        too_much = np.flatnonzero(~fits_device(q_lengths, t_lengths, self._scheme))
        if len(too_much):
            pair = too_much[0]
            raise ParameterError(
                f"pair {extent.begin + pair}: sequences of {q_lengths[pair]} and {t_lengths[pair]} bases are "
                "too long, or may score too much, for the GPU's kernels "
                f"({LONGEST} bases, scores of 27 bits). Use the CPU or smaller scores"
            )
