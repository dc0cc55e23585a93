"""Device memory: how much there is, and work cut so that it fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numba import cuda
from numba.cuda.cudadrv.driver import CudaAPIError, device_memset

from overlapper.errors import DeviceError

Result = TypeVar("Result")

RESERVE = 256 << 20
"""Bytes left to the driver, to kernels and to whatever else the process allocates."""
_OUT_OF_MEMORY = 2
"""The driver's CUDA_ERROR_OUT_OF_MEMORY."""


def available_bytes(budget: int = 0) -> int:
    """Return how many bytes may still be allocated on the current device.

    Parameters
    ----------
    budget : int
        At most this many; 0 takes what is free.
    """
    free, _ = cuda.current_context().get_memory_info()
    return max(0, min(int(free) - RESERVE, budget or int(free)))


def require_memory(wanted: int, purpose: str) -> None:
    """Raise an error that says what is missing if the device has not so many bytes free.

    Raises
    ------
    DeviceError
    """
    available = available_bytes()
    if wanted > available:
        raise DeviceError(
            f"{purpose} take {wanted / 1e9:.2f} GB of GPU memory, and {available / 1e9:.2f} GB are free. "
            "Use a GPU with more memory, fewer reads at once, or the CPU"
        )


def to_device(array: np.ndarray) -> Any:
    """Copy an array to the device; an empty one takes one item, as the device has no empty allocations."""
    array = np.ascontiguousarray(array)
    return cuda.to_device(array if len(array) else np.zeros(1, array.dtype))


def zeros_on_device(length: int, dtype: type) -> Any:
    """Allocate zeros on the device, one at least."""
    array = cuda.device_array(max(length, 1), dtype)
    device_memset(array, 0, array.nbytes)
    return array


def in_batches(
    work: Callable[[int, int], Result], count: int, bytes_each: int | np.ndarray, budget: int = 0
) -> Iterator[Result]:
    """Yield ``work(begin, end)`` for slices of ``[0, count)`` that fit the device's memory.

    A slice for which an allocation fails all the same is halved and tried again, and so are those after it.

    Parameters
    ----------
    work : callable
    count : int
    bytes_each : int, or ndarray of int64, shape (count,)
        Device memory that each item takes.
    budget : int
        Bytes to take at most; 0 for what is free.

    Raises
    ------
    DeviceError
        When there is not even memory for one item.
    """
    taken = np.concatenate([[0], np.cumsum(np.broadcast_to(bytes_each, count))])
    room, begin = available_bytes(budget), 0
    while begin < count:
        end = max(begin + 1, int(np.searchsorted(taken, taken[begin] + room, side="right")) - 1)
        try:
            result = work(begin, end)
        except CudaAPIError as error:
            if error.code != _OUT_OF_MEMORY:
                raise
            if end - begin == 1:
                raise DeviceError(
                    f"the GPU has no memory left for a single item of {taken[end] - taken[begin]} bytes. "
                    "End what else runs on it, use another GPU, or the CPU"
                ) from None
            room = int(taken[end] - taken[begin]) // 2
            continue
        yield result
        begin = end
