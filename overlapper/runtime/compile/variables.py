"""Variables that are set at one place: their value is used as it is, wherever this place comes before.

numba does so within a block of a function. What other blocks use, as loops do the arguments, it keeps in
memory, and reads all of it for every item of an array: LLVM then finds out that it is the same value. Where
references to a value are counted it is still kept there, too, for where the variable ends.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import AbstractContextManager
from typing import Any

from numba.core import ir
from numba.core.lowering import Lower

from overlapper.runtime.compile.references import is_counted
from overlapper.runtime.compile.replacing import replaced

_Lower: Any = Lower
_find = _Lower._find_singly_assigned_variable
_load, _store = _Lower.loadvar, _Lower.storevar


def _find_set_once(self: Any) -> None:
    """Do as numba's method, and find variables that are set once before all blocks that use them."""
    _find(self)
    found, models = _set_once(self), self.context.data_model_manager
    self._values, self._valued = {}, {name for name in found if is_counted(models, self.typeof(name))}
    self._singly_assigned_vars |= found - self._valued


def _set_once(self: Any) -> set[str]:
    """Return variables that are set at one place, and used in blocks that are reached through it alone."""
    function = self.func_ir.func_id
    if function.is_generator or function.code.co_exceptiontable or self._disable_sroa_like_opt:
        return set()  # blocks are reached in other ways, too, or debuggers look at variables
    set_in = defaultdict(list)
    for label, block in self.blocks.items():
        for assigned in block.find_insts(ir.Assign):
            set_in[assigned.target.name].append(label)
    lifetime = self.func_ir.variable_lifetime
    used: set[str] = set()
    unsure: set[str] = set()
    for label, names in lifetime.usedefs.usemap.items():
        before = {other for other in lifetime.cfg.dominators()[label] if other < label}
        used |= names
        unsure |= {name for name in names if len(set_in[name]) != 1 or set_in[name][0] not in before}
    return used - unsure


def _load_value(self: Any, name: str) -> Any:
    """Return the value of a variable."""
    return self._values[name] if name in self._values else _load(self, name)


def _store_value(self: Any, value: Any, name: str, argidx: int | None = None) -> None:
    """Do as numba's method, and remember the value of a variable that is set once."""
    _store(self, value, name, argidx)
    if name in self._valued:
        self._values[name] = value


def used_as_they_are() -> AbstractContextManager[None]:
    """Have numba use the values of variables that are set once meanwhile, without memory."""
    return replaced(
        (Lower, "_find_singly_assigned_variable", _find_set_once),
        (Lower, "loadvar", _load_value),
        (Lower, "storevar", _store_value),
    )
