"""What numba does not do for kernels: passes that none needs, taking apart what is not asked for."""

import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import literal_unroll
from numba.core import cgutils, event, postproc
from numba.core.inline_closurecall import InlineClosureCallPass
from numba.core.lowering import Lower
from numba.core.runtime.context import NRTContext
from numba.np import arrayobj

from overlapper.runtime.compile import indexing, parts, passes, ranges, references, variables
from overlapper.runtime.compile.cache import njit


class Parts(NamedTuple):
    values: np.ndarray
    names: tuple[np.ndarray, int]
    size: int


def rows(parts, n):
    """Take references of arrays, give them away, and keep some beyond what they came with."""
    kept = parts.names[0]
    for i in range(n):
        parts.values[i - n] += parts.values[np.uint8(i)] - parts.values[i - n]
        if i % 3 == 2:
            kept = parts.values[i:] + kept[: len(parts.values) - i].sum()
        first, second = kept, (kept, parts.names)
        kept = first if i % 2 else second[0]
    return kept, parts.size + n


def given(n=9):
    return Parts(np.arange(n, dtype=np.int64), (np.arange(n, 2 * n, dtype=np.int64), 3), 5), n


def compiled():
    return njit(cache=False)(rows)


def replaced():
    """Return the functions of numba that others take the place of while a kernel is compiled."""
    return (
        postproc.PostProcessor.run, InlineClosureCallPass.run, NRTContext.get_meminfos, Lower.delvar,
        arrayobj.basic_indexing, arrayobj.make_array,
        cgutils.ValueStructProxy.__init__, cgutils.ValueStructProxy.__getitem__, Lower.lower_expr,
        Lower._find_singly_assigned_variable, Lower.loadvar, Lower.storevar,
    )  # fmt: skip


def instructions(kernel):
    return sum(line.startswith("  ") for line in kernel.inspect_llvm(kernel.signatures[0]).splitlines())


def test_results_are_those_of_python():
    kernel = compiled()
    for n in (1, 2, 9):
        found, expected = kernel(*given(n)), rows(*given(n))
        assert (found[0].tolist(), found[1]) == (expected[0].tolist(), expected[1])


def test_the_code_is_that_of_numba_as_it_is(monkeypatch):
    """Nothing that is left out was in the code, once it is optimised."""
    ours = compiled()
    ours(*given())
    monkeypatch.setattr(passes, "_find_what_is_used", passes._run)
    monkeypatch.setattr(passes, "_inline_if_any", passes._inline)
    monkeypatch.setattr(passes, "_NEEDLESS", set())
    monkeypatch.setattr(indexing, "_item", indexing._basic_indexing)
    monkeypatch.setattr(parts, "_OURS", {})
    monkeypatch.setattr(parts, "_array", parts._make_array)
    monkeypatch.setattr(variables, "_find_set_once", variables._find)
    monkeypatch.setattr(variables, "_load_value", variables._load)
    monkeypatch.setattr(variables, "_store_value", variables._store)
    monkeypatch.setattr(ranges, "_begun", ranges._lower_expr)
    monkeypatch.setattr(references, "_end_counted", references._end_variable)
    monkeypatch.setattr(references, "_counted", NRTContext.get_meminfos)
    numbas = compiled()
    numbas(*given())
    assert instructions(ours) == instructions(numbas) > 100


def test_references_are_given_back():
    parts, n = given()
    kernel = compiled()
    kernel(parts, n)
    counts = sys.getrefcount(parts.values), sys.getrefcount(parts.names[0])
    for _ in range(100):
        kernel(parts, n)
    assert (sys.getrefcount(parts.values), sys.getrefcount(parts.names[0])) == counts


def items(grid, places):
    """Read and write items of an array of two axes, by indices of either sign, of several types."""
    for i in range(len(places)):
        grid[places[i], -1] += grid[np.uint16(i), i % grid.shape[1]]
    return grid[-1, 0] + grid[places[-1]][1]


@pytest.mark.parametrize("turned", [False, True])
def test_items_are_those_of_python(turned):
    """Whether the array lies without gaps or not."""
    grid = np.arange(12, dtype=np.int32).reshape(4, 3)
    ours, pythons = (grid.copy()[::-1] if turned else grid.copy() for _ in range(2))
    places = np.array([2, -1, 0, -3])
    assert njit(cache=False)(items)(ours, places) == items(pythons, places)
    assert ours.tolist() == pythons.tolist()


def stretches(grid, start, stop):
    """Read and write parts of an array whose shape and strides are asked for, and changed, on the way."""
    for row in range(len(grid)):
        part = grid[row, start:stop]
        if row % 2:
            part = part[::-1]
        part[:] = part + row
        grid[row, stop:] = grid[row, stop:][::-1].copy()
    flat = grid.reshape(-1)
    return flat[start:stop].sum() + grid.T[start].max() + flat.size + grid[..., start].sum()


