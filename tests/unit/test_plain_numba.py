"""numba as it is: where it is asked for, and where it lacks what the kernels' cache works with."""

import pytest
from numba.core import codegen

from overlapper.runtime.compile import plain
from overlapper.runtime.compile.cache import KernelCache, njit
from tests.cli.runner import overlapper, python

COMMANDS = (
    "overlap reads.fq -o overlaps.paf -t 1 -q",
    "layout reads.fq overlaps.paf -o layout.gfa -t 1 -q",
    "map genome.fa reads.fq -o mapped.paf -t 1 -q",
)
ALL = f"from tests.cli import within; assert [within.main(line.split()) for line in {COMMANDS}] == [0] * 3"
"""In one process: numba keeps few of these kernels itself, so each command would compile them anew."""


@pytest.fixture(autouse=True)
def asked_anew():
    plain.is_plain.cache_clear()
    yield
    plain.is_plain.cache_clear()


def doubled(x):
    return 2 * x


def test_this_numba_is_known():
    assert not plain.is_plain()
    assert isinstance(njit(cache=True)(doubled)._cache, KernelCache)


def test_a_numba_without_what_is_used_here_is_taken_as_it_is(monkeypatch):
    monkeypatch.delattr(codegen.CodeLibrary, "_get_compiled_object")
    assert plain.is_plain()
    kernel = njit(cache=False, _nrt=False)(doubled)
    assert not isinstance(kernel._cache, KernelCache)


@pytest.mark.parametrize(("value", "plain_numba"), [("", False), ("0", False), ("1", True), ("yes", True)])
def test_the_switch_is_off_where_it_is_empty_or_0(value, plain_numba, monkeypatch):
    monkeypatch.setenv(plain.SWITCH, value)
    assert plain.is_asked_for() == plain_numba


@pytest.mark.slow
def test_results_are_the_same_with_numba_as_it_is(tmp_path):
    simulated = "simulate --genome-size 20k -c 8 -p ont-r9 -o reads.fq --reference-out genome.fa -q"
    overlapper(*simulated.split(), cwd=tmp_path, check=True)
    made = []
    for environment in ({}, {plain.SWITCH: "1", "NUMBA_CACHE_DIR": str(tmp_path / "kept")}):
        python("-c", ALL, cwd=tmp_path, env=environment, check=True)
        files = [tmp_path / name for name in ("overlaps.paf", "layout.gfa", "mapped.paf")]
        made.append([file.read_bytes() for file in files])
        for file in files:
            file.unlink()
    assert all(made[0])
    assert made[0] == made[1]
