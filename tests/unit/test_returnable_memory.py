"""Memory that goes back to the system in parts."""

import sys
from pathlib import Path

import numpy as np
import pytest

from overlapper.sketch.returnable_memory import ReturnableMemory

PAGE = 4096


@pytest.mark.skipif(sys.platform != "linux", reason="other systems tell it differently")
def test_what_is_given_back_is_resident_no_more():
    memory = ReturnableMemory(64 << 20)
    array = memory.array(np.uint8)
    array[:] = 7
    before = resident()
    memory.give_back(8 << 20, 56 << 20)
    assert before - resident() > 40 << 20
    assert array[(8 << 20) - 1] == array[56 << 20] == 7


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def test_bytes_beside_what_is_given_back_stay():
    memory = ReturnableMemory(1 << 20)
    array = memory.array(np.uint8)
    array[:] = 7
    memory.give_back(100_001, 200_001)
    assert (array[:100_001] == 7).all()
    assert (array[200_001:] == 7).all()


def test_no_bytes_are_no_array():
    assert len(ReturnableMemory(0).array(np.uint64)) == 0


def test_too_much_is_too_little_memory():
    with pytest.raises(MemoryError):
        ReturnableMemory(1 << 60)
