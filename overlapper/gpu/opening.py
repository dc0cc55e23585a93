"""GPUs that are opened and closed while the rest of a run goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from overlapper.gpu.gpus import Gpus
from overlapper.runtime.gpu.devices import Device
from overlapper.tables import Reads


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
        self._memory, self._kernels, self._closed = memory, kernels, closed
        self._reads: Future[Reads] = Future()
        self._gpus: Gpus | None = None
        self._thread = ThreadPoolExecutor(1)
        self.chosen = self._thread.submit(choose)
        self._opened = self._thread.submit(self._open)
        self._closing: Future[None] | None = None

    def hold(self, reads: Reads) -> None:
        """Set the reads of the run; to be called once, before the GPUs are waited for."""
        self._reads.set_result(reads)

    def __call__(self) -> Gpus | None:
        """Wait until they are open, and return them; None for the CPU."""
        return self._opened.result()

    def close(self) -> None:
        """Begin to give back what the run has on the GPUs, which nothing may use any more."""
        if not self._closing:
            self._reads.cancel()
            self._closing = self._thread.submit(self._close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._thread.shutdown()

    def _open(self) -> Gpus | None:
        devices = self.chosen.result()
        if devices[0].name == "cpu":
            return None
        self._gpus = Gpus(devices, self._memory, kernels=self._kernels)
        self._gpus.hold(self._reads.result())
        return self._gpus

    def _close(self) -> None:
        if self._gpus:
            self._gpus.close()
            self._closed(self._gpus.names)
