"""Fixed-width integer vectors as numba values.

CPU only.

numba vectorises loops when LLVM sees how; it cannot be told to keep a row of cells in registers from one
iteration to the next. Here a vector is a value like any other: kernels assign it to variables and hand it to
the operations below, and LLVM keeps it in registers and lowers it to whatever the processor has (one AVX-512
register holds 64 int8; without AVX-512, LLVM splits the vector and the results are the same).

A vector type is a number of lanes and the bits of a lane; lane 0 comes first in memory. Lane by lane work
``+ - * & | ^ ~ << >>``; sums wrap around, and zeros come from above where lanes are moved down. ``== > >=``
give a mask, one bit a lane, of signed comparisons; ``&`` of two masks has the lanes set in both. `Lanes`
passes a number of lanes to a kernel as a type, so that one source compiles for several widths.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import OpaqueModel, PrimitiveModel
from numba.core.imputils import lower_builtin, lower_constant
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import NativeValue, register_model, typeof_impl, unbox
from numba.extending import intrinsic as _intrinsic

intrinsic: Any = _intrinsic  # A type checker does not see that it takes one argument less than it declares.
_BIT = ir.IntType(1)
_INT64 = ir.IntType(64)


class Lanes:
    """A number of lanes, as an argument of a kernel."""

    def __init__(self, count: int) -> None:
        self.count = count


class LanesType(types.Type):
    """numba's type of `Lanes`: a count known to the compiler."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"Lanes({count})")


class VectorType(types.Type):
    """numba's type of a vector of ``lanes`` signed integers of ``bits`` bits."""

    def __init__(self, bits: int, lanes: int) -> None:
        self.bits, self.lanes = bits, lanes
        super().__init__(name=f"Vector({bits}, {lanes})")

    @property
    def llvm(self) -> ir.VectorType:
        """The type in LLVM's terms."""
        return ir.VectorType(ir.IntType(self.bits), self.lanes)


class MaskType(types.Type):
    """numba's type of a mask: an integer whose bit ``l`` belongs to lane ``l``."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        super().__init__(name=f"Mask({lanes})")


@typeof_impl.register(Lanes)
def _typeof_lanes(value: Lanes, _context: Any) -> LanesType:
    return LanesType(value.count)


register_model(LanesType)(OpaqueModel)


@lower_constant(LanesType)
def _lanes_constant(context: Any, _builder: Any, _typ: Any, _value: Any) -> Any:
    return context.get_dummy_value()


@unbox(LanesType)
def _unbox_lanes(_typ: Any, _value: Any, context: Any) -> NativeValue:
    return NativeValue(context.context.get_dummy_value())


@register_model(VectorType)
class _VectorModel(PrimitiveModel):
    def __init__(self, manager: Any, fe_type: VectorType) -> None:
        super().__init__(manager, fe_type, fe_type.llvm)


@register_model(MaskType)
class _MaskModel(PrimitiveModel):
    def __init__(self, manager: Any, fe_type: MaskType) -> None:
        super().__init__(manager, fe_type, ir.IntType(fe_type.lanes))


def _address(
    context: Any, builder: Any, array_type: Any, array: Any, index: Any, vector: ir.VectorType
) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


@intrinsic
def width(_typing: Any, lanes: Any) -> Any:
    """``width(lanes)``: the number of lanes, a constant to the compiler."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _INT64(lanes.count)

    return types.int64(lanes), generate


@intrinsic
def load(_typing: Any, lanes: Any, array: Any, index: Any) -> Any:
    """``load(lanes, array, index)``: the vector that starts at ``array[index]``, aligned or not."""
    vector = VectorType(array.dtype.bitwidth, lanes.count)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, data, at = arguments
        value = builder.load(_address(context, builder, array, data, at, vector.llvm))
        value.align = 1
        return value

    return vector(lanes, array, types.int64), generate


