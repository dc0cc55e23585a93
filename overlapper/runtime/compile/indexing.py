"""Items of arrays that lie without gaps, found without their strides.

numba takes shape and strides of an array apart wherever an item of it is read or written, and the strides of
an array in C order are not asked for: of the thirty instructions that it writes for ``a[i]`` a third.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from numba.core import cgutils, types
from numba.np import arrayobj

from overlapper.runtime.compile.replacing import replaced

_Module: Any = arrayobj
_basic_indexing = _Module.basic_indexing


def _item(
    context: Any, builder: Any, kind: Any, array: Any, kinds: Any, indices: Any, boundscheck: Any = None
) -> Any:
    """Return what numba's function does: where an item, or a view, is, and the view's shape and strides."""
    is_item = len(kinds) == kind.ndim and all(isinstance(index, types.Integer) for index in kinds)
    if kind.layout != "C" or not is_item or boundscheck:
        return _basic_indexing(context, builder, kind, array, kinds, indices, boundscheck)
    sizes = cgutils.unpack_tuple(builder, array.shape, kind.ndim)
    places = [
        arrayobj.fix_integer_index(context, builder, *given)
        for given in zip(kinds, indices, sizes, strict=True)
    ]
    if len(places) == 1:
        return builder.gep(array.data, places), [], []
    return cgutils.get_item_pointer2(context, builder, array.data, sizes, (), "C", places), [], []


def without_strides() -> AbstractContextManager[None]:
    """Have numba find items of arrays in C order by their shapes alone meanwhile."""
    return replaced((arrayobj, "basic_indexing", _item))
