"""What numba does not do for kernels: passes that none needs, taking apart what is not counted."""

import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba.core import event, postproc
from numba.core.runtime.context import NRTContext

from overlapper.runtime.compile import passes, references
from overlapper.runtime.compile.cache import njit


class Parts(NamedTuple):
    values: np.ndarray
    names: tuple[np.ndarray, int]
    size: int


def rows(parts, n):
    """Take references of arrays, give them away, and keep some beyond what they came with."""
    kept = parts.names[0]
    for i in range(n):
        if i % 3 == 2:
            kept = parts.values[i:] + kept[: len(parts.values) - i].sum()
        first, second = kept, (kept, parts.names)
        kept = first if i % 2 else second[0]
    return kept, parts.size + n


def given(n=9):
    return Parts(np.arange(n, dtype=np.int64), (np.arange(n, 2 * n, dtype=np.int64), 3), 5), n


def compiled():
    return njit(cache=False)(rows)


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
    monkeypatch.setattr(passes, "_NEEDLESS", set())
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
    of_numba = postproc.PostProcessor.run, NRTContext.get_meminfos
    seen = set()

    class Pass(event.Listener):
        def on_start(self, happening):
            seen.add((postproc.PostProcessor.run, NRTContext.get_meminfos))

        def on_end(self, _):
            pass

    with event.install_listener("numba:run_pass", Pass()):
        compiled()(*given())
    assert seen == {(passes._find_what_is_used, references._counted)}
    assert (postproc.PostProcessor.run, NRTContext.get_meminfos) == of_numba


def test_numbas_functions_are_back_after_an_error():
    of_numba = postproc.PostProcessor.run, NRTContext.get_meminfos
    with pytest.raises(KeyError), passes.lifetimes_when_needed(), references.of_counted_parts():
        raise KeyError
    assert (postproc.PostProcessor.run, NRTContext.get_meminfos) == of_numba
