"""The GPUs of a run: the reads that they hold, their memory, and the work that each takes.

A batch of seeds is worked on by a GPU slot, a share of a GPU's memory with a stream of its own. Every GPU has
a few, so that the copies and the planning of one batch hide behind the kernels of another. Who has a batch
waits for the first free slot of any GPU; the largest batches go first.

A GPU holds all reads. Those of a run that do not fit one are a case for tiles.
"""

from __future__ import annotations

import contextlib
import dataclasses
import heapq
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from overlapper.kernels.common.walks import PackedReads, Seeds
from overlapper.runtime.gpu.devices import Device
from overlapper.tables import Reads

if TYPE_CHECKING:
    from overlapper.kernels.common.cuda.walks import DeviceReads
    from overlapper.runtime.gpu.memory import Arena

SLOTS = 3
"""Slots of a GPU: batches that it works on at a time."""
LARGEST_ARENA = 1 << 32
"""Most bytes of GPU memory of a slot, where the GPU holds all reads; more is no faster."""

Found = TypeVar("Found", covariant=True)


class Kernel(Protocol[Found]):
    """A function that extends seeds of reads on a GPU, in the arena of a slot."""

    def __call__(self, reads: DeviceReads, seeds: Seeds, *, arena: Arena) -> Found:
        """Return the results for all seeds."""


@dataclasses.dataclass(frozen=True)
class Slot:
    """A stream and memory for one batch on a GPU."""

    gpu: int
    """Its number."""
    reads: DeviceReads
    """Of the run."""
    arena: Arena
    spare: int = 0
    """Bytes of the GPU that neither the slots nor the reads take."""

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Use the slot's GPU in this thread; arrays of its arena are freed at the end."""
        from overlapper.runtime.gpu import driver

        with driver.use(self.gpu):
            mark = self.arena.mark()
            try:
                yield
            finally:
                self.arena.release(mark)

    def run(self, kernel: Kernel[Found], seeds: Seeds) -> Found:
        """Run a kernel on seeds."""
        with self.working():
            return kernel(self.reads, seeds, arena=self.arena)


