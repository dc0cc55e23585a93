"""Threads, memory and devices that the consensus may use; none of them changes the result."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from overlapper.extend.registry import device_within
from overlapper.runtime.gpu.devices import Device, select_devices
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
    device : str
        As `overlapper.runtime.gpu.devices.select_devices` takes it.
    devices : sequence of Device
        These: usable GPUs, or the CPU.
    gpu_memory : int
        Bytes to take on each GPU at most; 0 takes what is free.
    """

    threads: int
    device: str
    devices: Sequence[Device]
    gpu_memory: int

    @classmethod
    def of(cls, threads: int, device: str, gpu_memory: int) -> Self:
        """Return a machine, whose devices are looked for."""
        return cls(threads, device, select_devices(device), gpu_memory)

    def for_overlaps(self, changes: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the arguments for devices of finding overlaps with these changes of parameters."""
        return {"device": device_within(changes, self.device), "gpu_memory": self.gpu_memory}

    @contextlib.contextmanager
    def holding(self, reads: Reads | None) -> Iterator[Workers]:
        """Yield workers for the consensus of some reads; None if they are not all in memory."""
        # Imported here, as numba takes long to load.
        from overlapper.gpu.gpus import opened

        with opened(self.devices, self.gpu_memory, reads) as gpus:
            yield Workers(self.threads, gpus)
