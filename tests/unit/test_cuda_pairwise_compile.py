"""The CUDA kernels of pairwise alignment compile for the devices we name, and keep cells in registers."""

import pytest

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from numba import types

from overlapper.kernels.common.cuda import sort_by_class
from overlapper.kernels.pairwise.cuda import (
    pairwise,
    pairwise_bands,
    pairwise_packed,
    pairwise_path,
    pairwise_wide,
)
from overlapper.kernels.pairwise.pairwise_chunks import Chunk
from tests.unit.cuda import compiled, record
from tests.unit.test_cuda_compile import capability  # noqa: F401 - a fixture

I4, I8, U4, U1, U8 = (
    kind[::1] for kind in (types.int32, types.int64, types.uint32, types.uint8, types.uint64)
)
NUMBER, ROWS = types.int32, types.int32[:, ::1]
CHUNK, SCORES = record(Chunk, U4, U4, ROWS), record(pairwise.Scores, I4, U4, U4, *(NUMBER,) * 5)
PATHS = (types.boolean, U4)


@pytest.mark.parametrize("group", [(8, 13), (8, 19), (16, 19)], ids=str)
def test_packed_kernels_compile_into_registers(group, capability):  # noqa: F811
    kernel = pairwise_packed.packed_kernel(*group, 5, capability >= (9, 0))
    arguments = (CHUNK, I4, U4, types.uint32, types.uint32, ROWS)
    ptx = compiled(kernel, arguments, capability)
    assert ".local" not in ptx, "an array of a lane went to memory"


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize(("traced", "banded"), [(True, False), (False, False), (True, True), (False, True)])
def test_wide_kernels_compile_into_registers(local, traced, banded, capability):  # noqa: F811
    if capability != (9, 0) and not (local and traced and not banded):
        pytest.skip("one device stands for all: these change a few instructions")
    # Scores from a table change one instruction.
    for bytes_fit in (True, False) if local and traced and capability == (9, 0) else (True,):
        kernel = pairwise_wide.wide_kernel(16, 10, local, traced, bytes_fit, banded)
        arguments = (CHUNK, I4, SCORES, I4, I8, U8, I8, ROWS)
        ptx = compiled(kernel, arguments, capability)
        assert ".local" not in ptx, "an array of a lane went to memory"


def test_paths_are_followed_by_kernels_that_compile(capability):  # noqa: F811
    arguments = (CHUNK, I4, SCORES, U8, I8, ROWS, *PATHS)
    compiled(pairwise_wide.trace_kernel(16, 10, True), arguments, capability)
    written = (U4, ROWS, ROWS, I8, *(types.int64,) * 2, U4)
    compiled(pairwise_path.write_runs, written, capability)


@pytest.mark.parametrize(("local", "banded"), [(True, False), (False, False), (False, True)])
def test_banded_kernels_compile_into_registers(local, banded, capability):  # noqa: F811
    arguments = (CHUNK, I4, SCORES, *(types.int64,) * 3, U8, U8, ROWS, *PATHS)
    kernel = pairwise_bands.banded_kernel(local, True, banded)
    ptx = compiled(kernel, arguments, capability)
    assert ".local" not in ptx, "an array of a thread went to memory"


def test_what_plans_bands_compiles(capability):  # noqa: F811
    compiled(pairwise_bands.plan_paths, (ROWS, ROWS, SCORES, I4), capability)
    compiled(sort_by_class.count_classes, (I4, I4), capability)
    compiled(sort_by_class.order_by_class, (I4, I4, I4), capability)
