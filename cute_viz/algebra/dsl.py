"""Operations that the Python DSL's compiler computes otherwise than CuTe's headers: `find("dsl.NAME")` of ops.py gives them.

Source: cutlass/cute/core.py and atom.py of the Python DSL 4.8, and what its compiler prints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from cute_viz.algebra import copy, divide, inverse, measure, modes, products, shapes, slicing, views
from cute_viz.algebra.common import refuse
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, compose_with_offset, swizzle_of
from cute_viz.algebra.inttuple import IntTuple, leaves, map_leaves, map_pairs, tuple_rank
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.partition import make_layout_tv
from cute_viz.algebra.recast import recast_layout as _recast
from cute_viz.algebra.static import as_in_dsl
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.values.integer import is_constant
from cute_viz.values.types import bits_of

DIFFERENCES = {
    *("filter", "flatten", "group", "product_each", "recast_layout", "make_tiled_copy", "make_tiled_copy_impl"),
    *("flat_divide", "tiled_divide", "tile_to_shape"),
    *("logical_product", "zipped_product", "flat_product", "tiled_product", "blocked_product", "raked_product"),
    *("left_inverse", "get_flat_coord", "get_hier_coord", "slice", "dice"),
}


def _as_in_dsl(function: Callable[..., object]) -> Callable[..., object]:
    """A function whose differences are told where they are: see `dialect`."""

    @wraps(function)
    def call(*operands: object) -> object:
        with as_in_dsl():
            return function(*operands)

    return call


logical_product, zipped_product = _as_in_dsl(products.logical_product), _as_in_dsl(products.zipped_product)
tiled_product, flat_product = _as_in_dsl(products.tiled_product), _as_in_dsl(products.flat_product)
blocked_product, raked_product = _as_in_dsl(products.blocked_product), _as_in_dsl(products.raked_product)
tiled_divide, flat_divide = _as_in_dsl(divide.tiled_divide), _as_in_dsl(divide.flat_divide)
tile_to_shape, left_inverse = _as_in_dsl(products.tile_to_shape), _as_in_dsl(inverse.left_inverse)


def recast_layout(x: object, old: object, new: object) -> object:
    """As in C++, with every quotient rounded up, and of layouts whose elements are not adjacent."""
    before, after = bits_of(old), bits_of(new)
    if isinstance(x, ComposedLayout) and isinstance(x.inner, Layout) and isinstance(x.offset, int):
        outer = _recast(x.outer, old, new)
        return compose_with_offset(outer, x.offset * before // after, recast_layout(x.inner, old, new))
    if not isinstance(x, Layout) or is_coordinate_layout(x) or any(not isinstance(d, int) for d in leaves((x.shape, x.stride))):
        return _recast(x, old, new)
    if after % before == 0:
        n = after // before
        return Layout(*map_pairs(lambda s, d: (_up(s, _up(n, d) if d else 1), _up(d, n) * (1 if d > 0 else -1)), x.shape, x.stride))
    if before % after == 0:
        n = before // after
        return Layout(*map_pairs(lambda s, d: (s * n, d) if abs(d) == 1 else (s, d * n), x.shape, x.stride))
    return _recast(x, old, new)


def _up(a: int, b: int) -> int:
    """A quotient of magnitudes, rounded up."""
    return -(-abs(a) // abs(b))


def group(x: Any, begin: int | None = None, end: int | None = None) -> Any:
    """group_modes: a negative end counts from the last mode; an integer becomes a mode of itself.

    Raises: AlgebraError for no modes.
    """
    if begin is None:
        refuse("group_modes", (x,), "it needs the first mode", hint="group_modes(A, 0, 2)")
    most = tuple_rank(x.shape if hasattr(x, "shape") else x)
    begin, end = (max(n + most, 0) if n < 0 else n for n in (begin, most if end is None else end))
    if begin >= end:
        refuse("group_modes", (x,), f"Expected begin < end, but got {begin} >= {end}")
    if isinstance(x, int):
        return (x,)
    if isinstance(x, Layout) and not isinstance(x.shape, tuple) and (begin, end) == (0, 1):
        return Layout((x.shape,), (x.stride,))
    return modes.group(x, begin, end)


def product_each(x: IntTuple) -> IntTuple:
    """As in C++; of an integer it is that."""
    return x if isinstance(x, int) else shapes.product_each(x)


def _over_zeros(function: Callable[[AnyLayout, int], object]) -> Callable[[AnyLayout, int], object]:
    """As in C++; along a stride of 0 the coordinate is 0."""

    @wraps(function)
    def found(layout: AnyLayout, idx: int) -> object:
        if isinstance(layout, Layout) and not is_coordinate_layout(layout):
            layout = Layout(layout.shape, map_leaves(lambda d: 1 << 62 if is_constant(d, 0) else d, layout.stride))
        return function(layout, idx)

    return found


get_hier_coord, get_flat_coord = map(_over_zeros, (measure.get_hier_coord, measure.get_flat_coord))


def flatten(x: object) -> object:
    """As in C++; a composed layout stays as it is."""
    return x if isinstance(x, ComposedLayout) else modes.flatten(x)


def filter(x: Any, *profile: object) -> AnyLayout:
    """As in C++, without a profile; of a composed layout the inner one is filtered."""
    if profile:
        refuse("filter", (x, *profile), "the DSL has no filter with a profile")
    return ComposedLayout(x.outer, x.offset, filter(x.inner)) if isinstance(x, ComposedLayout) else modes.filter_(x)


def make_tiled_copy(atom: Any, thr: Any, val: Any = None) -> copy.TiledCopy:
    """make_tiled_copy_tv: as in C++, but for the number of values, which the DSL does not look at."""
    tiler, tv = make_layout_tv(*(Layout(x) if not isinstance(x, Layout) else x for x in (thr, 1 if val is None else val)))
    return make_tiled_copy_impl(atom, tv, tiler)


def make_tiled_copy_impl(atom: copy.Copy_Atom, tv: Layout, tiler: object) -> copy.TiledCopy:
    """As in C++, but for the number of threads and values, which the DSL does not look at."""
    if not isinstance(atom, copy.Copy_Atom) or not isinstance(tv, Layout) or tv.rank != 2:
        return views.make_tiled_copy_impl(atom, tv, tiler)  # which refuses it
    return copy.TiledCopy(atom, tv, tiler)


def slice(crd: object, x: object) -> object:
    """As in C++, without the offset; a composed layout stays one, behind a swizzle of no bits where none acts any more."""
    out = slicing.slice_(crd, x)
    swizzled = swizzle_of(x) is not None and isinstance(out, Layout)
    return ComposedLayout(Swizzle(0, 4, 3), 0, out) if swizzled else out


def dice(crd: object, x: object) -> Any:
    """As in C++; of a composed layout the modes of its coordinates."""
    return replace(x, inner=dice(crd, x.inner)) if isinstance(x, ComposedLayout) else slicing.dice(crd, x)
