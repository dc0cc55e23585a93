"""The CUDA driver, as host code needs it: GPUs, memory, streams, kernels that are compiled.

A thin layer over cuda.bindings, which loads in a tenth of the time that numba-cuda takes. numba-cuda only
compiles, and is not loaded where nothing is left to compile (`cubins`).

Every function works on the GPU that is current in its thread (`use`), the first one by default. Its context
is the primary one, which all libraries of the process share; it stays until the process ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from cuda.bindings import driver

from overlapper.errors import DeviceError

OUT_OF_MEMORY = 2
"""The driver's CUDA_ERROR_OUT_OF_MEMORY."""
_LOADS_FUNCTIONS = 12040
"""The first version with cuFuncLoad."""
_PARAMETERS, _PARAMETERS_SIZE = 1, 2
"""The driver's CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE."""


class CudaError(RuntimeError):
    """A call that the driver refused.

    Attributes
    ----------
    code : int
        The driver's CUresult.
    """

    def __init__(self, code: int, name: str) -> None:
        super().__init__(f"the CUDA driver answers {name} ({code})")
        self.code = code


class Properties(NamedTuple):
    """Name, memory and other properties of a GPU."""

    name: str
    capability: tuple[int, int]
    """Its compute capability."""
    memory: int
    """In bytes."""
    multiprocessors: int


def _call(function: Any, *arguments: Any) -> Any:
    """Return the first of what a function of the driver returns besides its status."""
    status, *values = function(*arguments)
    if int(status):
        raise CudaError(int(status), status.name)
    return values[0] if values else None


@functools.cache
def count() -> int:
    """Return how many GPUs there are.

    Raises
    ------
    RuntimeError
        When there is no driver, or it does not answer (`CudaError`).
    """
    _call(driver.cuInit, 0)
    return int(_call(driver.cuDeviceGetCount))


@functools.cache
def _version() -> int:
    """Return the version of CUDA that the driver knows, 12040 for 12.4."""
    return int(_call(driver.cuDriverGetVersion))


@functools.cache
def properties(number: int) -> Properties:
    """Return what the GPU of this number is; nothing is started on it."""
    count()

    def attribute(name: str) -> int:
        return int(_call(driver.cuDeviceGetAttribute, getattr(driver.CUdevice_attribute, name), number))

    name = _call(driver.cuDeviceGetName, 256, number)
    return Properties(
        bytes(name).partition(b"\0")[0].decode(),
        (
            attribute("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR"),
            attribute("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR"),
        ),
        int(_call(driver.cuDeviceTotalMem, number)),
        attribute("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT"),
    )


@functools.cache
def start(number: int) -> Any:
    """Return the primary context of a GPU; the first call makes it, which takes a while without the lock.

    Raises
    ------
    DeviceError
        When there is no memory for it.
    """
    count()
    try:
        return _call(driver.cuDevicePrimaryCtxRetain, number)
    except CudaError as error:
        if error.code != OUT_OF_MEMORY:
            raise
        raise DeviceError(
            f"GPU {number} has no memory left for another program. End what else runs on it, use another "
            "one, or the CPU"
        ) from None


def end(number: int) -> None:
    """End the primary context of a GPU; nothing that this process has there can be used any more.

    For a process that is about to end, which would do it with one GPU after the other.
    """
    _call(driver.cuDevicePrimaryCtxReset, number)


@contextlib.contextmanager
def use(number: int) -> Iterator[None]:
    """Make a GPU the current one of this thread."""
    _call(driver.cuCtxPushCurrent, start(number))
    try:
        yield
    finally:
        _call(driver.cuCtxPopCurrent)


def current() -> int:
    """Return the number of this thread's GPU; the first one becomes it where there is none."""
    status, device = driver.cuCtxGetDevice()
    if int(status):
        _call(driver.cuCtxSetCurrent, start(0))
        return 0
    return int(device)


def free_bytes() -> int:
    """Return how many bytes of the GPU's memory are free."""
    current()
    return int(_call(driver.cuMemGetInfo))


