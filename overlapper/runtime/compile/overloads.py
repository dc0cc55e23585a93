"""Functions of numba's own that kernels call (``max``, ``+``): looked up and compiled once, for them alone.

numba compiles them for every set of options of the kernel that calls one, though few of the options matter to
them; compares all options each time that it looks whether one is there; and gives each a way in from C, which
nobody takes. To find the types of a function's variables it looks up each call, and each ``+``, three or four
times over, by trying all that the function could be. It also tells every kernel that waits for what it calls
when LLVM is locked and when it is free again, at each call of LLVM. Here is none of that while a kernel is
compiled.
"""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from typing import Any

from llvmlite.binding import ffi
from numba.core.targetconfig import ConfigStack
from numba.core.types import functions
from numba.core.typing import templates

from overlapper.runtime.compile.replacing import replaced

_PASSED_ON = "nrt", "fastmath", "error_model", "forceinline"
"""The options that a function takes over from what calls it (``numba.core.cpu.CPUTargetOptions``)."""
_Template: Any = templates._OverloadFunctionTemplate
_jit_decorator = _Template._get_jit_decorator


_call_type = functions.BaseFunction.get_call_type
_known: dict[Any, tuple[Any, Any]] = {}
"""Signatures of calls and the keys of what they call, by function, types of arguments and options."""


def _options() -> Any:
    options = ConfigStack.top_or_none()
    return options and tuple(str(getattr(options, name)) for name in _PASSED_ON)


def _get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return what numba's method does, found once."""
    key = self, context, tuple(args), tuple(kws.items()), _options()
    if key not in _known:
        signature = _call_type(self, context, args, kws)
        _known[key] = signature, self.get_impl_key(signature)
    signature, self._impl_keys[signature.args] = _known[key]
    return signature


def _get_impl(self: Any, args: Any, kws: Any) -> Any:
    """Return what numba's method does, found by fewer options."""
    key = self.context, tuple(args), tuple(kws.items()), _options()
    try:
        return self._impl_cache[key]
    except KeyError:
        return self._build_impl(key, args, kws)


def for_kernels(pipeline: type) -> AbstractContextManager[None]:
    """Have such functions be compiled by a pipeline meanwhile, and nobody told of LLVM's lock."""

    def get_jit_decorator(self: Any) -> Any:
        return functools.partial(
            _jit_decorator(self), no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=pipeline
        )

    return replaced(
        (_Template, "_get_impl", _get_impl),
        (_Template, "_get_jit_decorator", get_jit_decorator),
        (functions.BaseFunction, "get_call_type", _get_call_type),
        (ffi.lib._lock, "_cblist", []),
    )
