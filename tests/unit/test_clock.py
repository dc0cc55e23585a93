"""Time and memory of stages."""

import time

import numpy as np

from overlapper.clock import Clock, peak_memory
from tests.cli.runner import python


def test_a_lap_is_the_time_since_the_last_one():
    clock = Clock()
    time.sleep(0.02)
    clock.lap("sleep")
    clock.lap("nothing")
    assert clock.seconds["sleep"] >= 0.02 > clock.seconds["nothing"]


def test_memory_is_the_largest_so_far():
    clock = Clock()
    clock.lap("before")
    held = np.ones(max(peak_memory() // 8, 1))  # as much again as was ever held
    clock.lap("held")
    del held
    clock.lap("after")
    assert clock.memory["after"] == clock.memory["held"] > clock.memory["before"]


def test_a_large_parent_does_not_count():
    held = np.ones(25_000_000)
    script = "from overlapper.clock import peak_memory; print(peak_memory())"
    assert 1e6 < int(python("-c", script, text=True).stdout) < held.nbytes
