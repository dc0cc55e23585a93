"""Two unsigned 16-bit numbers in a 32-bit register, and what else numba has no name for, as PTX.

A pair is ``high << 16 | low``. Sums of pairs are ordinary 32-bit sums as long as each half stays in 16 bits:
a pair of signed addends is the sum ``high * 65536 + low``.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.cuda.extending import intrinsic

_WORD = ir.IntType(32)


def instruction(text, arguments, together=False):
    """Return the device function that is one piece of PTX: ``$0`` is its result, ``$1`` and on its arguments.

    ``together`` keeps the compiler from moving it where only some threads of a warp run it.
    """
    constraints = ",".join(["=r"] + ["r"] * arguments)

    def generate(context, builder, signature, values):
        function = ir.FunctionType(_WORD, [_WORD] * arguments)
        return builder.call(ir.InlineAsm(function, text, constraints, side_effect=together), values)

    typed = types.uint32(*[types.uint32] * arguments), generate
    declared = {
        1: lambda typing_context, a: typed,
        2: lambda typing_context, a, b: typed,
        3: lambda typing_context, a, b, c: typed,
    }
    function = intrinsic(declared[arguments])
    # Left alone this is random, and kernels that call the function are compiled anew by every process.
    function._set_uuid(f"overlapper {text} {together}")
    return function


largest_pair_of_three = instruction("{.reg .b32 t; max.u16x2 t, $1, $2; max.u16x2 $0, t, $3;}", 3)
"""The larger ones of three pairs, half by half; compute capability 9.0 and up."""
largest_pair_of_three_before_90 = instruction(
    "{.reg .b32 t, z; mov.b32 z, 0; vmax2.u32.u32.u32 t, $1, $2, z; vmax2.u32.u32.u32 $0, t, $3, z;}", 3
)
"""The same for older devices."""
spread_signs = instruction("prmt.b32 $0, $1, 0, 0xBB99;", 1)
"""Ones in the halves whose highest bit is set, zeros in the others."""
high_then_low = instruction("prmt.b32 $0, $1, $2, 0x5432;", 2)
"""The high half of the first pair as low half, and the low half of the second as high half."""
shift_right_by_base = instruction("shf.r.wrap.b32 $0, $1, $2, 2;", 2)
"""The lowest 32 bits of ``(second << 32 | first) >> 2``."""
shift_left_by_base = instruction("shf.l.wrap.b32 $0, $1, $2, 2;", 2)
"""The highest 32 bits of ``(second << 32 | first) << 2``."""
shift_right = instruction("shf.r.wrap.b32 $0, $1, $2, $3;", 3)
"""The lowest 32 bits of ``(second << 32 | first) >> third``, for shifts below 32."""
shift_left = instruction("shf.l.clamp.b32 $0, $1, $2, $3;", 3)
"""The highest 32 bits of ``(second << 32 | first) << third``, for shifts up to 32."""
reverse_bits = instruction("brev.b32 $0, $1;", 1)
from_lane = instruction("shfl.sync.idx.b32 $0, $1, $2, 31, 0xffffffff;", 2, together=True)
"""The first argument of the warp's lane that the second one names; the whole warp takes part."""
from_member = instruction("shfl.sync.idx.b32 $0, $2, $3, 31, $1;", 3, together=True)
"""The second argument of the lane that the third one names; the lanes of the mask take part."""
largest_of_warp = instruction("redux.sync.max.u32 $0, $1, 0xffffffff;", 1, together=True)
"""The largest value of a warp, all of which takes part."""
