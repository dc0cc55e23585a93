"""CUDA kernels compiled for devices that need not be there, and run as Python, a thread after the other."""

import functools
from types import SimpleNamespace
from unittest import mock

import numpy as np
from numba import types
from numba.cuda import compiler, dispatcher

from overlapper.kernels.common.cuda import walks

H100 = (9, 0)


def compiled(kernel, arguments, capability=H100):
    """Return the PTX of a kernel, by the types of its arguments."""
    ptx = _library(kernel.py_func, tuple(arguments)).get_asm_str(capability)
    major, minor = capability
    assert f".target sm_{major}{minor}" in ptx
    return ptx


@functools.cache
def _library(function, arguments):
    """Return the kernel as a library of numba, which holds LLVM's code, and gives PTX for any device.

    LLVM's code takes numba longest, so it is made once for all devices: it would differ only for atomic
    operations on floats, before sm_60, and for tanh.
    """
    # Device functions ask the current device what to compile for; here there may be none.
    device = SimpleNamespace(compute_capability=H100)
    with mock.patch.object(dispatcher, "get_current_device", lambda: device):
        library, _ = compiler._compile_pyfunc_with_fixup(
            function, types.void(*arguments), cc=H100, device=False, abi="numba"
        )
    return library


class PretendedArena:
    """Arrays in host memory, in place of device memory."""

    free, pinned = 1 << 28, None

    class stream:
        @staticmethod
        def synchronize():
            pass

    def mark(self):
        return 0

    def release(self, mark):
        pass

    def array(self, shape, dtype):
        size = int(np.prod(shape))
        array = np.full(max(1, size) * np.dtype(dtype).itemsize, 0xA5, np.uint8).view(dtype)
        return array.reshape(shape) if size else array

    def zeros(self, length, dtype):
        return np.zeros(length, dtype)

    def fill(self, array, byte):
        array.view(np.uint8)[...] = byte

    def overwrite(self, array, host):
        array[:] = host

    def upload(self, array):
        return np.array(array)

    def written(self, length, dtype, write):
        array = self.array(length, dtype)
        for first in range(0, length, 1000):
            write(first, array[first : min(first + 1000, length)])
        return array

    def download(self, array):
        return array.copy()

    def download_to(self, here, array):
        here[:] = array[: len(here)]


def run_as_python(monkeypatch, threads, modules, **others):
    """Have kernels of some modules run as Python: their device functions, and what they ask of numba.cuda.

    ``others`` are names that stand for something else in each module that has them.
    """
    names = {"cuda": threads, "exclusive_sums": _sums, "last_of": lambda offsets, arena: int(offsets[-1])}
    for module in modules:
        for name, value in list(vars(module).items()):
            if getattr(value, "targetoptions", {}).get("device"):
                monkeypatch.setattr(module, name, value.py_func)
        for name, other in (names | others).items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, other)


def _sums(values, arena):
    return np.concatenate([[0], np.cumsum(values, dtype=np.int64)])


class PretendedThreads:
    """What kernels ask of numba.cuda, for threads that run one after the other."""

    blockIdx = threadIdx = SimpleNamespace(x=0)
    blockDim = gridDim = SimpleNamespace(x=1)
    number = 0

    def grid(self, _):
        return self.number

    def gridsize(self, _):
        return 16

    def syncthreads(self):
        """Do nothing, as a block has one thread."""

    syncwarp = syncthreads

    def popc(self, word):
        return int(word).bit_count()

    class shared:
        @staticmethod
        def array(shape, kind):
            return np.zeros(shape, str(kind))

    local = shared

    class atomic:
        @staticmethod
        def add(array, at, number):
            before = array[at]
            array[at] += number
            return before

        @staticmethod
        def or_(array, at, bits):
            array[at] |= bits

        @staticmethod
        def max(array, at, number):
            array[at] = max(array[at], number)


def on_device(reads):
    unknown = np.zeros(len(reads.words), np.uint32)
    for read in range(len(reads.lengths)):
        for run in range(reads.unknown_offsets[read], reads.unknown_offsets[read + 1]):
            for base in range(reads.unknown_start[run], reads.unknown_end[run]):
                unknown[reads.word_offsets[read] + base // 32] |= np.uint32(1 << base % 32)
    return walks.DeviceReads(reads, reads.words.view(np.uint32), unknown, reads.word_offsets, reads.lengths)
