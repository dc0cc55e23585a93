"""The kernels of chains compile for the devices we name, without a driver."""

import importlib.util

import pytest

if importlib.util.find_spec("numba_cuda") is None:
    pytest.skip("numba-cuda is not installed (the extra gpu brings it)", allow_module_level=True)

from numba import types

from overlapper.kernels.cuda import chain_paths
from tests.unit.test_cuda_compile import compiled

U1, U4, I4, I8, BOOLEANS = (
    kind[::1] for kind in (types.uint8, types.uint32, types.int32, types.int64, types.boolean)
)
ROOMS, ROWS = types.uint64[:, ::1], types.int32[:, ::1]
KERNELS = {
    chain_paths.unpack: (U4, U4, I8, I8, I8, I8, BOOLEANS, I4, I8, types.int64, U1),
    chain_paths.pair_gaps: (I8, *(I4,) * 6, I8, I8, U1, U1, ROOMS, I4, I4),
    chain_paths.extend_ends: (
        I8, I8, *(I4,) * 4, I8, I8, U1, U1, ROOMS, *(types.int64,) * 5, I4, I4, ROWS,
    ),
    chain_paths.find_runs: (ROWS, I8, I8, U1, U1, I4, I8, U4, I8),
    chain_paths.pack_runs: (U4, I8, I8, U4),
}  # fmt: skip


@pytest.mark.parametrize("capability", [(8, 0), (10, 0)], ids=["sm_80", "sm_100"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.py_func.__name__)
def test_the_kernel_compiles(kernel, capability, monkeypatch):
    compiled(kernel, KERNELS[kernel], capability, monkeypatch)
