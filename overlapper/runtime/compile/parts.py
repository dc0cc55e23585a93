"""Parts of a value (the shape of an array, the step of a range) taken out of it where it is.

numba stores a value in memory to read a part of it, and has LLVM find out that this memory is not needed: a
third of the instructions that it writes for items of arrays, and a quarter of those for loops. Here a value
is stored only if something asks for its address, or changes it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from numba.core import cgutils
from numba.np import arrayobj

_Proxy: Any = cgutils.ValueStructProxy
_Module: Any = arrayobj
_of_numba = {name: getattr(_Proxy, name) for name in ("__init__", "__getitem__", "_getvalue")}
_make_array = _Module.make_array


def _init(self: Any, context: Any, builder: Any, value: Any = None, ref: Any = None) -> None:
    """Do as numba's method, but keep a value that is given as it is."""
    self._given = None
    if value is not None and ref is None:
        model = context.data_model_manager[self._fe_type]
        if value.type == model.get_value_type():
            self._context, self._datamodel, self._builder = context, model, builder
            self._be_type, self._given, self._block = value.type, value, builder.block
            return
    _of_numba["__init__"](self, context, builder, value, ref)


def _part(self: Any, index: int) -> Any:
    """Return a part of the value; it is read from memory once the value is there."""
    if self._given is None:
        return _of_numba["__getitem__"](self, index)
    return self._builder.extract_value(self._given, index)


def _whole(self: Any) -> Any:
    """Return the value."""
    return _of_numba["_getvalue"](self) if self._given is None else self._given


def _address(name: str) -> property:
    """Return an attribute that holds where the value is in memory; it is stored when that is first asked."""

    def get(self: Any) -> Any:
        if self._given is not None:
            value, self._given = self._given, None
            self._value = self._outer_ref = cgutils.alloca_once(self._builder, value.type)
            # In the block where it came from, so that it is there wherever it is asked for.
            with self._builder.goto_block(self._block):
                self._builder.store(value, self._value)
        return vars(self)[name]

    def put(self: Any, place: Any) -> None:
        vars(self)[name] = place

    return property(get, put)


def _shape(self: Any) -> Any:
    """Return the shape of an array."""
    if self._given is None:
        return super(type(self), self).shape
    return self[self._datamodel.get_field_position("shape")]


@functools.cache
def _array(kind: Any) -> Any:
    """Return the class of arrays of a type that numba's function makes anew each time."""
    made = _make_array(kind)
    return type(made.__name__, (made,), {"shape": property(_shape)})


_OURS = {
    "__init__": _init, "__getitem__": _part, "_getvalue": _whole,
    "_value": _address("_value"), "_outer_ref": _address("_outer_ref"),
}  # fmt: skip


@contextlib.contextmanager
def taken_from_values() -> Iterator[None]:
    """Have numba take parts out of values meanwhile, without memory."""
    if "_value" in vars(_Proxy):  # a kernel that another one calls
        yield
        return
    for name, our in _OURS.items():
        setattr(_Proxy, name, our)
    _Module.make_array = _array
    try:
        yield
    finally:
        for name in _OURS:
            delattr(_Proxy, name)
        _Module.make_array = _make_array
