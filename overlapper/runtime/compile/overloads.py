"""Functions of numba's own that kernels call (``max``, ``np.zeros``): compiled once, and for kernels alone.

numba compiles them for every set of options of the kernel that calls one, though few of the options matter to
them; compares all options each time that it looks whether one is there; and gives each a way in from C, which
nobody takes. It also tells every kernel that waits for what it calls when LLVM is locked and when it is free
again, at each call of LLVM. Here is none of that while a kernel is compiled.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from llvmlite.binding import ffi
from numba.core.targetconfig import ConfigStack
from numba.core.typing import templates

_PASSED_ON = "nrt", "fastmath", "error_model", "forceinline"
"""The options that a function takes over from what calls it (``numba.core.cpu.CPUTargetOptions``)."""
_Template: Any = templates._OverloadFunctionTemplate
_jit_decorator = _Template._get_jit_decorator


def _get_impl(self: Any, args: Any, kws: Any) -> Any:
    """Return what numba's method does, found by fewer options."""
    options = ConfigStack.top_or_none()
    passed_on = options and tuple(str(getattr(options, name)) for name in _PASSED_ON)
    key = self.context, tuple(args), tuple(kws.items()), passed_on
    try:
        return self._impl_cache[key]
    except KeyError:
        return self._build_impl(key, args, kws)


@contextlib.contextmanager
def for_kernels(pipeline: type) -> Iterator[None]:
    """Have such functions be compiled by a pipeline meanwhile, and nobody told of LLVM's lock."""

    def get_jit_decorator(self: Any) -> Any:
        return functools.partial(
            _jit_decorator(self), no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=pipeline
        )

    lock = ffi.lib._lock
    before = _Template._get_impl, _Template._get_jit_decorator, lock._cblist
    _Template._get_impl, _Template._get_jit_decorator, lock._cblist = _get_impl, get_jit_decorator, []
    try:
        yield
    finally:
        _Template._get_impl, _Template._get_jit_decorator, lock._cblist = before
