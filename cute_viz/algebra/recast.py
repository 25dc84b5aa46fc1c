"""The same bytes seen as elements of another width: upcast, downcast, recast_layout, and the alignment of a layout.

Source: cute/layout.hpp, cute/layout_composed.hpp, cute/swizzle_layout.hpp, cute/pointer_flagged.hpp.
"""

from __future__ import annotations

import re
from functools import partial
from math import gcd
from typing import Any

from cute_viz.algebra.common import refuse
from cute_viz.algebra.compose import coalesce as _coalesce
from cute_viz.algebra.composed import ComposedLayout, PointerFlag, compose_with_offset
from cute_viz.algebra.divide import logical_divide
from cute_viz.algebra.inttuple import Unwritten, div_rem, leaves, map_leaves, map_pairs
from cute_viz.algebra.inverse import right_inverse
from cute_viz.algebra.layout import Layout, get
from cute_viz.algebra.products import blocked_product
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import Runtime, Unknown, is_constant, is_integer, is_known
from cute_viz.values.types import bits_of, sparse


def upcast(x: Any, n: int) -> Any:
    """The layout of elements n times as wide: the stride-1 mode shrinks by n, the other strides do.

    Raises: AlgebraError (Divisibility condition) for a stride that neither divides n nor is divided by it; for a swizzle, an n that
    is not a power of two.

    >>> str(upcast(Layout((8, 4), (1, 16)), 2)), str(upcast(Swizzle(3, 4, 3), 2))
    ('(4,4):(1,8)', 'Sw<3,3,3>')
    """
    _factor("upcast", x, n)
    match x:
        case Swizzle():
            return x.rescaled(_log2("upcast", x, n))
        case ComposedLayout(outer, PointerFlag() as flag, inner):
            return compose_with_offset(outer, PointerFlag(_dense("upcast", x, flag).bits * n), upcast(inner, n))
        case ComposedLayout(outer, offset, inner):
            if not isinstance(offset, int) or offset % n:
                refuse(f"upcast<{n}>", (x,), f"the offset is not a multiple of {n}")
            return ComposedLayout(upcast(outer, n), offset // n, upcast(inner, n))
    return Layout(*map_pairs(partial(_upcast, n, x), x.shape, x.stride))


def _upcast(n: int, layout: Layout, shape: int, stride: object) -> tuple[int, int]:
    if not is_integer(stride):
        refuse(f"upcast<{n}>", (layout,), f"the stride {stride} is not an integer")
    if stride == 0:
        return shape, stride
    if isinstance(stride, (Runtime, Unknown)):  # CuTe takes it to be a multiple of n, and does not look
        return shape, div_rem(stride, n)[0]
    if stride % n and n % stride:
        refuse(f"upcast<{n}>", (layout,), f"Divisibility condition: neither of the stride {stride} and {n} divides the other")
    wider = -(-abs(stride) // n)  # rounded up, as are the steps of the old stride in one of the new elements
    return -(-shape // -(-n // abs(stride))), wider if stride > 0 else -wider


def downcast(x: Any, n: int) -> Swizzle | Layout | ComposedLayout:
    """The layout of elements of 1/n of the width: the stride-1 mode grows by n, the other strides do.

    Raises: AlgebraError for a layout without a stride of 1 (Downcast requires adjacent elements); for a swizzle, an n that is not a
    power of two.

    >>> str(downcast(Layout((4, 4), (1, 8)), 2)), str(downcast(Swizzle(3, 3, 3), 2))
    ('(8,4):(1,16)', 'Sw<3,4,3>')
    """
    _factor("downcast", x, n)
    match x:
        case Swizzle():
            return x.rescaled(-_log2("downcast", x, n))
        case ComposedLayout(outer, PointerFlag() as flag, inner):
            return compose_with_offset(outer, PointerFlag(_dense("downcast", x, flag).bits // n), downcast(inner, n))
        case ComposedLayout(outer, offset, inner):
            if not isinstance(offset, int):
                refuse(f"downcast<{n}>", (x,), "the offset is not an integer")
            return compose_with_offset(downcast(outer, n), offset * n, downcast(inner, n))
    if not any(is_constant(leaf, 1) for leaf in leaves(x.stride)):
        refuse(f"downcast<{n}>", (x,), "Downcast requires adjacent elements: no stride is 1")

    def narrower(s: int, d: int) -> tuple[int, int]:
        return (s * n, d) if is_constant(d, 1) or is_constant(d, -1) else (s, d * n)

    return Layout(*map_pairs(narrower, x.shape, x.stride))


def recast_layout(x: object, old: object, new: object) -> Any:
    """A layout of elements of the old type as one of elements of the new type; types by name or width in bits.

    Raises: as upcast and downcast.

    >>> str(recast_layout(Layout((8, 4), (1, 16)), "half_t", "uint128_t")), str(recast_layout(Layout(4), 32, 8))
    ('(1,4):(1,2)', '16:1')
    """
    if packed := sparse(old):
        x, old = upcast(x, packed[0]), packed[1]
    before, after = bits_of(old), bits_of(new)
    common = gcd(before, after)
    wider, narrower = after // common, before // common
    if wider != 1:
        x = upcast(x, wider)
    return downcast(x, narrower) if narrower != 1 else x


def max_alignment(x: Any) -> int:
    """The largest n for which upcast<n> works: how many elements each access can take, as the strides allow.

    Source: cute/layout.hpp, cute/layout_composed.hpp, cute/swizzle_layout.hpp.

    >>> max_alignment(Layout((8, 4), (1, 16))), max_alignment(Swizzle(2, 3, 3))
    (8, 8)
    """
    match x:
        case Swizzle():
            return 1 << x.base
        case PointerFlag():
            return 0
        case int():
            return int(x)
        case tuple():
            refuse("max_alignment", (x,), "the offset is a coordinate")
        case ComposedLayout(outer, offset, inner):
            return gcd(*map(max_alignment, (outer, offset, inner))) if isinstance(outer, Swizzle) else 1
    if not all(isinstance(leaf, int) for leaf in leaves(x.stride)):
        refuse("max_alignment", (x,), "its strides are not integers")
    flat = _coalesce(x)
    extents = map_leaves(lambda n: n if is_known(n) else 1, flat.shape)  # what is not static is of no use
    flat = Layout(extents, map_leaves(lambda n: n if is_known(n) else 0, flat.stride))
    permuted = logical_divide(flat, right_inverse(flat))
    assert isinstance(permuted, Layout)
    return gcd(get(permuted, 0).size, *leaves(get(permuted, 1).stride))


def _dense(name: str, x: ComposedLayout, flag: PointerFlag) -> PointerFlag:
    """The pointer of a layout, which CuTe recasts where no element is sparse (cute/pointer_flagged.hpp)."""
    if flag.sparsity > 1:
        refuse(name, (x,), "Not implemented for safety: the pointer is one of sparse elements")
    return flag


def _factor(name: str, x: object, n: object) -> None:
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        refuse(name, (x, n), "the factor must be an integer, 1 or more")
    if not isinstance(x, (Layout, ComposedLayout, Swizzle)):
        refuse(f"{name}<{n}>", (x,), "it is not a layout")


def _log2(name: str, x: Swizzle, n: int) -> int:
    if n & (n - 1):
        refuse(f"{name}<{n}>", (x,), "N must be a power of two")
    return n.bit_length() - 1


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