class Block:
    """A block of the GPU's memory, which is given back with the object.

    Raises
    ------
    CudaError
        With the code `OUT_OF_MEMORY`, for one.
    """

    def __init__(self, size: int) -> None:
        number = current()
        self.address, self.size = int(_call(driver.cuMemAlloc, size)), size
        _when_gone(self, number, driver.cuMemFree, self.address)


class Stream:
    """A CUDA stream: its work is done in order, at the same time as that of other streams."""

    def __init__(self) -> None:
        number = current()
        self.handle = _call(driver.cuStreamCreate, driver.CUstream_flags.CU_STREAM_NON_BLOCKING)
        _when_gone(self, number, driver.cuStreamDestroy, self.handle)

    def synchronize(self) -> None:
        """Wait until all is done."""
        _call(driver.cuStreamSynchronize, self.handle)

    def write(self, address: int, host: np.ndarray) -> None:
        """Copy bytes to the GPU; pinned ones must stay as they are until that is done."""
        _call(driver.cuMemcpyHtoDAsync, address, host.ctypes.data, host.nbytes, self.handle)

    def read(self, host: np.ndarray, address: int) -> None:
        """Copy bytes from the GPU; they are there when that is done."""
        _call(driver.cuMemcpyDtoHAsync, host.ctypes.data, address, host.nbytes, self.handle)

    def copy(self, address: int, source: int, number: int, size: int) -> None:
        """Copy so many bytes from the memory of another GPU, that of this number."""
        _call(driver.cuMemcpyPeerAsync, address, start(current()), source, start(number), size, self.handle)

    def fill(self, address: int, size: int, byte: int) -> None:
        """Set so many bytes of the GPU's memory."""
        _call(driver.cuMemsetD8Async, address, byte, size, self.handle)


class Event:
    """A moment in a stream."""

    def __init__(self, stream: Stream) -> None:
        number = current()
        self._handle = _call(driver.cuEventCreate, 0)
        _when_gone(self, number, driver.cuEventDestroy, self._handle)
        _call(driver.cuEventRecord, self._handle, stream.handle)

    def wait(self) -> None:
        """Wait for this moment."""
        _call(driver.cuEventSynchronize, self._handle)

    def seconds_since(self, earlier: Event) -> float:
        """Wait for this moment; return the seconds between another one and it."""
        self.wait()
        return _call(driver.cuEventElapsedTime, earlier._handle, self._handle) / 1000


def pinned_array(size: int) -> np.ndarray:
    """Return uint8 memory of the host that copies to and from GPUs go through at full speed."""
    number = current()
    address = int(_call(driver.cuMemHostAlloc, size, driver.CU_MEMHOSTALLOC_PORTABLE))
    memory = (ctypes.c_uint8 * size).from_address(address)
    _when_gone(memory, number, driver.cuMemFreeHost, address)
    return np.ctypeslib.as_array(memory)


def load_kernel(cubin: bytes, entry: str) -> Any:
    """Load compiled code onto the GPU; return the kernel of that name. It stays until the process ends."""
    current()
    kernel = _call(driver.cuModuleGetFunction, _call(driver.cuModuleLoadData, cubin), entry.encode())
    if _version() >= _LOADS_FUNCTIONS:
        _call(driver.cuFuncLoad, kernel)  # or the first launch would, and wait for what runs
    return kernel


def launch_kernel(kernel: Any, blocks: int, threads: int, stream: Stream, parameters: ctypes.Array) -> None:
    """Start a kernel; ``parameters`` are its parameters side by side, each aligned to its own size."""
    size = ctypes.c_size_t(len(parameters))
    extra = (ctypes.c_void_p * 5)(
        _PARAMETERS, ctypes.addressof(parameters), _PARAMETERS_SIZE, ctypes.addressof(size), 0
    )
    _call(
        driver.cuLaunchKernel, kernel, blocks, 1, 1, threads, 1, 1, 0, stream.handle, 0,
        ctypes.addressof(extra),
    )  # fmt: skip


def _when_gone(owner: Any, number: int, function: Any, handle: Any) -> None:
    """Free something of the driver's when its owner is garbage; at exit the driver does so itself."""

    def give_back() -> None:
        with use(number):
            _call(function, handle)

    weakref.finalize(owner, give_back).atexit = False
