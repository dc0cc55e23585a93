"""The switch that turns the rest of this folder off, so that numba is used as it is.

This folder works with insides of numba, to start commands sooner, to compile less, and to load no kernel that
is damaged or somebody else's. Nothing else depends on it: results are the same to the byte without. It is
left out where the environment variable `SWITCH` is set to anything but 0, and where a numba lacks one of the
names in `_USED`. Kernels are then kept by numba itself.
"""

from __future__ import annotations

import functools
import importlib
import os
from pathlib import Path

SWITCH = "OVERLAPPER_PLAIN_NUMBA"
_USED = {
    "llvmlite.binding.ffi": ["lib._lock._cblist"],
    "numba.core.base": ["BaseContext.refresh"],
    "numba.core.caching": ["_Cache"],
    "numba.core.cgutils": [
        "ValueStructProxy._getvalue", "ValueStructProxy._make_refs", "alloca_once", "alloca_once_value",
        "get_item_pointer2", "unpack_tuple",
    ],
    "numba.core.codegen": [
        f"JITCodeLibrary.{name}"
        for name in (
            "_ensure_finalized", "_finalize_dynamic_globals", "_finalize_final_module",
            "_get_compiled_object", "_get_module_for_linking", "_optimize_final_module",
            "_optimize_functions", "_set_compiled_object", "add_linking_library", "enable_object_caching",
            "finalize", "get_pointer_to_function",
        )
    ],
    "numba.core.compiler": [
        "Compiler.compile_extra", "Compiler.define_pipelines", "CompileResult._reduce",
        "DefaultPassBuilder.define_nopython_pipeline", "compile_result",
    ],
    "numba.core.datamodel.models": ["DataModel.contains_nrt_meminfo", "DataModel.has_nrt_meminfo"],
    "numba.core.dispatcher": ["Dispatcher.get_call_template", "Dispatcher.get_overload"],
    "numba.core.environment": ["Environment", "lookup_environment", "_rebuild_env"],
    "numba.core.inline_closurecall": ["InlineClosureCallPass.run"],
    "numba.core.ir_utils": ["get_definition", "guard"],
    "numba.core.lowering": [
        f"Lower.{name}"
        for name in (
            "_alloca_var", "_disable_sroa_like_opt", "_find_singly_assigned_variable", "delvar", "loadvar",
            "lower_expr", "storevar",
        )
    ],
    "numba.core.postproc": [
        "PostProcessor._insert_var_dels", "PostProcessor.run", "VariableLifetime.cfg",
        "VariableLifetime.usedefs",
    ],
    "numba.core.runtime._nrt_python": ["c_helpers.items"],
    "numba.core.runtime.context": ["NRTContext.get_meminfos"],
    "numba.core.serialize": ["dumps"],
    "numba.core.targetconfig": ["ConfigStack.top_or_none"],
    "numba.core.transforms": ["canonicalize_cfg"],
    "numba.core.typed_passes": ["AnnotateTypes", "DumpParforDiagnostics", "InlineOverloads"],
    "numba.core.types.functions": ["BaseFunction.get_call_type", "BaseFunction.get_impl_key"],
    "numba.core.typing.templates": [
        f"_OverloadFunctionTemplate.{name}" for name in ("_build_impl", "_get_impl", "_get_jit_decorator")
    ],
    "numba.core.untyped_passes": [
        "InlineInlinables", "WithLifting",
    ],
    "numba.np.arrayobj": [
        "basic_indexing", "fix_integer_index", "make_array", "raise_with_shape_context",
    ],
}  # fmt: skip
"""What this folder takes from modules of numba, or takes the place of."""


def is_asked_for() -> bool:
    """Tell whether the environment variable `SWITCH` is set, to something else than 0."""
    return os.environ.get(SWITCH, "0") not in ("", "0")


@functools.cache
def is_plain() -> bool:
    """Tell whether numba is used as it is: by the switch, or because it lacks a name that we replace."""
    return is_asked_for() or not all(map(_has, _USED, _USED.values()))


def keep_kernels_at_home() -> None:
    """Have numba keep kernels in the user's folder for caches, unless the environment names another one.

    Its default is a place that a file in the working directory may name.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "overlapper", "numba")
    os.environ.setdefault("NUMBA_CACHE_DIR", str(home))


def _has(module: str, names: list[str]) -> bool:
    """Tell whether a module has what is looked for there."""
    try:
        loaded = importlib.import_module(module)
        for name in names:
            functools.reduce(getattr, name.split("."), loaded)
    except (ImportError, AttributeError):
        return False
    return True
