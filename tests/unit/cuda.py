"""CUDA kernels compiled for devices that need not be there, and run as Python, a thread after the other."""

import functools
import importlib
import threading
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


def record(made, *kinds):
    """Return numba's type of a named tuple whose fields are of these types."""
    return types.BaseTuple.from_types(kinds, made)


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
    names = INSTRUCTIONS | {"exclusive_sums": _sums, "last_of": lambda offsets, arena: int(offsets[-1])}
    names["cuda"] = threads
    for module in modules:
        for name, value in list(vars(module).items()):
            if getattr(value, "targetoptions", {}).get("device"):
                monkeypatch.setattr(module, name, value.py_func)
            elif hasattr(value, "cache_info") and value.__module__.startswith("overlapper.kernels."):
                monkeypatch.setattr(module, name, value.__wrapped__)
        for name, other in (names | others).items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, other)


def kernel_of(kernel):
    """Return the Python function of a `Kernel`, made with its constants."""
    family, _, file = kernel.source.module.partition(".")
    module = importlib.import_module(f"overlapper.kernels.{family}.cuda.{file}")
    function = getattr(module, kernel.source.name)
    return function(*kernel.source.constants) if kernel.source.constants else function.py_func


def by_class(kernel, numbers, of_class, *order):
    """Do what the kernels of `sort_by_class` do, which need threads side by side."""
    if kernel.source.name == "count_classes":
        of_class += np.bincount(numbers, minlength=len(of_class)).astype(of_class.dtype)
    else:
        order[0][:] = np.argsort(-numbers.astype(np.int64), kind="stable")


def _halves(word):
    return int(word) & 0xFFFF, int(word) >> 16


def _shifted(low, high, by):
    return np.uint32((int(high) << 32 | int(low)) >> int(by) & 0xFFFFFFFF)


def _shifted_left(low, high, by):
    return np.uint32((int(high) << 32 | int(low)) << int(by) >> 32 & 0xFFFFFFFF)


def _permuted(low, high, selector):
    """Do what PTX's prmt does."""
    eight, word = (int(high) << 32 | int(low)).to_bytes(8, "little"), 0
    for place in range(4):
        chosen = int(selector) >> 4 * place & 15
        byte = eight[chosen & 7]
        word |= (byte if chosen < 8 else 255 * (byte >> 7)) << 8 * place
    return np.uint32(word)


def _pairwise(function):
    """Return a function of signed halves of words."""

    def of_words(*words):
        halves = zip(*(np.array(_halves(word), np.uint16).view(np.int16) for word in words), strict=True)
        low, high = (np.int16(function(*map(np.int16, some))) for some in halves)
        return np.uint32(int(np.uint16(low)) | int(np.uint16(high)) << 16)

    return of_words


INSTRUCTIONS = {
    "spread_signs": lambda a: np.uint32(sum(0xFFFF << 16 * i for i in range(2) if _halves(a)[i] >> 15)),
    "high_then_low": lambda a, b: np.uint32(_halves(a)[1] | _halves(b)[0] << 16),
    "shift_right_by_base": lambda a, b: _shifted(a, b, 2),
    "shift_left_by_base": lambda a, b: _shifted(a, b, 30),
    "shift_right": _shifted,
    "shift_left": _shifted_left,
    "reverse_bits": lambda word: np.uint32(int(f"{int(word):032b}"[::-1], 2)),
    "largest_pair_of_three": lambda *three: np.uint32(
        max(_halves(x)[0] for x in three) | max(_halves(x)[1] for x in three) << 16
    ),
    "largest_of_warp": int,
    "look_up": _permuted,
    "push_sign": lambda a, b: np.uint32((int(a) << 1 | int(b) >> 31) & 0xFFFFFFFF),
}
"""What `half_words` and others have as PTX."""
PAIRS = {
    "add": _pairwise(lambda a, b: a + b),
    "max": _pairwise(max),
    "add_max": _pairwise(lambda a, b, c: max(a + b, c)),
    "add_max_0": _pairwise(lambda a, b, c: max(a + b, c, 0)),
}
"""The instructions of `pairwise_packed`, by name."""


class Warp:
    """What kernels ask of numba.cuda and of `half_words`, for the lanes of a warp, which are threads."""

    blockIdx = SimpleNamespace(x=0)
    gridDim = SimpleNamespace(x=1)

    def __init__(self, lanes):
        self.lanes = lanes
        self.blockDim = SimpleNamespace(x=lanes)
        self.own, self.values, self._barriers, self._lock = threading.local(), {}, {}, threading.Lock()
        self.local = self
        self.atomic = SimpleNamespace(add=self.add)

    def run(self, kernel, arguments):
        """Run a kernel by all lanes; raise what the first of them raised."""
        failed = []
        self.values, self._barriers = {}, {}

        def lane(number):
            self.own.lane = np.int32(number)
            try:
                with np.errstate(all="ignore"):
                    kernel(*arguments)
            except threading.BrokenBarrierError:
                pass
            except BaseException as error:
                failed.append(error)
                for barrier in self._barriers.values():
                    barrier.abort()

        lanes = [threading.Thread(target=lane, args=(number,)) for number in range(self.lanes)]
        for thread in lanes:
            thread.start()
        for thread in lanes:
            thread.join()
        if failed:
            raise failed[0]

    @property
    def laneid(self):
        return self.own.lane

    @property
    def threadIdx(self):
        return SimpleNamespace(x=self.own.lane)

    def grid(self, _):
        return int(self.own.lane)

    def gridsize(self, _):
        return self.lanes

    def syncwarp(self):
        self.together(0xFFFFFFFF, None)

    @staticmethod
    def jit(*function, **options):
        return function[0] if function else lambda function: function

    @property
    def shared(self):
        return SimpleNamespace(array=lambda shape, kind: self.saved)

    @staticmethod
    def array(shape, kind):
        return np.zeros(shape, str(kind))

    @staticmethod
    def clz(word):
        return np.int32(32 - int(word).bit_length())

    def add(self, array, at, number):
        with self._lock:
            before = array[at]
            array[at] += number
            return before

    def together(self, members, value):
        """Return the values of all lanes of a mask."""
        members = int(members) & ((1 << self.lanes) - 1)
        with self._lock:
            barrier = self._barriers.setdefault(members, threading.Barrier(members.bit_count()))
            given = self.values.setdefault(members, {})
        given[int(self.own.lane)] = value
        barrier.wait()
        found = dict(given)
        barrier.wait()
        return found

    def from_lane(self, value, lane):
        return self.from_member(0xFFFFFFFF, value, lane)

    def from_member(self, members, value, lane):
        return self.together(members, np.uint32(value))[int(lane)]

    def from_lane_above(self, value, clamp):
        group, lane = 32 - (int(clamp) >> 8), int(self.own.lane)
        return self.together(0xFFFFFFFF, np.uint32(value))[lane - (lane % group > 0)]

    def shfl_xor_sync(self, members, value, apart):
        return self.together(members, value)[int(self.own.lane) ^ apart]

    def any_sync(self, members, flag):
        return any(self.together(members, bool(flag)).values())

    def ballot_sync(self, members, flag):
        return np.uint32(sum(1 << lane for lane, set in self.together(members, bool(flag)).items() if set))


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

    @staticmethod
    def jit(*function, **options):
        return function[0] if function else lambda function: function

    clz = staticmethod(Warp.clz)

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
