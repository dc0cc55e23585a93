"""Counting references to arrays: only those parts of a value are taken out that may be counted.

numba takes an array apart into its size, shape, strides and so on wherever a reference to it is counted, and
looks at each part: a fifth of the instructions that it writes for kernels, none of which is of use. Where a
variable ends it stores zero, so that nothing is given back twice: a tenth, as most variables are numbers.
"""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from typing import Any

from numba.core.lowering import Lower
from numba.core.runtime.context import NRTContext

from overlapper.runtime.compile.replacing import replaced

_Lower: Any = Lower
_end_variable = _Lower.delvar


@functools.cache
def is_counted(models: Any, kind: Any) -> bool:
    """Tell whether a value of a type holds anything whose references are counted."""
    return bool(models[kind].contains_nrt_meminfo())


def _counted(self: Any, builder: Any, kind: Any, value: Any) -> list[tuple[Any, Any]]:
    """Return what numba's method does: what is counted in a value, in the same order."""
    models = self._context.data_model_manager
    model = models[kind]
    found = [(kind, model.get_nrt_meminfo(builder, value))] if model.has_nrt_meminfo() else []
    for kind_of_part, part in model.traverse(builder):
        if is_counted(models, kind_of_part):
            found += self.get_meminfos(builder, kind_of_part, part(value))
    return found


def _end_counted(self: Any, name: str) -> None:
    """Do as numba's method where a variable ends, but store nothing if it holds nothing counted."""
    kind = self.typeof(name)
    if is_counted(self.context.data_model_manager, kind):
        _end_variable(self, name)
    elif name not in self._blk_local_varmap:  # it may end before a loop sets it
        self._singly_assigned_vars.discard(name)
        self._alloca_var(name, kind)


def of_counted_parts() -> AbstractContextManager[None]:
    """Have numba take out, and give back, meanwhile only what may be counted."""
    return replaced((NRTContext, "get_meminfos", _counted), (Lower, "delvar", _end_counted))
