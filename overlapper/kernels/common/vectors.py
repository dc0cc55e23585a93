"""Fixed-width integer vectors as numba values.

CPU only.

numba vectorises loops when LLVM sees how; it cannot be told to keep a row of cells in registers from one
iteration to the next. Here a vector is a value like any other: kernels assign it to variables and hand it to
the operations below, and LLVM keeps it in registers and lowers it to whatever the processor has (one AVX-512
register holds 64 int8; without AVX-512, LLVM splits the vector and the results are the same).

A vector type is a number of lanes and the bits of a lane; lane 0 comes first in memory. Arithmetic wraps
around. A comparison gives a mask, one bit a lane. `Lanes` passes a number of lanes to a kernel as a type, so
that one source compiles for several widths.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import OpaqueModel, PrimitiveModel
from numba.core.imputils import lower_constant
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


def _call(builder: Any, operation: str, result: ir.Type, *values: Any) -> Any:
    function_type = ir.FunctionType(result, [value.type for value in values])
    function = cgutils.get_or_insert_function(builder.module, function_type, operation)
    return builder.call(function, values)


def _suffix(vector: VectorType) -> str:
    return f"v{vector.lanes}i{vector.bits}"


def _splat(builder: Any, scalar: Any, lanes: int) -> Any:
    one = ir.Constant(ir.VectorType(scalar.type, lanes), ir.Undefined)
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), None)
    return builder.shuffle_vector(builder.insert_element(one, scalar, ir.IntType(32)(0)), one, zeros)


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
        return _splat(builder, scalar, vector.lanes)

    return vector(lanes, like, types.int64), generate


@intrinsic
def widen(_typing: Any, vector: Any) -> Any:
    """``widen(vector)``: lanes of twice the bits, with zeros above those that were there."""
    wide = VectorType(2 * vector.bits, vector.lanes)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.zext(arguments[0], wide.llvm)

    return wide(vector), generate


def _arithmetic(operation: str) -> Any:
    def typed(_typing: Any, left: Any, right: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, operation)(*arguments)

        return left(left, right), generate

    return typed


add = intrinsic(_arithmetic("add"))
"""``add(left, right)``: lane by lane."""
subtract = intrinsic(_arithmetic("sub"))
"""``subtract(left, right)``: lane by lane."""
multiply = intrinsic(_arithmetic("mul"))
"""``multiply(left, right)``: lane by lane."""
bit_and = intrinsic(_arithmetic("and_"))
"""``bit_and(left, right)``: lane by lane."""
bit_or = intrinsic(_arithmetic("or_"))
"""``bit_or(left, right)``: lane by lane."""
bit_xor = intrinsic(_arithmetic("xor"))
"""``bit_xor(left, right)``: lane by lane."""
shift_left = intrinsic(_arithmetic("shl"))
"""``shift_left(left, right)``: lanes of ``left`` moved up by as many bits as ``right`` says."""
shift_right = intrinsic(_arithmetic("lshr"))
"""``shift_right(left, right)``: lanes of ``left`` moved down, zeros from above."""


@intrinsic
def maximum(_typing: Any, left: Any, right: Any) -> Any:
    """``maximum(left, right)``: the larger, lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _call(builder, f"llvm.smax.{_suffix(left)}", left.llvm, *arguments)

    return left(left, right), generate


@intrinsic
def minimum(_typing: Any, left: Any, right: Any) -> Any:
    """``minimum(left, right)``: the smaller, lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _call(builder, f"llvm.smin.{_suffix(left)}", left.llvm, *arguments)

    return left(left, right), generate


@intrinsic
def leading_zeros(_typing: Any, vector: Any) -> Any:
    """``leading_zeros(vector)``: bits that are not set above the highest one that is, lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _call(builder, f"llvm.ctlz.{_suffix(vector)}", vector.llvm, *arguments, _BIT(0))

    return vector(vector), generate


@intrinsic
def largest(_typing: Any, vector: Any) -> Any:
    """``largest(vector)``: the largest lane, as int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        name = f"llvm.vector.reduce.smax.{_suffix(vector)}"
        return builder.sext(_call(builder, name, ir.IntType(vector.bits), *arguments), _INT64)

    return types.int64(vector), generate


@intrinsic
def rotate_up(_typing: Any, vector: Any) -> Any:
    """``rotate_up(vector)``: lane ``l`` gets what lane ``l - 1`` held, lane 0 what the last one held."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        order = ir.Constant(
            ir.VectorType(ir.IntType(32), vector.lanes),
            [(lane - 1) % vector.lanes for lane in range(vector.lanes)],
        )
        return builder.shuffle_vector(arguments[0], arguments[0], order)

    return vector(vector), generate