@intrinsic
def store(_typing: Any, array: Any, index: Any, vector: Any) -> Any:
    """``store(array, index, vector)``: write the lanes to ``array[index]`` and on, aligned or not."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, at, value = arguments
        instruction = builder.store(value, _address(context, builder, array, data, at, vector.llvm))
        instruction.align = 1
        return context.get_dummy_value()

    return types.void(array, types.int64, vector), generate


@intrinsic
def splat(_typing: Any, lanes: Any, like: Any, value: Any) -> Any:
    """``splat(lanes, like, value)``: the integer in every lane, lanes as wide as the items of ``like``."""
    vector = VectorType(like.dtype.bitwidth, lanes.count)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        scalar = builder.trunc(arguments[2], ir.IntType(vector.bits))
        one = ir.Constant(vector.llvm, ir.Undefined)
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.lanes), None)
        return builder.shuffle_vector(builder.insert_element(one, scalar, ir.IntType(32)(0)), one, zeros)

    return vector(lanes, like, types.int64), generate


@intrinsic
def choose(_typing: Any, condition: Any, chosen: Any, other: Any) -> Any:
    """``choose(condition, chosen, other)``: one of two masks or of two int64, without a branch."""
    result = chosen if isinstance(chosen, MaskType) else types.int64

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.trunc(arguments[0], _BIT), *arguments[1:])

    return result(types.boolean, result, result), generate


def _call(builder: Any, operation: str, result: ir.Type, *values: Any) -> Any:
    function_type = ir.FunctionType(result, [value.type for value in values])
    function = cgutils.get_or_insert_function(builder.module, function_type, operation)
    return builder.call(function, values)


def _lane_by_lane(
    symbol: Any, kind: Any, build: Any, result: Callable[[Any], Any] = lambda kind: kind, operands: int = 2
) -> None:
    """Have an operator do what ``build(builder, *operands)`` does with vectors, or masks, of one type."""

    class Typed(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if isinstance(args[0], kind) and args == operands * args[:1]:
                return signature(result(args[0]), *args)
            return None

    infer_global(symbol)(Typed)
    lower_builtin(symbol, *operands * [kind])(
        lambda context, builder, signature, values: build(builder, *values)
    )


def _compare(symbol: str) -> Any:
    def build(builder: Any, left: Any, right: Any) -> Any:
        return builder.bitcast(builder.icmp_signed(symbol, left, right), ir.IntType(left.type.count))

    return build


for _symbol, _name in (
    *((operator.add, "add"), (operator.sub, "sub"), (operator.mul, "mul"), (operator.and_, "and_")),
    *((operator.or_, "or_"), (operator.xor, "xor"), (operator.lshift, "shl"), (operator.rshift, "lshr")),
):
    _lane_by_lane(_symbol, VectorType, getattr(ir.IRBuilder, _name))
_lane_by_lane(operator.invert, VectorType, ir.IRBuilder.not_, operands=1)
_lane_by_lane(operator.and_, MaskType, ir.IRBuilder.and_)
for _symbol, _name in ((operator.eq, "=="), (operator.gt, ">"), (operator.ge, ">=")):
    _lane_by_lane(_symbol, VectorType, _compare(_name), lambda vector: MaskType(vector.lanes))


def _operation(arguments: int, typed: Callable[..., Any], build: Callable[..., Any]) -> Any:
    """Return a function of vectors, masks and integers for kernels.

    Parameters
    ----------
    arguments : int
    typed : callable
        ``typed(*kinds)`` is its signature, of the types of its arguments.
    build : callable
        ``build(builder, *values)`` makes it.
    """

    def of(*kinds: Any) -> Any:
        return typed(*kinds), lambda context, builder, signature, values: build(builder, *values)

    declared: Any = {
        1: lambda _typing, a: of(a),
        2: lambda _typing, a, b: of(a, b),
        3: lambda _typing, a, b, c: of(a, b, c),
    }
    return intrinsic(declared[arguments])


def _by_llvm(operation: str, *more: Any) -> Any:
    """Return what calls one of LLVM's functions of vectors with vectors, and with more."""

    def build(builder: Any, *vectors: Any) -> Any:
        kind = vectors[0].type
        name = f"llvm.{operation}.v{kind.count}i{kind.element.width}"
        result = kind.element if "reduce" in operation else kind
        return _call(builder, name, result, *vectors, *more)

    return build


