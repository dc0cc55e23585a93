"""Kernels that have a thread for each item."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import cuda

from overlapper.kernels.cuda.memory import Arena, launching

THREADS = 128
"""Threads of a block."""
LEAST_BLOCKS = 128
"""Blocks of a launch at least: numba warns of fewer, and those without work end at once."""

_times: dict[str, float] | None = None


@contextmanager
def kernel_times() -> Iterator[dict[str, float]]:
    """Collect the seconds that kernels take, by their names; each launch is then waited for."""
    global _times
    _times = {}
    try:
        yield _times
    finally:
        _times = None


def launch(kernel: Any, items: int, arena: Arena, *arguments: Any) -> None:
    """Start a kernel that has a thread for each item, in the stream of an arena."""
    shape = max(LEAST_BLOCKS, -(-items // THREADS)), THREADS, arena.stream
    if _times is None:
        with launching:
            kernel[shape](*arguments)
        return
    begin, end, name = cuda.event(), cuda.event(), kernel.py_func.__name__
    begin.record(arena.stream)
    kernel[shape](*arguments)
    end.record(arena.stream)
    end.synchronize()
    _times[name] = _times.get(name, 0.0) + begin.elapsed_time(end) / 1000
