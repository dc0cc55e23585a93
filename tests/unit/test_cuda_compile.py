"""Every CUDA kernel compiles for the devices we name, and keeps its cells in registers; needs no driver."""

import pytest

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from numba import types

from overlapper.kernels.common.cuda import walk_bases
from overlapper.kernels.common.cuda.walks import DeviceColumns
from overlapper.kernels.common.walks import Seeds
from overlapper.kernels.gact.cuda import gact_path, gact_runs
from overlapper.kernels.gact.cuda.gact_layout import TileScores
from overlapper.kernels.xdrop.cuda import plan_kernels, xdrop, xdrop_grouped
from overlapper.kernels.xdrop.xdrop import Scheme
from tests.unit.cuda import compiled, record

I4, I8, U4, BOOLEANS = types.int32[::1], types.int64[::1], types.uint32[::1], types.boolean[::1]
READS = record(DeviceColumns, U4, U4, I8, I8)
SEEDS = record(Seeds, I4, I4, BOOLEANS, I4, I4, types.int64)
EXTENSIONS = types.int32[:, ::1]
ARGUMENTS = (READS, SEEDS, I4, types.int32, I4, record(Scheme, *(types.int32,) * 6), I4, EXTENSIONS, I4)
NUMBERS = (*(types.int32,) * 2, *(types.int64,) * 3, *(types.uint32,) * 2)
ROOM = (types.uint32[:, ::1], types.uint32[:, ::1], types.uint64[:, ::1])
GACT_ARGUMENTS = (
    READS, SEEDS, I8, record(TileScores, *(types.uint32,) * 5), *NUMBERS, I4, *ROOM, U4, I8, I8, I4,
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
    states = record(xdrop._States, *(types.int32,) * 2, types.int32[:, ::1], types.uint32[:, ::1])
    ptx = compiled(kernel, (*ARGUMENTS, states, states, I4), capability)
    assert capability >= (10, 0) or ".local" not in ptx, "an array of a lane went to memory"


def test_kernels_that_plan_extensions_compile(capability):
    number = types.int64
    needs = record(xdrop.Needs, I4, BOOLEANS)
    arguments = (I8, SEEDS, *(number,) * 3, I8, number, number, needs, EXTENSIONS, I4, I4)
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
    arguments = (U4, I8, I8, SEEDS, I8, *(types.int64,) * 4, ROWS, ROWS, I8)
    compiled(gact_runs.measure, arguments, capability)
    compiled(gact_runs.write_runs, (U4, I8, I8, ROWS, I8, U4), capability)
