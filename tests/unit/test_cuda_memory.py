"""Arenas: what is done where the device has too little memory."""

import contextlib
import importlib.util
from types import SimpleNamespace

import pytest

from overlapper.errors import DeviceError

if importlib.util.find_spec("numba_cuda") is None:
    pytest.skip("numba-cuda is not installed (the extra gpu brings it)", allow_module_level=True)

from numba.cuda.cudadrv.driver import CudaAPIError

from overlapper.kernels.cuda import memory

OUT_OF_MEMORY = CudaAPIError(2, "CUDA_ERROR_OUT_OF_MEMORY")


def arena_that(monkeypatch, allows):
    """Let arenas of so many bytes be all that the device allows; return the sizes that were tried."""
    tried = []

    def create(self, size, pinned):
        tried.append(size)
        if size > allows:
            raise OUT_OF_MEMORY

    monkeypatch.setattr(memory.Arena, "__init__", create)
    return tried


def test_an_arena_that_does_not_fit_is_halved_and_tried_again(monkeypatch):
    tried = arena_that(monkeypatch, 3 << 20)
    assert isinstance(memory.Arena.allocate(10 << 20), memory.Arena)
    assert tried == [10 << 20, 5 << 20, 5 << 19]


@pytest.mark.parametrize("size", [0, 1 << 10, 1 << 30])
def test_no_memory_for_any_arena_is_an_error_with_a_remedy(monkeypatch, size):
    tried = arena_that(monkeypatch, 100)
    with pytest.raises(DeviceError, match="Allow more with --gpu-memory"):
        memory.Arena.allocate(size)
    assert all(size >= memory.SMALLEST_ARENA for size in tried)


def test_other_failures_are_not_retried(monkeypatch):
    def broken(self, size, pinned):
        raise CudaAPIError(700, "CUDA_ERROR_ILLEGAL_ADDRESS")

    monkeypatch.setattr(memory.Arena, "__init__", broken)
    with pytest.raises(CudaAPIError):
        memory.Arena.allocate(1 << 20)


def test_what_cannot_fit_says_how_much_is_missing(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda budget=0: 1000)
    memory.require_memory(1000, "10 reads")
    with pytest.raises(DeviceError, match="10 reads take"):
        memory.require_memory(1001, "10 reads")


class PretendedContext:
    """Of one device; counts how often cleaning up is put off."""

    def __init__(self, number):
        self.device = SimpleNamespace(id=number)
        self.put_off = 0

    @contextlib.contextmanager
    def defer_cleanup(self):
        self.put_off += 1
        yield


def test_kernels_of_every_device_are_left_to_the_driver_when_the_process_ends(monkeypatch):
    contexts, at_exit = [PretendedContext(0), PretendedContext(1)], []
    monkeypatch.setattr(memory, "_left_to_the_driver", set())
    monkeypatch.setattr(memory, "_at_exit", contextlib.ExitStack())
    monkeypatch.setattr(memory.atexit, "register", lambda *call: at_exit.append(call))
    for context in (contexts[0], contexts[1], contexts[0]):
        monkeypatch.setattr(memory.cuda, "current_context", lambda context=context: context)
        memory.leave_to_the_driver()
    assert [context.put_off for context in contexts] == [0, 0]
    for call, *arguments in at_exit:
        call(*arguments)
    assert [context.put_off for context in contexts] == [1, 1]