@intrinsic
def shift_in(_typing: Any, vector: Any, source: Any) -> Any:
    """``shift_in(vector, source)``: lane ``l`` gets what lane ``l - 1`` held, lane 0 that of ``source``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        order = [vector.lanes, *range(vector.lanes - 1)]
        places = ir.Constant(ir.VectorType(ir.IntType(32), vector.lanes), order)
        return builder.shuffle_vector(*arguments, places)

    return vector(vector, source), generate


@intrinsic
def lane(_typing: Any, vector: Any, number: Any) -> Any:
    """``lane(vector, number)``: one lane, as int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.sext(builder.extract_element(*arguments), _INT64)

    return types.int64(vector, types.int64), generate


@intrinsic
def bits_of(_typing: Any, mask: Any) -> Any:
    """``bits_of(mask)``: the mask of up to 64 lanes as an integer, bit ``l`` for lane ``l``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return arguments[0] if mask.lanes == 64 else builder.zext(arguments[0], _INT64)

    return types.int64(mask), generate


@intrinsic
def both(_typing: Any, left: Any, right: Any) -> Any:
    """``both(left, right)``: mask of the lanes set in both."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.and_(*arguments)

    return left(left, right), generate


def _compare(operator: str) -> Any:
    def typed(_typing: Any, left: Any, right: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            lanes = builder.icmp_signed(operator, *arguments)
            return builder.bitcast(lanes, ir.IntType(left.lanes))

        return MaskType(left.lanes)(left, right), generate

    return typed


equal = intrinsic(_compare("=="))
"""``equal(left, right)``: mask of the lanes where the two are equal."""
greater = intrinsic(_compare(">"))
"""``greater(left, right)``: mask of the lanes where ``left`` is above ``right``."""
at_least = intrinsic(_compare(">="))
"""``at_least(left, right)``: mask of the lanes where ``left`` is not below ``right``."""


@intrinsic
def select(_typing: Any, mask: Any, chosen: Any, other: Any) -> Any:
    """``select(mask, chosen, other)``: lanes of ``chosen`` where the mask is set, else of ``other``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits = builder.bitcast(arguments[0], ir.VectorType(_BIT, mask.lanes))
        return builder.select(bits, *arguments[1:])

    return chosen(mask, chosen, other), generate


@intrinsic
def choose(_typing: Any, condition: Any, chosen: Any, other: Any) -> Any:
    """``choose(condition, chosen, other)``: one of two masks or of two int64, without a branch."""
    result = chosen if isinstance(chosen, MaskType) else types.int64

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.trunc(arguments[0], _BIT), *arguments[1:])

    return result(types.boolean, result, result), generate


@intrinsic
def any_lane(_typing: Any, mask: Any) -> Any:
    """``any_lane(mask)``: whether any lane is set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.icmp_unsigned("!=", arguments[0], arguments[0].type(0))

    return types.boolean(mask), generate


@intrinsic
def top_lane(_typing: Any, mask: Any) -> Any:
    """``top_lane(mask)``: whether the last lane is set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.icmp_signed("<", arguments[0], arguments[0].type(0))

    return types.boolean(mask), generate


def _count_zeros(end: str) -> Any:
    def typed(_typing: Any, mask: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            bits = arguments[0]
            zeros = _call(builder, f"llvm.{end}.i{mask.lanes}", bits.type, bits, _BIT(0))
            return zeros if mask.lanes == 64 else _to_int64(builder, zeros, mask.lanes)

        return types.int64(mask), generate

    return typed


def _to_int64(builder: Any, value: Any, bits: int) -> Any:
    return builder.trunc(value, _INT64) if bits > 64 else builder.zext(value, _INT64)


lanes_below = intrinsic(_count_zeros("cttz"))
"""``lanes_below(mask)``: how many clear lanes come before the first set one; all lanes if none is set."""
lanes_above = intrinsic(_count_zeros("ctlz"))
"""``lanes_above(mask)``: how many clear lanes come after the last set one; all lanes if none is set."""
