"""Kernels as they are translated here: what they read, write and return, and who counts arrays."""

from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from overlapper.runtime.compile import overloads
from overlapper.runtime.compile.cache import njit
from overlapper.runtime.compile.lowering import Lower


class Pair(NamedTuple):
    left: np.ndarray
    right: np.ndarray


@njit(cache=False)
def elements(numbers, grid, flags, at):
    """Read and write with negative, unsigned and two indices, and by more than one kind of number."""
    flags[at] = numbers[-1]
    grid[at, -1] = numbers[np.uint8(at)] + grid[-2, at] * 2.5
    grid[np.int8(0), 0] = flags[-1]
    numbers[0] = 3.9
    return numbers[at] + grid[1, 0] + flags[0]


@njit(cache=False)
def rows(grid, at):
    grid[at][1:][-1] = 7
    grid[at, :2] = 5
    grid[:, at] = grid[at]
    return grid[at, 0] + grid[::-1][0, 0] + grid.T[0, 1]


@njit(cache=False)
def part(pair, is_left):
    """Return what is the caller's, counted anew."""
    chosen = pair.left if is_left else pair.right
    return chosen[1:]


@njit(cache=False)
def swapped(pair):
    left, right = pair
    return Pair(right, left)


@njit(cache=False)
def new_and_given(given, times):
    """Hold in one variable first what was given, then new arrays."""
    held = given
    for i in range(times):
        held = part(swapped(Pair(held, np.full(given.size + 1, i))), True)
    return held, given[:2]


@njit(cache=False)
def total_of_parts(pair):
    total = 0
    for array in (pair.left, pair.right):
        view = array[1:]
        total += view.sum() + view[0]
    return total


@pytest.fixture
def counts():
    """Return a function that gives how many arrays are not freed yet."""
    _nrt_python.memsys_enable_stats()

    def not_freed():
        stats = rtsys.get_allocation_stats()
        return stats.alloc - stats.free, stats.mi_alloc - stats.mi_free

    yield not_freed
    _nrt_python.memsys_disable_stats()


def pair():
    return Pair(np.arange(5), np.arange(5, 9))


CASES = [
    (elements, lambda: (np.arange(5), np.arange(6.0).reshape(3, 2), np.zeros(3, bool), 1)),
    (rows, lambda: (np.arange(9).reshape(3, 3), 1)),
    (rows, lambda: (np.asfortranarray(np.arange(9).reshape(3, 3)), 1)),
    (part, lambda: (pair(), True)),
    (swapped, lambda: (pair(),)),
    (new_and_given, lambda: (np.arange(4), 0)),
    (new_and_given, lambda: (np.arange(4), 3)),
    (total_of_parts, lambda: (pair(),)),
]


@pytest.mark.parametrize(("kernel", "arguments"), CASES)
def test_kernels_do_what_python_does_and_free_what_they_make(kernel, arguments, counts):
    expected = arguments()
    result = kernel.py_func(*expected)
    kernel(*arguments())
    before = counts()
    for _ in range(3):
        given = arguments()
        made = kernel(*given)
        for ours, theirs in zip((made, *given), (result, *expected), strict=True):
            same(ours, theirs)
        del made, given, ours
    assert counts() == before


def same(ours, theirs):
    if isinstance(theirs, tuple):
        for part_of_ours, part_of_theirs in zip(ours, theirs, strict=True):
            same(part_of_ours, part_of_theirs)
    else:
        np.testing.assert_array_equal(ours, theirs)


def test_only_what_was_given_is_not_counted(monkeypatch):
    seen = []
    prepare = Lower.pre_lower

    def prepared(self):
        prepare(self)
        seen.append((self.func_ir.func_id.func_name, self.borrowed))

    monkeypatch.setattr(Lower, "pre_lower", prepared)

    @njit(cache=False)
    def total(given, times):
        whole = given
        view = whole[1:]
        made = np.zeros(times, np.int64)
        of_made = made[:1]
        if times > 3:
            mixed = view
        else:
            mixed = of_made
        return view[0] + mixed[0]

    assert total(np.arange(5), 2) == 1
    (borrowed,) = (names for function, names in seen if function == "total")
    assert {"given", "whole", "view"} <= borrowed
    assert not {"made", "of_made", "mixed.1", "mixed.2"} & borrowed  # numba's names of what is set anew


def test_types_of_a_call_are_looked_up_once(monkeypatch):
    looked_up, look_up = Counter(), overloads._call_type

    def counted(function, context, args, kws):
        looked_up[function, tuple(args), tuple(kws.items()), overloads._options()] += 1
        return look_up(function, context, args, kws)

    monkeypatch.setattr(overloads, "_call_type", counted)

    @njit(cache=False)
    def total(numbers, factor):
        kept = factor
        for number in numbers:
            kept = max(kept + number, kept * factor + number)
        return kept

    assert total(np.arange(3, dtype=np.float32), np.float32(2)) == 20
    assert set(looked_up.values()) == {1}
