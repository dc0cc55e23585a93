"""Device memory: how much there is, and work cut so that it fits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from overlapper.errors import DeviceError
from overlapper.runtime.gpu import driver
from overlapper.runtime.threads import for_each

RESERVE = 256 << 20
"""Bytes left to the driver, to kernels and to whatever else the process allocates."""
SMALLEST_ARENA = 1 << 16
"""Bytes below which an arena is of no use."""
_PINNED = 16 << 20
"""Bytes of pinned memory of an arena, at most."""
_CHUNK = 2 << 20
"""Bytes that a thread copies to or from pinned memory."""
_COPYING_THREADS = 4
_SENT = _COPYING_THREADS * _CHUNK
"""Bytes that are sent to the device at a time: half of the pinned memory, while the other half is filled."""
_ALIGNMENT = 256
"""Bytes of which arrays of an arena, and what is copied through pinned memory, start at a multiple."""
_SPARE = 64 * _ALIGNMENT
"""Bytes that the starts of a batch's arrays may waste."""


def available_bytes(budget: int = 0) -> int:
    """Return how many bytes may still be allocated on the current device.

    Parameters
    ----------
    budget : int
        At most this many; 0 takes what is free.
    """
    free = driver.free_bytes()
    return max(0, min(free - RESERVE, budget or free))


class DeviceArray:
    """An array in device memory, in C order.

    Parameters
    ----------
    block : Block
        The memory that it lies in, which stays as long as the array.
    address : int
    shape : tuple of int
    dtype : dtype

    Attributes
    ----------
    address, shape, dtype
    type : str
        What `cubins.Source` calls it.
    """

    __slots__ = ("_block", "address", "dtype", "shape", "type")

    def __init__(self, block: driver.Block, address: int, shape: tuple[int, ...], dtype: Any) -> None:
        self._block, self.address, self.shape, self.dtype = block, address, shape, np.dtype(dtype)
        self.type = f"{self.dtype.char}{len(shape)}"

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def size(self) -> int:
        """How many items it has."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes it takes."""
        return self.size * self.dtype.itemsize

    @property
    def fields(self) -> tuple[int, ...]:
        """Fields of the array as kernels take them; see `launch.layout_of`."""
        strides, stride = [], self.dtype.itemsize
        for length in reversed(self.shape):
            strides.append(stride)
            stride *= length
        return (0, 0, self.size, self.dtype.itemsize, self.address, *self.shape, *reversed(strides))

    def __getitem__(self, key: slice | int) -> DeviceArray:
        """Return some of the first axis, side by side, or one of it."""
        step = self.nbytes // self.shape[0] if self.shape[0] else 0
        if isinstance(key, slice):
            begin, end, stride = key.indices(self.shape[0])
            if stride != 1:
                raise IndexError("device arrays are cut in steps of 1 alone")
            address, shape = self.address + begin * step, (max(0, end - begin), *self.shape[1:])
        else:
            address, shape = self.address + range(self.shape[0])[key] * step, self.shape[1:]
        return DeviceArray(self._block, address, shape, self.dtype)

    def view(self, dtype: Any) -> DeviceArray:
        """Return the same bytes, of one axis, as items of another type."""
        (length,) = self.shape
        items = length * self.dtype.itemsize // np.dtype(dtype).itemsize
        return DeviceArray(self._block, self.address, (items,), dtype)

    def reshape(self, *shape: int) -> DeviceArray:
        """Return the same items in another shape of the same size."""
        if math.prod(shape) != self.size:
            raise ValueError(f"{self.size} items do not have the shape {shape}")
        return DeviceArray(self._block, self.address, shape, self.dtype)


