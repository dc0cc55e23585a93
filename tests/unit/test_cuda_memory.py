"""Arenas: what is done where the device has too little memory."""

import pytest

from overlapper.errors import DeviceError

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from overlapper.runtime.gpu import driver, memory
from overlapper.runtime.gpu.driver import CudaError

OUT_OF_MEMORY = CudaError(2, "CUDA_ERROR_OUT_OF_MEMORY")


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
        raise CudaError(700, "CUDA_ERROR_ILLEGAL_ADDRESS")

    monkeypatch.setattr(memory.Arena, "__init__", broken)
    with pytest.raises(CudaError):
        memory.Arena.allocate(1 << 20)


def test_a_gpu_without_memory_for_another_program_is_an_error_with_a_remedy(monkeypatch):
    def refused(function, number):
        raise OUT_OF_MEMORY

    monkeypatch.setattr(driver, "count", lambda: 8)
    monkeypatch.setattr(driver, "_call", refused)
    with pytest.raises(DeviceError, match="GPU 7 has no memory left for another program"):
        driver.start(7)
