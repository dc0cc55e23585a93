"""Processes that compile at the same time keep numba's cache in order, and upgrades leave it usable."""

import contextlib
import fcntl
import os
import sys
import threading
import types

import pytest
from numba.core.caching import IndexDataCacheFile

import overlapper.kernels.cpu  # noqa: F401  # mends the cache


@pytest.fixture
def caches(tmp_path):
    """The cache of one kernel, as two processes see it."""
    return [IndexDataCacheFile(str(tmp_path), "kernel", "stamp") for _ in range(2)]


def test_a_process_waits_while_another_adds_a_kernel(caches, tmp_path):
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    saving = threading.Thread(target=caches[0].save, args=("int64", "code for int64"))
    saving.start()
    saving.join(0.2)
    assert saving.is_alive()
    assert list(tmp_path.iterdir()) == []
    os.close(folder)
    saving.join()
    assert caches[1].load("int64") == "code for int64"


def test_each_finds_its_own_when_both_add_at_once(caches, monkeypatch):
    """Both have read the list before either writes it, if nothing keeps them apart."""
    both = threading.Barrier(2)
    write = IndexDataCacheFile._save_index

    def late(cache, overloads):
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(0.2)
        write(cache, overloads)

    monkeypatch.setattr(IndexDataCacheFile, "_save_index", late)
    added = dict(zip(("int64", "float64"), caches, strict=True))
    threads = [threading.Thread(target=cache.save, args=(key, key)) for key, cache in added.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [caches[0].load(key) for key in added] == list(added)


@pytest.mark.parametrize("gone", ["module", "class"])
def test_a_list_that_names_what_is_elsewhere_now_is_out_of_date(gone, caches, monkeypatch):
    before = types.ModuleType("module_of_the_version_before")
    before.Rows = type("Rows", (), {"__module__": before.__name__})
    monkeypatch.setitem(sys.modules, before.__name__, before)
    caches[0].save(before.Rows(), "code")
    if gone == "class":
        del before.Rows
    else:
        monkeypatch.delitem(sys.modules, before.__name__)
    assert caches[1].load("int64") is None
    caches[1].save("int64", "new code")
    assert caches[0].load("int64") == "new code"
