"""The CUDA kernels of pairwise alignment compile for the devices we name, and keep cells in registers."""

import importlib.util

import pytest

if importlib.util.find_spec("numba_cuda") is None:
    pytest.skip("numba-cuda is not installed (the extra gpu brings it)", allow_module_level=True)

from numba import types

from overlapper.kernels.cuda import (
    pairwise_bands,
    pairwise_packed,
    pairwise_path,
    pairwise_wide,
    sort_by_class,
)
from tests.unit.test_cuda_compile import capability, compiled  # noqa: F401 - a fixture

I4, I8, U4, U1, U8 = (
    kind[::1] for kind in (types.int32, types.int64, types.uint32, types.uint8, types.uint64)
)
NUMBER, ROWS = types.int32, types.int32[:, ::1]
READS = (U4, U4, I8, I8, U4, U4, I8, I8)
COLUMNS = (I4, I4, U1, U1)


@pytest.mark.parametrize("group", [(8, 13), (8, 19), (16, 19)], ids=str)
def test_packed_kernels_compile_into_registers(group, capability, monkeypatch):  # noqa: F811
    kernel = pairwise_packed.packed_kernel(*group, 5, capability >= (9, 0))
    arguments = (*READS, *COLUMNS, I4, U4, types.uint32, types.uint32, ROWS)
    ptx = compiled(kernel, arguments, capability, monkeypatch)
    assert ".local" not in ptx, "an array of a lane went to memory"


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("traced", [True, False])
def test_wide_kernels_compile_into_registers(local, traced, capability, monkeypatch):  # noqa: F811
    # Scores from a table change one instruction.
    for bytes_fit in (True, False) if local and traced and capability == (9, 0) else (True,):
        kernel = pairwise_wide.wide_kernel(16, 10, local, traced, bytes_fit)
        arguments = (*READS, *COLUMNS, I4, I4, U4, U4, *(NUMBER,) * 3, I4, I8, U8, I8, ROWS)
        ptx = compiled(kernel, arguments, capability, monkeypatch)
        assert ".local" not in ptx, "an array of a lane went to memory"


def test_paths_are_followed_by_kernels_that_compile(capability, monkeypatch):  # noqa: F811
    goal = (types.boolean, U4, I8, I4)
    arguments = (*READS, *COLUMNS, I4, I4, *(NUMBER,) * 3, U8, I8, ROWS, *goal)
    compiled(pairwise_wide.trace_kernel(16, 10, True), arguments, capability, monkeypatch)
    compiled(pairwise_path.write_runs, (U4, I8, I4, I8, *(types.int64,) * 2, U4), capability, monkeypatch)


@pytest.mark.parametrize("local", [True, False])
def test_banded_kernels_compile_into_registers(local, capability, monkeypatch):  # noqa: F811
    goal = (ROWS, types.boolean, U4, I8, I4)
    numbers = (*(NUMBER,) * 4, *(types.int64,) * 3)
    arguments = (*READS, *COLUMNS, I4, I4, U4, U4, *numbers, U8, U8, *goal)
    ptx = compiled(pairwise_bands.banded_kernel(local, True), arguments, capability, monkeypatch)
    assert ".local" not in ptx, "an array of a thread went to memory"


def test_what_plans_bands_compiles(capability, monkeypatch):  # noqa: F811
    planned = (ROWS, *(NUMBER,) * 3, types.boolean, *(I4,) * 3)
    compiled(pairwise_bands.plan_paths, planned, capability, monkeypatch)
    compiled(sort_by_class.count_classes, (I4, I4), capability, monkeypatch)
    compiled(sort_by_class.order_by_class, (I4, I4, I4), capability, monkeypatch)
