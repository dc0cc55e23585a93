"""How garbage is searched for while kernels are compiled."""

import gc

import pytest
from numba.core import event

from overlapper.runtime.compile.cache import njit
from overlapper.runtime.compile.garbage import searched_seldom


@pytest.fixture(autouse=True)
def as_before():
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


def test_what_was_set_before_is_set_again():
    gc.set_threshold(701, 11, 12)
    with pytest.raises(KeyError), searched_seldom():
        assert gc.get_threshold()[0] > 701
        with searched_seldom():
            pass
        assert gc.get_threshold()[0] > 701
        assert gc.get_freeze_count()
        raise KeyError
    assert gc.get_threshold() == (701, 11, 12)
    assert not gc.get_freeze_count()


def test_what_somebody_froze_stays_frozen():
    gc.freeze()
    frozen = gc.get_freeze_count()
    with searched_seldom():
        kept = [[] for _ in range(100)]
    assert len(kept) == 100
    assert 0 < gc.get_freeze_count() <= frozen


def test_a_kernel_and_what_it_calls_are_compiled_with_it():
    seen = []

    class Pass(event.Listener):
        def on_start(self, _):
            seen.append(gc.get_threshold())

        def on_end(self, _):
            pass

    @njit(cache=False)
    def inner(x):
        return x + 1

    @njit(cache=False)
    def outer(x):
        return inner(x) + inner(x)

    with event.install_listener("numba:run_pass", Pass()):
        assert outer(1) == 4
    assert seen
    assert gc.get_threshold() not in seen