class Arena:
    """One block of device memory from which arrays are cut, one after the other, and a stream.

    Nothing is allocated or freed from batch to batch: that would wait for all kernels of the device, and so
    keep the copies of one batch from hiding behind the kernels of another. Copies go through pinned memory.
    One thread at a time may use an arena, in the context of its device. Its memory is given back when it and
    its arrays are gone.

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
        self._block = driver.Block(size)
        self._used = 0
        self.pinned = driver.pinned_array(min(size, _PINNED)) if pinned is None else pinned
        self._pinned_used = 0
        self.stream = driver.Stream()

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
            except driver.CudaError as error:
                if error.code != driver.OUT_OF_MEMORY:
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

    def array(self, shape: int | tuple[int, ...], dtype: Any) -> DeviceArray:
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
        return DeviceArray(self._block, self._block.address + begin, shape if size else (1,), dtype)

    def zeros(self, length: int, dtype: Any) -> DeviceArray:
        """Cut an array of zeros."""
        array = self.array(length, dtype)
        self.fill(array, 0)
        return array

    def fill(self, array: DeviceArray, byte: int) -> None:
        """Set every byte of an array."""
        self.stream.fill(array.address, array.nbytes, byte)

    def overwrite(self, array: DeviceArray, host: np.ndarray) -> None:
        """Copy an array of the host to one that was cut before."""
        source = host.reshape(-1).view(np.uint8)
        self._send_parts(
            array, len(source), lambda begin, part: _copy(source[begin : begin + len(part)], part)
        )

    def upload(self, array: np.ndarray) -> DeviceArray:
        """Cut an array and copy one from the host to it; the host's may be changed at once."""
        array = np.ascontiguousarray(array)
        target = self.array(array.shape, array.dtype)
        self.overwrite(target, array)
        return target

    def written(self, length: int, dtype: Any, write: Callable[[int, np.ndarray], object]) -> DeviceArray:
        """Cut an array of one axis whose items the host makes, a part at a time.

        Parameters
        ----------
        length : int
        dtype : dtype
        write : callable
            ``write(first, part)`` writes the items from the number ``first`` on to an array; the parts follow
            each other.
        """
        target = self.array(length, dtype)
        size = target.dtype.itemsize
        self._send_parts(target, length * size, lambda begin, part: write(begin // size, part.view(dtype)))
        return target

    def _send_parts(self, target: DeviceArray, size: int, write: Callable[[int, np.ndarray], object]) -> None:
        """Send what ``write(begin, part)`` writes to whole items, a part of so many bytes at a time."""
        step = min(_SENT, len(self.pinned))
        step -= step % target.dtype.itemsize
        for begin in range(0, size, step):
            pinned = self._unused_pinned(min(step, size - begin))
            write(begin, pinned)
            self.stream.write(target.address + begin, pinned)

    def copy_of(self, array: DeviceArray, gpu: int) -> DeviceArray:
        """Cut an array and copy one to it that lies in memory of the GPU of this number."""
        target = self.array(array.shape, array.dtype)
        self.stream.copy(target.address, array.address, gpu, array.nbytes)
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

    def send(self, staged: np.ndarray) -> DeviceArray:
        """Cut an array and copy to it what was filled after `stage`."""
        target = self.array(staged.shape, staged.dtype)
        self.stream.write(target.address, staged)
        return target

    def fetch(self, array: DeviceArray) -> np.ndarray:
        """Return a copy of a device array, if possible in pinned memory: it lasts until the next copy."""
        if array.nbytes > len(self.pinned):
            return self.download(array)
        pinned = self.stage(array.nbytes).view(array.dtype).reshape(array.shape)
        self.stream.read(pinned, array.address)
        self.stream.synchronize()
        return pinned

    def download(self, array: DeviceArray) -> np.ndarray:
        """Return a device array when everything before it in the stream is done."""
        here = np.empty(array.shape, array.dtype)
        self.download_to(here, array)
        return here

    def download_to(self, here: np.ndarray, array: DeviceArray) -> None:
        """Copy the begin of a device array, when everything before it in the stream is done."""
        target = here.reshape(-1).view(np.uint8)
        step = max(1, len(self.pinned) // 2)
        read: tuple[driver.Event, np.ndarray, np.ndarray] | None = None
        self.stream.synchronize()
        # One half of the pinned memory is filled by the device while the other is copied on.
        for number, begin in enumerate(range(0, len(target), step)):
            chunk = target[begin : begin + step]
            pinned = self.pinned[number % 2 * step :][: len(chunk)]
            self.stream.read(pinned, array.address + begin)
            following = driver.Event(self.stream), pinned, chunk
            if read:
                read[0].wait()
                _copy(*read[1:])
            read = following
        if read:
            read[0].wait()
            _copy(*read[1:])
        self._pinned_used = 0

    def _unused_pinned(self, size: int) -> np.ndarray:
        """Return pinned memory that no copy is using."""
        begin = -(-self._pinned_used // _ALIGNMENT) * _ALIGNMENT
        if begin + size > len(self.pinned):
            self.stream.synchronize()
            begin = 0
        self._pinned_used = begin + size
        return self.pinned[begin : begin + size]


def _copy(source: np.ndarray, target: np.ndarray) -> None:
    """Copy bytes, on several threads where there are many, as one is too slow."""
    chunks = [slice(begin, begin + _CHUNK) for begin in range(0, len(source), _CHUNK)]
    threads = min(_COPYING_THREADS, len(chunks))
    for_each(lambda chunk: np.copyto(target[chunk], source[chunk]), chunks, threads)
