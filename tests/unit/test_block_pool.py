"""Memory is used again when, and only when, nobody holds it any more."""

import numpy as np

from overlapper.extend import block_pool
from overlapper.extend.block_pool import BlockPool


def address(array):
    return array.__array_interface__["data"][0]


def test_memory_comes_back_with_the_last_array_that_shares_it():
    memory = BlockPool()
    first = memory.array(1000, np.int32)
    part, place = first[10:20].view(np.uint32), address(first)
    part[:] = 7
    del first
    second = memory.array(1000, np.int32)
    assert address(second) != place
    second[:] = 1
    assert part.tolist() == [7] * 10
    del part
    third = memory.array(800, np.int32)
    assert (address(third), len(third), third.dtype) == (place, 800, np.int32)


def test_arrays_are_ordinary_ones():
    array = BlockPool().array(10, np.int64)
    array[:] = np.arange(10)
    assert np.ascontiguousarray(array, np.int64) is array
    assert array.flags.writeable
    assert len(BlockPool().array(0, np.int32)) == 0


def test_much_larger_blocks_are_not_taken_and_not_all_are_kept(monkeypatch):
    memory = BlockPool()
    place = address(memory.array(1000, np.uint8))
    assert address(memory.array(500, np.uint8)) != place
    monkeypatch.setattr(block_pool, "KEPT_BYTES", 1500)
    memory = BlockPool()
    one, two = memory.array(1000, np.uint8), memory.array(1000, np.uint8)
    places = address(one), address(two)
    del one, two
    assert address(memory.array(1000, np.uint8)) == places[0]
    assert sum(map(len, memory._unused)) <= 1500
