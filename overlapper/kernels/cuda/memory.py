"""Device memory: how much there is, and work cut so that it fits."""

from __future__ import annotations

import atexit
import contextlib
import math
import threading
from typing import Any

import numpy as np
from numba import cuda
from numba.cuda.cudadrv.driver import CudaAPIError, device_memset

from overlapper.errors import DeviceError
from overlapper.threads import map_in_order

launching = threading.Lock()
"""To hold while a kernel is launched: two threads that do so for the first time would both compile it."""
RESERVE = 256 << 20
"""Bytes left to the driver, to kernels and to whatever else the process allocates."""
SMALLEST_ARENA = 1 << 16
"""Bytes below which an arena is of no use."""
_PINNED = 16 << 20
"""Bytes of pinned memory of an arena, at most."""
_PIECE = 2 << 20
"""Bytes that a thread copies to or from pinned memory."""
_COPYING_THREADS = 4
_ALIGNMENT = 256
"""Bytes of which arrays of an arena, and what is copied through pinned memory, start at a multiple."""
_SPARE = 64 * _ALIGNMENT
"""Bytes that the starts of a batch's arrays may waste."""
_OUT_OF_MEMORY = 2
"""The driver's CUDA_ERROR_OUT_OF_MEMORY."""
_at_exit = contextlib.ExitStack()
_left_to_the_driver: set[int] = set()


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


def free_dropped() -> None:
    """Give back what arrays and streams that are gone held on the current device; numba keeps it a while."""
    context = cuda.current_context()
    context.memory_manager.deallocations.clear()
    context.deallocations.clear()


def leave_to_the_driver() -> None:
    """Let the driver, not numba, unload the kernels of the current device when the process ends.

    numba unloads a kernel once for every GPU that ran it, but loads it once for all GPUs of a kind: the
    second time, the process would crash, its work done.
    """
    context = cuda.current_context()
    if context.device.id not in _left_to_the_driver:
        _left_to_the_driver.add(context.device.id)
        atexit.register(_at_exit.enter_context, context.defer_cleanup())


def to_device(array: np.ndarray) -> Any:
    """Copy an array to the device; an empty one takes one item, as the device has no empty allocations."""
    array = np.ascontiguousarray(array)
    return cuda.to_device(array if len(array) else np.zeros(1, array.dtype))