@pytest.mark.parametrize(("start", "stop"), [(1, 4), (0, 5), (2, -1), (-3, 9), (3, 2)])
def test_stretches_are_those_of_python(start, stop):
    """Bounds of a slice are changed where it is in memory."""
    ours, pythons = (np.arange(20, dtype=np.int64).reshape(4, 5) for _ in range(2))
    assert njit(cache=False)(stretches)(ours, start, stop) == stretches(pythons, start, stop)
    assert ours.tolist() == pythons.tolist()


def steps(first, last, step):
    """Go through ranges with one, two and three bounds, one within another, and one that is made before."""
    found, whole = [], range(first, last)
    for i in range(last):
        for j in range(first, i):
            for k in range(j, first, step):
                found.append(100 * i + 10 * j + k)
    for i in whole:
        found.append(i)
    for i in whole if step > 0 else range(last, first):
        found.append(-i)
    return found, len(whole), i


@pytest.mark.parametrize(
    ("first", "last", "step"), [(0, 4, 1), (2, 7, -2), (5, 1, 2), (-3, 3, -1), (-4, -1, 3)]
)
def test_ranges_are_those_of_python(first, last, step):
    assert njit(cache=False)(steps)(first, last, step) == steps(first, last, step)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64])
def test_ranges_of_other_numbers_are_those_of_python(kind):
    @njit(cache=False)
    def total(first, last):
        found = 0
        for i in range(first, last):
            found += int(i)
        for _ in range(first):
            found += 100
        return found

    for first, last in ((1, 5), (5, 1), (3, 3)):
        expected = sum(range(first, last)) + 100 * first
        assert total(kind(first), kind(last)) == expected


def kept(values, n):
    """Set variables once before loops, in a loop, and in one branch; some end in one branch, or never."""
    whole, both, last = values[1:], (values, values[:n]), values
    total = len(both[1])
    for i in range(n):
        row, place = values[i:], i + total % 3
        for j in range(len(row)):
            if row[j] % 2:
                last = row[j:]
                total += whole[j % len(whole)] + place
            elif j > n:
                break
            else:
                total += both[0][j]
        if total > 10_000:
            return last, total
    twice = values + values if total % 2 else both[1]
    return twice, total


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_variables_that_are_set_once_are_those_of_python(n):
    values = np.arange(3, 40, dtype=np.int64)
    kernel = njit(cache=False)(kept)
    before = sys.getrefcount(values)
    for _ in range(3):
        (found, total), (expected, expected_total) = kernel(values, n), kept(values, n)
        assert (found.tolist(), total) == (expected.tolist(), expected_total)
    del found, expected
    assert sys.getrefcount(values) == before


def test_what_is_set_before_an_error_is_there_behind_it():
    @njit(cache=False)
    def caught(values, n):
        size = len(values)
        try:
            part = values[: n + 1]
            if n > size:
                raise ValueError
            size += part[n]
        except Exception:
            size = -size
        return size

    values = np.arange(4)
    assert (caught(values, 2), caught(values, 5)) == (6, -4)


def test_functions_and_lists_within_a_function_are_still_put_into_it():
    @njit(cache=False)
    def sums(values, n):
        def shifted(value):
            return value + n

        return np.array([shifted(value) for value in values]), np.array([n, 2 * n])

    squares, pair = sums(np.arange(4), 3)
    assert (squares.tolist(), pair.tolist()) == ([3, 4, 5, 6], [3, 6])


def test_loops_over_values_of_several_types_are_unrolled():
    @njit(cache=False)
    def shapes(values):
        total = 0
        for value in literal_unroll(values):
            if isinstance(value, tuple):
                total += len(value)
            elif isinstance(value, int):
                total += value
        return total

    assert shapes(((1, 2), 5, (3, 4, 5))) == 10


def test_a_generator_has_what_it_asks_for():
    @njit(cache=False)
    def squares(n):
        for i in range(n):
            yield i * i

    @njit(cache=False)
    def total(n):
        found = 0
        for square in squares(n):
            found += square
        return found

    assert total(5) == 30


def test_other_functions_are_compiled_by_all_passes():
    of_numba = replaced()
    seen = set()

    class Pass(event.Listener):
        def on_start(self, happening):
            seen.add(replaced())

        def on_end(self, _):
            pass

    with event.install_listener("numba:run_pass", Pass()):
        compiled()(*given())
    assert len(seen) == 1 and not set(*seen) & set(of_numba)
    assert replaced() == of_numba


def test_numbas_functions_are_back_after_an_error():
    of_numba = replaced()
    with (
        pytest.raises(KeyError), passes.when_needed(), references.of_counted_parts(),
        indexing.without_strides(), parts.taken_from_values(), variables.used_as_they_are(),
        ranges.begun_without_division(),
    ):  # fmt: skip
        raise KeyError
    assert replaced() == of_numba
