"""`njit` for short functions that kernels call for every few bases: no references are counted.

CPU only.

numba counts the references to the arrays that a function is given, atomically, which takes about 100 ns a
call: more than aligning ten bases. `inner` leaves that out. It suits functions that neither make arrays nor
return any; numba refuses to compile one that makes an array.
"""

from __future__ import annotations

from typing import Any

from overlapper.runtime.compile.cache import njit

inner: Any = njit(nogil=True, cache=True, _nrt=False)
always_inline: Any = njit(nogil=True, cache=True, _nrt=False, forceinline=True)
"""For short functions with arguments so many that handing them over takes longer than the rest."""
