"""Translation of kernels to LLVM's code, without what has no effect in them.

- For ``a[i]`` numba takes the whole array apart in memory, for indices of any kind: some fifty instructions,
  of which LLVM leaves five. Here there are those five from the start.
- numba counts a reference wherever a variable is set to an array, and one less where it ends. The arrays that
  a function was given are its caller's until it returns: here those, and parts of them, are not counted.

numba (0.61 to 0.68) has no such choice, so kernels are translated by a `Lower` of our own.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, ir, lowering, types
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.np import arrayobj

_PLAIN = types.Integer, types.Boolean, types.Float
_OF_PARTS = "getattr", "static_getitem", "exhaust_iter", "build_tuple", "cast"
"""Expressions that hold no other arrays than those they are made of."""


class Lower(lowering.Lower):
    """numba's translation of a function.

    Attributes
    ----------
    borrowed : set of str
        Variables whose references are not counted.
    """

    def pre_lower(self) -> None:
        """Prepare for a function."""
        super().pre_lower()
        self.borrowed = _borrowed(self.func_ir, self.fndesc.typemap, self.context)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """Translate what a variable is set to."""
        is_on = self.context.enable_nrt
        self.context.enable_nrt = is_on and inst.target.name not in self.borrowed
        try:
            return super().lower_assign(ty, inst)
        finally:
            self.context.enable_nrt = is_on

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        """Set a variable; what it was before is only looked at where that is counted."""
        self._alloca_var(name, self.typeof(name))
        in_memory = name not in self._singly_assigned_vars or self._disable_sroa_like_opt
        if in_memory and argidx is None and not self._is_counted(name):
            self.builder.store(value, self.getvar(name))
        else:
            super().storevar(value, name, argidx)

    def delvar(self, name: str) -> None:
        """End a variable."""
        if self._is_counted(name):
            super().delvar(name)

    def _is_counted(self, name: str) -> bool:
        return name not in self.borrowed and _has_references(self.context, self.typeof(name))

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Translate a read of an array."""
        array = self.typeof(value.name)
        if not self._is_element(array, signature.args[1]):
            return super().lower_getitem(resty, expr, value, index, signature)
        place = self._place(array, value, index, signature.args[1])
        item = arrayobj.load_item(self.context, self.builder, array, place)
        return self.context.cast(self.builder, item, array.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Translate a write to an array."""
        array, kind = self.typeof(target_var.name), self.typeof(value_var.name)
        if not (self._is_element(array, signature.args[1]) and isinstance(kind, _PLAIN)):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value = self.context.cast(self.builder, self.loadvar(value_var.name), kind, signature.args[2])
        value = self.context.cast(self.builder, value, signature.args[2], array.dtype)
        place = self._place(array, target_var, index_var, signature.args[1])
        return arrayobj.store_item(self.context, self.builder, array, value, place)

    def _is_element(self, array: Any, index: Any) -> bool:
        """Tell whether an index, one number an axis, is of a number in an array in C's order."""
        if not (isinstance(array, types.Array) and array.layout == "C" and isinstance(array.dtype, _PLAIN)):
            return False
        kinds = _each(index)
        of_numbers = len(kinds) == array.ndim and all(isinstance(kind, types.Integer) for kind in kinds)
        return of_numbers and not self.context.enable_boundscheck

    def _place(self, array: Any, variable: Any, index: Any, kind: Any) -> Any:
        """Return the address of an element."""
        context, builder = self.context, self.builder
        value = self.loadvar(variable.name)
        indices = context.cast(builder, self.loadvar(index.name), self.typeof(index.name), kind)
        fields = context.data_model_manager[array]._fields
        shape, data = fields.index("shape"), fields.index("data")
        each = cgutils.unpack_tuple(builder, indices) if isinstance(kind, types.BaseTuple) else [indices]
        place = None
        for axis, (of_axis, position) in enumerate(zip(_each(kind), each, strict=True)):
            size = builder.extract_value(value, [shape, axis])
            position = arrayobj.fix_integer_index(context, builder, of_axis, position, size)
            place = position if place is None else builder.add(builder.mul(place, size), position)
        return builder.gep(builder.extract_value(value, data), [place])


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(NativeLowering):
    """numba's pass that translates a function."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        """What translates it."""
        return Lower


def _borrowed(function: Any, kinds: Any, context: Any) -> set[str]:
    """Return the variables that only ever hold arrays that the function was given, or parts of them.

    What is returned is the caller's to count, and none of them.
    """
    if function.is_generator:
        return set()
    made_of: dict[str, list[set[str] | None]] = {}
    for block in function.blocks.values():
        for made in block.find_insts(ir.Assign):
            kind = kinds[made.target.name]
            if _is_array(kind) and _has_references(context, kind):
                made_of.setdefault(made.target.name, []).append(_parts(made.value, kinds))
    for block in function.blocks.values():
        for end in block.find_insts(ir.Return):
            made_of.pop(end.value.name, None)
    while True:
        others = {
            name
            for name, values in made_of.items()
            if any(
                parts is None or any(_has_references(context, kinds[p]) and p not in made_of for p in parts)
                for parts in values
            )
        }
        if not others:
            return set(made_of)
        for name in others:
            del made_of[name]


def _parts(value: Any, kinds: Any) -> set[str] | None:
    """Return the variables that an expression's arrays are those of, or parts; None where it may make one."""
    if isinstance(value, ir.Arg):
        return set()
    if isinstance(value, ir.Var):
        return {value.name}
    if not isinstance(value, ir.Expr):
        return None
    makes_tuple = value.op == "call" and isinstance(kinds[value.func.name], types.NamedTupleClass)
    takes_slice = value.op == "getitem" and all(
        isinstance(kind, types.Integer | types.SliceType) for kind in _each(kinds[value.index.name])
    )
    if makes_tuple or takes_slice or value.op in _OF_PARTS:
        return {variable.name for variable in value.list_vars()}
    return None


def _is_array(kind: Any) -> bool:
    """Tell whether a type is an array, or a tuple of such and of numbers."""
    if isinstance(kind, types.BaseTuple):
        return all(map(_is_array, _each(kind)))
    return isinstance(kind, (types.Array, *_PLAIN))


def _each(kind: Any) -> tuple[Any, ...]:
    """Return the types of a tuple's parts; another type as the only one."""
    return tuple(getattr(kind, "types", (kind,)))


def _has_references(context: Any, kind: Any) -> bool:
    return bool(context.data_model_manager[kind].contains_nrt_meminfo())
