"""Kernels that have a thread for each item."""

from __future__ import annotations

from typing import Any

from overlapper.kernels.cuda.memory import Arena, launching

THREADS = 128
"""Threads of a block."""
LEAST_BLOCKS = 128
"""Blocks of a launch at least: numba warns of fewer, and those without work end at once."""


def launch(kernel: Any, items: int, arena: Arena, *arguments: Any) -> None:
    """Start a kernel that has a thread for each item, in the stream of an arena."""
    blocks = max(LEAST_BLOCKS, -(-items // THREADS))
    with launching:
        kernel[blocks, THREADS, arena.stream](*arguments)
