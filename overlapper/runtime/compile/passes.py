"""The passes that numba makes over a function: only those that kernels need, with what they ask for.

After every pass that changes a function numba finds where each of its variables is last used, nine times over
all. For functions that are no generators only the last time is made use of, where it also says what is freed.
And numba looks for what no kernel has: functions that are put into others before their types are known,
blocks that are run by Python. And for what few have, functions and lists within a function. Together this is
a tenth of compiling. What it looks for in loops over values of several types stays: its own functions have
such loops (on Python 3.12 the one for ``a[columns]``, of numba 0.67 and 0.68.0).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from numba.core import ir, postproc, transforms, typed_passes, untyped_passes
from numba.core.compiler import DefaultPassBuilder
from numba.core.inline_closurecall import InlineClosureCallPass

from overlapper.runtime.compile.replacing import replaced

_Processor: Any = postproc.PostProcessor
_run = _Processor.run
_Inliner: Any = InlineClosureCallPass
_inline = _Inliner.run
_INLINED = {"make_function", "build_list"}
_NEEDLESS = {
    untyped_passes.WithLifting,
    untyped_passes.InlineInlinables,
    typed_passes.InlineOverloads,
    typed_passes.AnnotateTypes,
    typed_passes.DumpParforDiagnostics,
}


def needed(state: Any) -> Any:
    """Return the passes over a function that is being compiled."""
    manager: Any = DefaultPassBuilder.define_nopython_pipeline(state)
    manager.passes = [(kind, text) for kind, text in manager.passes if kind not in _NEEDLESS]
    manager.finalize()
    return manager


def _find_what_is_used(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Do as numba's method, but find where variables are used when that is asked for."""
    function = self.func_ir
    if function.is_generator:
        _run(self, emit_dels, extend_lifetimes)
        return
    function.blocks = transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = postproc.VariableLifetime(function.blocks)
    function.generator_info = None
    if emit_dels:
        self._insert_var_dels(extend_lifetimes=extend_lifetimes)


def _inline_if_any(self: Any) -> None:
    """Do as numba's method, which puts functions and lists into a function, where there are any in it."""
    statements = (statement for block in self.func_ir.blocks.values() for statement in block.body)
    values = (statement.value for statement in statements if isinstance(statement, ir.Assign))
    if any(isinstance(value, ir.Expr) and value.op in _INLINED for value in values):
        _inline(self)


def when_needed() -> AbstractContextManager[None]:
    """Have numba find where variables are used only when that is asked for, and inline only what there is."""
    return replaced((_Processor, "run", _find_what_is_used), (_Inliner, "run", _inline_if_any))
