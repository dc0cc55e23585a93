"""Threads and devices of a consensus; neither changes the result."""

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


FAST_THREADS = 8
"""Threads for each GPU from which on they vote sooner without it, as they would wait for its last windows.
With 4 it makes an assembly faster, with 8 it changes nothing, with 16 it makes it slower (reads of the MHC,
an H200; ``docs/notes/gpu.md``)."""


class Workers(NamedTuple):
    """Threads, and GPUs that hold the reads, for one consensus.

    Attributes
    ----------
    threads : int
    gpus : Gpus or None
        They hold the reads with qualities, and vote instead of the CPU.
    """

    threads: int = 1
    gpus: Gpus | None = None


def voting_devices(device: str, devices: Sequence[Device], threads: int) -> Sequence[Device]:
    """Return the devices that vote; of GPUs that are not asked for, none where there are many threads.

    Parameters
    ----------
    device : str
        As the user asked for it.
    devices : sequence of Device
        Those that `overlapper.runtime.gpu.devices.select_devices` returns for it.
    threads : int
    """
    if device == "auto" and threads >= FAST_THREADS * len(devices):
        return select_devices("cpu")
    return devices


@dataclasses.dataclass(frozen=True)
class Machine:
    """Threads, devices and GPU memory that a run may use.

    Attributes
    ----------
    threads : int
    device : str
        As the user asked for it (`overlapper.runtime.gpu.devices.select_devices`).
    devices : sequence of Device
        Those that vote: GPUs, or the CPU.
    gpu_memory : int
        Bytes to take on each GPU at most; 0 takes what is free.
    """

    threads: int
    device: str
    devices: Sequence[Device]
    gpu_memory: int

    @classmethod
    def of(cls, threads: int, device: str, gpu_memory: int) -> Self:
        """Look for the devices, and return the machine."""
        return cls(threads, device, voting_devices(device, select_devices(device), threads), gpu_memory)

    def for_overlaps(self, changes: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the device arguments of a search for overlaps with these changes of parameters."""
        return {"device": device_within(changes, self.device), "gpu_memory": self.gpu_memory}

    @contextlib.contextmanager
    def holding(self, reads: Reads | None) -> Iterator[Workers]:
        """Yield workers for a consensus, with ``reads`` on its GPUs; None for reads on disk."""
        # Imported here, as numba takes long to load.
        from overlapper.gpu.gpus import opened

        with opened(self.devices, self.gpu_memory, reads) as gpus:
            yield Workers(self.threads, gpus)
