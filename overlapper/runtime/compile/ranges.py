"""Loops over ranges of numbers that follow each other, begun without the division that others need.

numba has one way to begin a loop over any range: it divides by the step, and raises an error where that is 0,
in 45 instructions and four branches a loop. In nearly all loops of kernels no step is written, so it is 1.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from numba.core import cgutils, ir_utils, types, typing
from numba.core.lowering import Lower

from overlapper.runtime.compile.replacing import replaced

_Lower: Any = Lower
_lower_expr = _Lower.lower_expr


def _begun(self: Any, kind: Any, expression: Any) -> Any:
    """Do as numba's method; where a loop over a range without a step begins, return its iterator."""
    if expression.op != "getiter" or not _has_no_step(self, kind, expression):
        return _lower_expr(self, kind, expression)
    builder, model = self.builder, self.context.data_model_manager[kind]
    start, stop, step = cgutils.unpack_tuple(builder, self.loadvar(expression.value.name), 3)
    length = builder.sub(stop, start)
    none = length.type(0)
    count = builder.select(builder.icmp_signed(">", length, none), length, none)
    parts = {
        "iter": cgutils.alloca_once_value(builder, start), "stop": stop, "step": step,
        "count": cgutils.alloca_once_value(builder, count),
    }  # fmt: skip
    iterator = model.get_value_type()(None)
    for name, part in parts.items():
        iterator = builder.insert_value(iterator, part, model.get_field_position(name))
    return iterator


def _has_no_step(self: Any, kind: Any, begun: Any) -> bool:
    """Tell whether a loop begins, by an iterator of a type, over a range that was made without a step."""
    over = self.typeof(begun.value.name)
    signature = self.fndesc.calltypes[begun]
    if not isinstance(over, types.RangeType) or signature != typing.signature(kind, over):
        return False
    made = ir_utils.guard(ir_utils.get_definition, self.func_ir, begun.value)
    if getattr(made, "op", "") != "call" or made.vararg is not None:
        return False
    return getattr(self.typeof(made.func.name), "typing_key", None) is range and len(made.args) < 3


def begun_without_division() -> AbstractContextManager[None]:
    """Have numba begin loops over ranges without a step that way meanwhile."""
    return replaced((Lower, "lower_expr", _begun))