def _to_int64(builder: Any, value: Any) -> Any:
    bits = value.type.width
    return value if bits == 64 else builder.trunc(value, _INT64) if bits > 64 else builder.zext(value, _INT64)


def _count_zeros(end: str) -> Any:
    def build(builder: Any, mask: Any) -> Any:
        name = f"llvm.{end}.i{mask.type.width}"
        return _to_int64(builder, _call(builder, name, mask.type, mask, _BIT(0)))

    return build


def _moved_up(builder: Any, vector: Any, source: Any, first: int) -> Any:
    """Move each lane up by one; lane 0 gets the one of this number, of two vectors one behind the other."""
    places = [first, *range(vector.type.count - 1)]
    return builder.shuffle_vector(
        vector, source, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)
    )


def _selected(builder: Any, mask: Any, chosen: Any, other: Any) -> Any:
    return builder.select(builder.bitcast(mask, ir.VectorType(_BIT, mask.type.width)), chosen, other)


def _of_first(*kinds: Any) -> Any:
    return kinds[0](*kinds)


maximum = _operation(2, _of_first, _by_llvm("smax"))
"""``maximum(left, right)``: the larger, lane by lane."""
minimum = _operation(2, _of_first, _by_llvm("smin"))
"""``minimum(left, right)``: the smaller, lane by lane."""
leading_zeros = _operation(1, _of_first, _by_llvm("ctlz", _BIT(0)))
"""``leading_zeros(vector)``: bits that are not set above the highest one that is, lane by lane."""
largest = _operation(
    1,
    types.int64,
    lambda builder, vector: builder.sext(_by_llvm("vector.reduce.smax")(builder, vector), _INT64),
)
"""``largest(vector)``: the largest lane, as int64."""
widen = _operation(
    1,
    lambda vector: VectorType(2 * vector.bits, vector.lanes)(vector),
    lambda builder, vector: builder.zext(
        vector, ir.VectorType(ir.IntType(2 * vector.type.element.width), vector.type.count)
    ),
)
"""``widen(vector)``: lanes of twice the bits, with zeros above those that were there."""
rotate_up = _operation(1, _of_first, lambda builder, v: _moved_up(builder, v, v, v.type.count - 1))
"""``rotate_up(vector)``: lane ``l`` gets what lane ``l - 1`` held, lane 0 what the last one held."""
shift_in = _operation(2, _of_first, lambda builder, v, source: _moved_up(builder, v, source, v.type.count))
"""``shift_in(vector, source)``: lane ``l`` gets what lane ``l - 1`` held, lane 0 that of ``source``."""
lane = _operation(
    2,
    lambda vector, number: types.int64(vector, types.int64),
    lambda builder, vector, number: builder.sext(builder.extract_element(vector, number), _INT64),
)
"""``lane(vector, number)``: one lane, as int64."""
select = _operation(3, lambda mask, chosen, other: chosen(mask, chosen, other), _selected)
"""``select(mask, chosen, other)``: lanes of ``chosen`` where the mask is set, else of ``other``."""
bits_of = _operation(1, types.int64, _to_int64)
"""``bits_of(mask)``: the mask of up to 64 lanes as an integer, bit ``l`` for lane ``l``."""
any_lane = _operation(1, types.boolean, lambda builder, mask: builder.icmp_unsigned("!=", mask, mask.type(0)))
"""``any_lane(mask)``: whether any lane is set."""
top_lane = _operation(1, types.boolean, lambda builder, mask: builder.icmp_signed("<", mask, mask.type(0)))
"""``top_lane(mask)``: whether the last lane is set."""
lanes_below = _operation(1, types.int64, _count_zeros("cttz"))
"""``lanes_below(mask)``: how many clear lanes come before the first set one; all lanes if none is set."""
lanes_above = _operation(1, types.int64, _count_zeros("ctlz"))
"""``lanes_above(mask)``: how many clear lanes come after the last set one; all lanes if none is set."""
