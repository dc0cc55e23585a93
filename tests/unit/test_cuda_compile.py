"""Every CUDA kernel compiles for the devices we name, and keeps its cells in registers; needs no driver."""

import pytest

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from numba import types

from overlapper.kernels.common.cuda import walk_bases
from overlapper.kernels.gact.cuda import gact_path, gact_runs
from overlapper.kernels.xdrop.cuda import plan_kernels, xdrop, xdrop_grouped
from tests.unit.cuda import compiled

I4, I8, U4, BOOLEANS = types.int32[::1], types.int64[::1], types.uint32[::1], types.boolean[::1]
SEEDS = I4, I4, BOOLEANS, I4, I4
EXTENSIONS = types.int32[:, ::1]
ARGUMENTS = (
    U4, U4, I8, I8, *SEEDS, types.int32, I4, types.int32, I4, *(types.int32,) * 6, I4, EXTENSIONS,
)  # fmt: skip


NUMBERS = (*(types.uint32,) * 5, *(types.int32,) * 2, *(types.int64,) * 3, *(types.uint32,) * 2)
ROOM = (types.uint32[:, ::1], types.uint32[:, ::1], types.uint64[:, ::1])
GACT_ARGUMENTS = (
    U4, U4, I8, I8, I4, I4, BOOLEANS, I4, I4, I8, *NUMBERS, I4, *ROOM, U4, I8, I8, I4,
)  # fmt: skip
ROWS = types.int64[:, ::1]


@pytest.fixture(params=[(8, 0), (9, 0), (10, 0)], ids=["sm_80", "sm_90", "sm_100"])
def capability(request):
    return request.param


@pytest.mark.parametrize("group", xdrop.GROUPS, ids=str)
def test_grouped_kernels_compile_into_registers(group, capability):
    if capability != (9, 0) and group not in (xdrop.GROUPS[0], xdrop.GROUPS[4], xdrop.GROUPS[-1]):
        pytest.skip("three of them stand for all on other devices")
    kernel = xdrop_grouped.grouped_kernel(*group, capability >= (9, 0))
    states = (types.int32, types.int32[:, ::1], types.uint32[:, ::1])
    ptx = compiled(kernel, (*ARGUMENTS, I4, types.int32, *states, *states, I4), capability)
    assert capability >= (10, 0) or ".local" not in ptx, "an array of a lane went to memory"


def test_kernels_that_plan_extensions_compile(capability):
    number = types.int64
    arguments = (I8, *SEEDS, *(number,) * 4, I8, number, number, I4, BOOLEANS, EXTENSIONS, I4, I4)
    ptx = compiled(plan_kernels.plan_extensions, arguments, capability)
    assert ".f64" not in ptx, "whole numbers became floating point"


def test_unknown_bases_are_marked_by_a_kernel_that_compiles(capability):
    compiled(walk_bases.mark_unknown, (I4, I4, I8, I8, U4), capability)


@pytest.mark.parametrize(("bits", "affine"), [(2, False), (3, True)], ids=["linear", "affine"])
def test_gact_kernels_compile_into_registers(bits, affine, capability):
    kernel = gact_path.extension_kernel(bits, affine)
    ptx = compiled(kernel, GACT_ARGUMENTS, capability)
    assert capability >= (10, 0) or ".local" not in ptx, "an array of a lane went to memory"


def test_kernels_that_join_gact_extensions_compile(capability):
    arguments = (U4, I8, I8, I4, BOOLEANS, I4, I4, I8, *(types.int64,) * 4, ROWS, ROWS, I8)
    compiled(gact_runs.measure, arguments, capability)
    compiled(gact_runs.write_runs, (U4, I8, I8, ROWS, I8, U4), capability)