class _FreeSlots:
    """Free slots, and batches that wait for one; the largest batch gets the next free slot.

    So large batches do not begin when all others are done, and all GPUs end at about the same time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slots: list[Slot | Exception] = []
        self._waiting: list[tuple[int, int, Future[Slot | Exception]]] = []
        self._numbers = itertools.count()

    def put(self, slot: Slot | Exception) -> None:
        """Add a free slot, or the error for which a GPU has none."""
        with self._lock:
            if self._waiting:
                heapq.heappop(self._waiting)[-1].set_result(slot)
            else:
                self._slots.append(slot)

    def get(self, work: int = 0) -> Slot | Exception:
        """Wait for a slot; equal batches are served in order."""
        with self._lock:
            if self._slots:
                return self._slots.pop(0)
            handed: Future[Slot | Exception] = Future()
            heapq.heappush(self._waiting, (-work, next(self._numbers), handed))
        return handed.result()

    def empty(self) -> bool:
        """Return whether no slot is free."""
        return not self._slots


class Gpus:
    """The GPUs of a run; a context manager, which frees their memory at the end.

    Parameters
    ----------
    devices : sequence of Device
        Usable GPUs. They are made ready while the caller goes on.
    memory : int
        Bytes to take on each at most; 0 takes what is free.
    kernels : sequence of str
        How the names of files begin whose kernels will be needed, as far as known: those that earlier
        processes compiled are loaded at once.

    Attributes
    ----------
    names : list of str
        Of the devices.
    slots : int
        Calls of `run` that are worked on at the same time.
    """

    def __init__(
        self,
        devices: Sequence[Device],
        memory: int = 0,
        kernels: Sequence[str] = (),
    ) -> None:
        self.names = [device.name for device in devices]
        self.slots = SLOTS * len(devices)
        self._memory = memory
        self._kernels = kernels
        self._reads: Future[PackedReads] = Future()
        self._free = _FreeSlots()
        self._counts: dict[str, int] = {}
        self._counting = threading.Lock()
        self._openings = [threading.Thread(target=self._open, args=(device.number,)) for device in devices]
        for opening in self._openings:
            opening.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory of the GPUs, which must not be in use."""
        self._reads.cancel()
        for opening in self._openings:
            opening.join()
        while not self._free.empty():
            self._free.get()

    def hold(self, reads: Reads) -> None:
        """Set the reads of the run; call it once, before `run` and `slot`."""
        self._reads.set_result(PackedReads.of(reads))

    def run(self, kernel: Kernel[Found], seeds: Seeds) -> Found:
        """Run a kernel on seeds, on whichever GPU is free first."""
        with self.slot(len(seeds.query)) as slot:
            return slot.run(kernel, seeds)

    def count(self, name: str, number: int) -> None:
        """Add to a count of the funnel."""
        with self._counting:
            self._counts[name] = self._counts.get(name, 0) + number

    def counts(self) -> dict[str, int]:
        """Return the counts of extension on GPUs for the funnel."""
        return dict(self._counts)

    @contextlib.contextmanager
    def slot(self, work: int = 0) -> Iterator[Slot]:
        """Wait for a free slot of any GPU; larger batches are served before smaller ones.

        Raises
        ------
        DeviceError
            When there is too little memory.
        """
        slot = self._free.get(work)
        try:
            if isinstance(slot, Exception):
                raise slot
            yield slot
        finally:
            self._free.put(slot)

    def _open(self, number: int) -> None:
        """Make the slots of a GPU; an error is raised when a slot is asked for."""
        try:
            for slot in self._slots_of(number):
                self._free.put(slot)
        except CancelledError:
            pass
        except Exception as error:
            self._free.put(error)

    def _slots_of(self, number: int) -> Iterator[Slot]:
        from overlapper.kernels.common.cuda.walks import bytes_of_reads, upload_reads
        from overlapper.runtime.gpu import driver
        from overlapper.runtime.gpu.launch import load_kept
        from overlapper.runtime.gpu.memory import Arena, available_bytes

        with driver.use(number):
            for module in self._kernels:
                load_kept(module)
            available = available_bytes(self._memory)
            size = min(available // (2 * SLOTS), LARGEST_ARENA)
            arenas = [Arena.allocate(size) for _ in range(SLOTS)]
            reads = self._reads.result()
            needed = bytes_of_reads(len(reads.words), len(reads.lengths), len(reads.unknown_start))
            if needed > available - SLOTS * size:
                arenas.clear()
                size = max(0, available - needed) // SLOTS
                arenas = [Arena.allocate(size) for _ in range(SLOTS)]
            resident = upload_reads(reads, Arena(needed, arenas[0].pinned))
            for arena in arenas:
                yield Slot(number, resident, arena, max(0, available - SLOTS * size - needed))


class Opening:
    """The GPUs of a run, opened by a thread before their reads are there, and closed by it.

    It is a context manager, at whose end they are closed.

    Parameters
    ----------
    choose : callable
        Gives usable GPUs, or the CPU, when the driver has answered. What it raises is raised where the GPUs
        are waited for.
    memory : int
        Bytes to take on each GPU at most; 0 takes what is free.
    kernels : sequence of str
        As `Gpus` takes it.
    closed : callable, optional
        Is called with the names of the GPUs when they are closed.

    Attributes
    ----------
    chosen : Future
        Of what ``choose`` gives.
    """

    def __init__(
        self,
        choose: Callable[[], Sequence[Device]],
        memory: int,
        kernels: Sequence[str],
        closed: Callable[[Sequence[str]], object] = lambda names: None,
    ) -> None:
        self._closed = closed
        self._thread = ThreadPoolExecutor(1)
        self.chosen = self._thread.submit(choose)
        self._opened = self._thread.submit(self._open, memory, kernels)
        self._closing: Future[None] | None = None

    def hold(self, reads: Reads) -> None:
        """Set the reads of the run; to be called once, before the GPUs are used."""

        def held(opened: Future[Gpus | None]) -> None:
            if not opened.exception() and (gpus := opened.result()):
                gpus.hold(reads)

        self._opened.add_done_callback(held)

    def __call__(self) -> Gpus | None:
        """Wait until they are known, and return them; None for the CPU."""
        return self._opened.result()

    def close(self) -> None:
        """Begin to give back what the run has on the GPUs, which nothing may use any more."""
        if not self._closing:
            self._closing = self._thread.submit(self._close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._thread.shutdown()

    def _open(self, memory: int, kernels: Sequence[str]) -> Gpus | None:
        devices = self.chosen.result()
        return None if devices[0].name == "cpu" else Gpus(devices, memory, kernels)

    def _close(self) -> None:
        if gpus := self._opened.result():
            gpus.close()
            self._closed(gpus.names)