class Arena:
    """One block of device memory from which arrays are cut, one after the other, and a stream.

    Nothing is allocated or freed from batch to batch: that would wait for all kernels of the device, and so
    keep the copies of one batch from hiding behind the kernels of another. Copies go through pinned memory.
    One thread at a time may use an arena, in the context of its device.

    Parameters
    ----------
    size : int
        In bytes.
    pinned : ndarray of uint8, optional
        Pinned memory that nobody else uses meanwhile; its own by default, which takes long to get.

    Attributes
    ----------
    pinned : ndarray of uint8
    stream : stream
        In which its copies are, and all kernels that use its arrays should be.
    """

    def __init__(self, size: int, pinned: np.ndarray | None = None) -> None:
        self._block = cuda.device_array(size, np.uint8)
        # Behind an allocation, with which numba registers its own cleaning: what comes last is done first.
        leave_to_the_driver()
        self._used = 0
        self.pinned = cuda.pinned_array(min(size, _PINNED), np.uint8) if pinned is None else pinned
        self._pinned_used = 0
        self.stream = cuda.stream()

    @classmethod
    def allocate(cls, size: int, pinned: np.ndarray | None = None) -> Arena:
        """Return an arena of so many bytes, or of half as many as often as that fails.

        Raises
        ------
        DeviceError
            When there is not even memory for a small one.
        """
        while size >= SMALLEST_ARENA:
            try:
                return cls(size, pinned)
            except CudaAPIError as error:
                if error.code != _OUT_OF_MEMORY:
                    raise
            size //= 2
        raise DeviceError(
            f"there are not even {SMALLEST_ARENA >> 10} kB of GPU memory for a batch of extensions. Allow "
            "more with --gpu-memory, end what else runs on the GPU, use another one, or the CPU"
        )

    @property
    def free(self) -> int:
        """Bytes that are left, when arrays waste none."""
        return max(0, self._block.size - self._used - _SPARE)

    def mark(self) -> int:
        """Return where the next array starts, for `release`."""
        return self._used

    def release(self, mark: int) -> None:
        """Give back all arrays that were cut since ``mark``."""
        self._used = mark

    def array(self, shape: int | tuple[int, ...], dtype: Any) -> Any:
        """Cut an array, of one item at least; what it holds is arbitrary.

        Raises
        ------
        DeviceError
            When it does not fit.
        """
        shape = shape if isinstance(shape, tuple) else (shape,)
        size = math.prod(shape) * np.dtype(dtype).itemsize
        begin, self._used = self._used, self._used + -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
        if self._used > self._block.size:
            raise DeviceError(
                f"{self._used} bytes of GPU memory are needed at once, and {self._block.size} may be used. "
                "Allow more with --gpu-memory, use a GPU with more memory, or the CPU"
            )
        if not size:
            return self._block[begin : begin + np.dtype(dtype).itemsize].view(dtype)
        return self._block[begin : begin + size].view(dtype).reshape(*shape)

    def zeros(self, length: int, dtype: Any) -> Any:
        """Cut an array of zeros."""
        array = self.array(length, dtype)
        device_memset(array, 0, array.nbytes, stream=self.stream)
        return array

    def upload(self, array: np.ndarray) -> Any:
        """Cut an array and copy one from the host to it; the host's may be changed at once."""
        array = np.ascontiguousarray(array)
        target = self.array(array.shape, array.dtype)
        if array.nbytes:
            source, there = array.reshape(-1).view(np.uint8), target.reshape(array.size).view(np.uint8)
            for begin in range(0, array.nbytes, len(self.pinned)):
                end = min(begin + len(self.pinned), array.nbytes)
                pinned = self._unused_pinned(end - begin)
                _copy(source[begin:end], pinned)
                there[begin:end].copy_to_device(pinned, stream=self.stream)
        return target

    def stage(self, size: int) -> np.ndarray:
        """Return pinned memory to fill and to `send`; it holds until the next copy of any kind.

        Raises
        ------
        DeviceError
            When there is not as much.
        """
        if size > len(self.pinned):
            raise DeviceError(
                f"{size} bytes of pinned memory are needed at once, and {len(self.pinned)} were taken. Use a "
                "GPU with more memory, or the CPU"
            )
        return self._unused_pinned(size)

    def send(self, staged: np.ndarray) -> Any:
        """Cut an array and copy to it what was filled after `stage`."""
        target = self.array(staged.shape, staged.dtype)
        target.copy_to_device(staged, stream=self.stream)
        return target

    def fetch(self, array: Any) -> np.ndarray:
        """Return a device array in pinned memory, where it stays until the next copy of any kind."""
        pinned = self.stage(array.nbytes).view(array.dtype).reshape(array.shape)
        array.copy_to_host(pinned, stream=self.stream)
        self.stream.synchronize()
        return pinned

    def download(self, array: Any) -> np.ndarray:
        """Return a device array when everything before it in the stream is done."""
        here = np.empty(array.shape, array.dtype)
        self.download_to(here, array)
        return here

    def download_to(self, here: np.ndarray, array: Any) -> None:
        """Copy the begin of a device array, when everything before it in the stream is done."""
        target = here.reshape(-1).view(np.uint8)
        there = array.reshape(array.size).view(np.uint8)
        for begin in range(0, len(target), len(self.pinned)):
            end = min(begin + len(self.pinned), len(target))
            pinned = self._unused_pinned(end - begin)
            there[begin:end].copy_to_host(pinned, stream=self.stream)
            self.stream.synchronize()
            _copy(pinned, target[begin:end])

    def _unused_pinned(self, size: int) -> np.ndarray:
        """Return pinned memory that no copy is using."""
        begin = -(-self._pinned_used // _ALIGNMENT) * _ALIGNMENT
        if begin + size > len(self.pinned):
            self.stream.synchronize()
            begin = 0
        self._pinned_used = begin + size
        return self.pinned[begin : begin + size]


def _copy(source: np.ndarray, target: np.ndarray) -> None:
    """Copy bytes; where there are many, on several threads, as one does not keep up with the device."""

    def copy_piece(begin: int) -> None:
        target[begin : begin + _PIECE] = source[begin : begin + _PIECE]

    pieces = range(0, len(source), _PIECE)
    for _ in map_in_order(copy_piece, pieces, min(len(pieces), _COPYING_THREADS)):
        pass
