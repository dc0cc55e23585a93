"""Arenas: arrays come back as they went, whatever their size, and none overlaps another."""

import numpy as np
import pytest

from overlapper.errors import DeviceError

pytestmark = pytest.mark.gpu


@pytest.fixture
def arena(gpu):
    from overlapper.runtime.gpu.memory import Arena

    return Arena(100 << 20)


@pytest.mark.parametrize("dtype", [np.uint8, np.bool_, np.int32, np.int64, np.uint64])
def test_arrays_come_back_as_they_went(arena, dtype):
    rng = np.random.default_rng(1)
    sent = [rng.integers(0, 2, size).astype(dtype) for size in (0, 1, 3, 257, 100_000, 5_000_000)]
    there = [arena.upload(array) for array in sent]
    zeros = arena.zeros(1000, dtype)
    for array, copy in zip(sent[1:], there[1:], strict=True):
        assert np.array_equal(arena.download(copy), array)
    assert there[0].size == 1
    assert not arena.download(zeros).any()


def test_released_memory_is_used_again(arena):
    mark, free = arena.mark(), arena.free
    for _ in range(10):
        arena.upload(np.ones(60 << 20, np.uint8))
        arena.release(mark)
    assert arena.free == free


def test_what_does_not_fit_says_how_much_is_needed(arena):
    with pytest.raises(DeviceError, match="bytes of GPU memory are needed at once"):
        arena.array(200 << 20, np.uint8)


def test_an_arena_larger_than_the_memory_is_halved_until_it_fits(gpu):
    from overlapper.runtime.gpu.memory import Arena

    arena = Arena.allocate(1 << 40)
    assert 1 << 30 < arena.free < 1 << 40
