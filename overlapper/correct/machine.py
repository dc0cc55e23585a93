"""Threads, memory and devices that the consensus may use; none of them changes the result."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from overlapper.runtime.gpu.devices import Device
from overlapper.tables import Reads

if TYPE_CHECKING:
    from overlapper.gpu.gpus import Gpus


class Workers(NamedTuple):
    """The GPUs or threads that find the consensus of reads.

    Attributes
    ----------
    threads : int
    gpus : Gpus or None
        That hold the reads and their qualities; they vote instead of the CPU.
    """

    threads: int = 1
    gpus: Gpus | None = None


@dataclasses.dataclass(frozen=True)
class Machine:
    """What a run may use.

    Attributes
    ----------
    threads : int
    devices : sequence of Device
        Usable GPUs, or the CPU.
    gpu_memory : int
        Bytes to take on each GPU at most; 0 takes what is free.
    """

    threads: int
    devices: Sequence[Device]
    gpu_memory: int

    @contextlib.contextmanager
    def holding(self, reads: Reads | None) -> Iterator[Workers]:
        """Yield workers for the consensus of some reads; None if they are not all in memory."""
        # Imported here, as numba takes long to load.
        from overlapper.gpu.gpus import opened

        with opened(self.devices, self.gpu_memory, reads) as gpus:
            yield Workers(self.threads, gpus)
