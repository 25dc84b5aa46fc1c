"""CuTe's layout atoms of shared memory by their names, of GMMA and UMMA."""

from __future__ import annotations

import re
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag
from cute_viz.algebra.inttuple import Unwritten
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.products import blocked_product
from cute_viz.algebra.recast import upcast
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import AlgebraError
from cute_viz.values.types import bits_of

_ATOM = re.compile(r"Layout_(?:(MN|K)_(INTER|SW32|SW64|SW128)|MN_(SW128_32B))_(Sp)?Atom(_Bits)?")
_BITS = {"INTER": 0, "SW32": 1, "SW64": 2, "SW128": 3}


def smem_atom(name: str, template: tuple[Any, ...]) -> ComposedLayout | None:
    """The shared-memory layout atom of a name such as GMMA::Layout_K_SW128_Atom; None for another name. Of `GMMA` and `UMMA`
    alike (cute/atom/mma_traits_sm90_gmma.hpp, mma_traits_sm100.hpp): 8 rows of 128 to 1024 bits under a swizzle of the address.
    Those of a sparse A, `SpAtom<T,S>`, have S elements along K for each that is stored (mma_traits_sm90_gmma_sparse.hpp)."""
    match = _ATOM.fullmatch(name)
    if match is None or (match[4] and match[5]):
        return None
    major, mode, special, packed, in_bits = match.groups()
    swizzle = Swizzle(2, 5, 2) if special else Swizzle(_BITS[mode], 4, 3)
    rows, length = (4, 1024) if special else (8, 128 << _BITS[mode])
    shape, stride = ((rows, length), (length, 1)) if major == "K" else ((length, rows), (1, length))
    if packed and (len(template) != 2 or not isinstance(template[1], int) or template[1] not in (2, 4, 8)):
        raise AlgebraError(f"{name} takes an element type and a sparsity", hint=f"example: GMMA::{name}<half_t,2>")
    if not in_bits and not packed and len(template) != 1:
        raise AlgebraError(f"{name} takes an element type", hint=f"example: GMMA::{name}<half_t>")
    bits = 1 if in_bits else bits_of(template[0])
    layout = upcast(Layout(shape, stride), bits)
    if packed:
        times = int(template[1])
        if bits % times:
            raise AlgebraError(f"{name}: an element of {bits} bits cannot be shared by {times}")
        found = mark_static(blocked_product(Layout((1, times)), layout), Unwritten)
        return ComposedLayout(swizzle, PointerFlag(bits // times, sparsity=times), found)
    return ComposedLayout(swizzle, PointerFlag(bits), mark_static(layout, Unwritten))
