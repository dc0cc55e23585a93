"""Batches that fit the device: sizes, budgets, and what happens when an allocation fails all the same."""

import importlib.util

import numpy as np
import pytest

from overlapper.errors import DeviceError

if importlib.util.find_spec("numba_cuda") is None:
    pytest.skip("numba-cuda is not installed (the extra gpu brings it)", allow_module_level=True)

from numba.cuda.cudadrv.driver import CudaAPIError

from overlapper.kernels.cuda import memory


@pytest.fixture(autouse=True)
def free_memory(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda budget=0: budget or 1000)


def test_batches_cover_everything_in_order():
    assert list(memory.in_batches(lambda b, e: (b, e), 25, 100)) == [(0, 10), (10, 20), (20, 25)]
    assert list(memory.in_batches(lambda b, e: (b, e), 5, 100, budget=250)) == [(0, 2), (2, 4), (4, 5)]
    assert list(memory.in_batches(lambda b, e: (b, e), 2, 5000)) == [(0, 1), (1, 2)]
    assert list(memory.in_batches(lambda b, e: (b, e), 0, 100)) == []


def test_items_may_take_different_memory():
    sizes = np.array([400, 500, 200, 900, 3000, 100, 100])
    assert list(memory.in_batches(lambda b, e: (b, e), 7, sizes)) == [(0, 2), (2, 3), (3, 4), (4, 5), (5, 7)]


def test_a_batch_that_does_not_fit_is_halved_and_tried_again():
    asked = []

    def work(begin, end):
        asked.append((begin, end))
        if end - begin > 3:
            raise CudaAPIError(2, "CUDA_ERROR_OUT_OF_MEMORY")
        return begin, end

    assert list(memory.in_batches(work, 8, 100)) == [(0, 2), (2, 4), (4, 6), (6, 8)]
    assert asked[:3] == [(0, 8), (0, 4), (0, 2)]


def test_no_memory_for_one_item_is_an_error_with_a_remedy():
    def work(begin, end):
        raise CudaAPIError(2, "CUDA_ERROR_OUT_OF_MEMORY")

    with pytest.raises(DeviceError, match="use another GPU"):
        list(memory.in_batches(work, 4, 100))


def test_other_failures_are_not_retried():
    def work(begin, end):
        raise CudaAPIError(700, "CUDA_ERROR_ILLEGAL_ADDRESS")

    with pytest.raises(CudaAPIError):
        list(memory.in_batches(work, 4, 100))


def test_what_cannot_fit_says_how_much_is_missing():
    memory.require_memory(1000, "10 reads")
    with pytest.raises(DeviceError, match="10 reads take"):
        memory.require_memory(1001, "10 reads")
