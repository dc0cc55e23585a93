"""Seconds of kernels, as the GPU measures them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from overlapper.runtime.gpu.driver import Event
from overlapper.runtime.gpu.launch import Kernel


class Launch(NamedTuple):
    """A launch: of which kernel, what it was given, and how long it took."""

    kernel: Kernel
    arguments: tuple[Any, ...]
    seconds: float


@contextmanager
def timed_launches() -> Iterator[list[Launch]]:
    """Yield a list that every launch is added to; each waits until the kernel has ended."""
    launch, launches = Kernel.launch, []

    def timed(kernel, blocks, threads, stream, *arguments):
        begin = Event(stream)
        launch(kernel, blocks, threads, stream, *arguments)
        launches.append(Launch(kernel, arguments, Event(stream).seconds_since(begin)))

    Kernel.launch = timed
    try:
        yield launches
    finally:
        Kernel.launch = launch
