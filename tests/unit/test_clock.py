"""Time and memory of stages."""

import time

import numpy as np
import pytest

from overlapper.runtime.clock import Clock
from tests.cli.runner import python


def test_a_lap_is_the_time_since_the_last_one():
    clock = Clock()
    time.sleep(0.02)
    clock.lap("sleep")
    clock.lap("nothing")
    assert clock.seconds["sleep"] >= 0.02 > clock.seconds["nothing"]


def test_memory_is_the_largest_so_far():
    script = """
from overlapper.runtime.clock import Clock
clock = Clock()
clock.lap("before")
held = bytearray(50_000_000)
clock.lap("held")
del held
clock.lap("after")
print(*clock.memory.values())
"""
    before, held, after = map(int, python("-c", script, text=True).stdout.split())
    assert after == held > before + 45_000_000


def test_a_large_parent_does_not_count():
    held = np.ones(25_000_000)
    script = "from overlapper.runtime.memory import peak_memory; print(peak_memory())"
    assert 1e6 < int(python("-c", script, text=True).stdout) < held.nbytes


@pytest.mark.parametrize(("by_parent", "by_child"), [(0, 60_000_000), (60_000_000, 0)])
def test_the_largest_process_is_told(by_parent, by_child):
    script = f"""
import subprocess, sys
from overlapper.runtime.memory import peak_of_largest_process
before = peak_of_largest_process()
held = bytearray({by_parent})
subprocess.run([sys.executable, "-c", "held = bytearray({by_child})"], check=True)
print(peak_of_largest_process() - before)
"""
    assert 45e6 < int(python("-c", script, text=True, check=True).stdout) < 75e6
