"""CUDA kernels compiled for devices that need not be there."""

from types import SimpleNamespace
from unittest import mock

from numba import cuda, types
from numba.cuda import dispatcher

H100 = (9, 0)


def compiled(kernel, arguments, capability=H100):
    """Return the PTX of a kernel, by the types of its arguments."""
    # Device functions ask the current device what to compile for; here there may be none.
    device = SimpleNamespace(compute_capability=capability)
    with mock.patch.object(dispatcher, "get_current_device", lambda: device):
        ptx, _ = cuda.compile(
            kernel.py_func, types.void(*arguments), cc=capability, device=False, abi="numba", output="ptx"
        )
    ptx = ptx.decode() if isinstance(ptx, bytes) else ptx
    major, minor = capability
    assert f".target sm_{major}{minor}" in ptx
    return ptx
