"""Questions about a layout, or a mode, whose answer is a number, a shape or a coordinate (cute/layout.hpp, cute/stride.hpp)."""

from __future__ import annotations

from typing import Any, NoReturn, TypeAlias

from cute_viz.algebra import layout as plain_layout
from cute_viz.algebra.common import narrowed, refuse
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, PointerFlag, compose_with_offset, domain, inner_of, is_layout
from cute_viz.algebra.inttuple import (
    IntTuple,
    compact_major,
    div_rem,
    is_int_tuple,
    leaves,
    map_leaves,
    modes,
    product,
    ranked,
    tuple_depth,
    tuple_rank,
)
from cute_viz.algebra.layout import Layout, printed_value
from cute_viz.algebra.shapes import product_like, shape_of, weakly_congruent
from cute_viz.algebra.static import in_dsl
from cute_viz.algebra.stride import Basis, add, plain
from cute_viz.algebra.swizzle import Swizzle, make_swizzle
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import is_known, is_one

Measurable: TypeAlias = "IntTuple | Layout | ComposedLayout"


def size(x: Measurable, *path: int) -> int:
    """The number of coordinates of a shape or layout, or of one mode: size<1>(A) is size(A, 1).

    For a TiledMMA or TiledCopy it is the number of threads. Source: cute/int_tuple.hpp and cute/layout.hpp, size.

    >>> size(Layout((4, (2, 8)))), size(Layout((4, (2, 8))), 1), size((3, 5))
    (64, 16, 15)
    """
    threads = getattr(x, "thr_layout", None)
    return product(shape_of(x if threads is None else threads, *path))


def rank(x: Measurable, *path: int) -> int:
    """The number of modes; an integer has one (cute/int_tuple.hpp, rank).

    >>> rank(Layout((4, (2, 8)))), rank(8), rank(Layout((4, (2, 8))), 1)
    (2, 1, 2)
    """
    return tuple_rank(shape_of(x, *path))


def depth(x: Measurable, *path: int) -> int:
    """How deep the nesting goes; 0 for an integer (cute/int_tuple.hpp, depth).

    >>> depth(Layout((4, (2, 8)))), depth(8)
    (2, 0)
    """
    return tuple_depth(shape_of(x, *path))


def stride_of(layout: Layout, *path: int) -> object:
    """The strides of a layout or of one of its modes (cute/layout.hpp, stride).

    >>> stride_of(Layout((4, (2, 8))), 1)
    (4, 8)
    """
    if not isinstance(layout, Layout):
        raise AlgebraError(f"{layout} has no strides of its own", hint="get_nonswizzle_portion(A) is the layout behind the swizzle")
    stride: Any = layout.stride
    for i in path:
        if not 0 <= i < tuple_rank(stride):
            refuse("stride", (layout,), f"there is no mode {i}", hint=f"its modes are 0 to {tuple_rank(stride) - 1}")
        stride = modes(stride)[i]
    return stride


def coprofile(layout: Layout, *path: int) -> object:
    """A tuple of zeros with the nesting of the layout's values: 0 where these are integers (cute/layout.hpp).

    >>> coprofile(Layout((4, 8))), coprofile(Layout((4, 8), (E(0), E(1))))
    (0, (0, 0))
    """
    total: Any = 0
    for stride in leaves(stride_of(layout, *path)):
        try:
            total = add(total, stride)
        except AlgebraError:
            raise AlgebraError(
                f"{layout} mixes strides of different kinds",
                hint="all integers (or 0), or basis elements that name leaves of one coordinate",
            ) from None
    return map_leaves(lambda _: 0, plain(total))


def coshape(layout: Layout, *path: int) -> Any:
    """The smallest shape that holds every value of the layout or of one mode, strides taken as positive.

    Source: cute/layout.hpp, coshape.

    >>> coshape(Layout((4, 8), (8, 1))), coshape(Layout((4, 8), (8, 1)), 0)
    (32, 25)
    """
    if not isinstance(layout, Layout):
        raise AlgebraError(f"CuTe gives no coshape of {layout}", hint="cosize(A) gives the cosize of its innermost layout")
    coprofile(layout)
    return plain_layout.coshape(plain_layout.get(layout, *path))


def cosize(layout: Layout | ComposedLayout, *path: int) -> int:
    """The number of values from 0 to the largest; of a composed layout, that of its innermost layout, as CuTe has it.

    Source: cute/layout.hpp and cute/swizzle_layout.hpp, cosize.

    >>> cosize(Layout((4, 8), (9, 1))), cosize(Layout((4, 8), (9, 1)), 1)
    (35, 8)
    """
    return product(coshape(domain(layout), *path))


def crd2idx(crd: Any, shape: Any, stride: Any = None) -> Any:
    """The index of a coordinate in a shape (first mode fastest), or its value under strides or a layout.

    Raises: AlgebraError for a coordinate that does not fit the shape. Source: cute/stride.hpp.

    >>> crd2idx((3, 5), (4, 8)), crd2idx((3, 5), (4, 8), (8, 1)), crd2idx((3, 5), Layout((4, 8), (8, 1)))
    (23, 29, 29)
    """
    if not is_int_tuple(crd):
        refuse("crd2idx", (crd, shape), "a coordinate must consist of integers", hint="slice((2,_),A) keeps the modes with _")
    if is_layout(shape):
        return printed_value(crd, shape) if isinstance(shape, Layout) and not in_dsl() else shape(crd)
    _check_shape("crd2idx", crd, shape, stride)
    if stride is not None:
        return printed_value(crd, Layout(shape, stride))
    if not isinstance(crd, tuple):
        return crd
    if not isinstance(shape, tuple):
        refuse("crd2idx", (crd, shape), "the coordinate is a tuple, the shape an integer")
    # Horner's rule, as CuTe: an index past the end of a mode of extent 1 counts
    total = 0
    for index, extent in zip(reversed(list(leaves(crd))), reversed(list(leaves(product_like(shape, crd)))), strict=True):
        total = index + extent * total
    return total


def idx2crd(idx: Any, shape: Any, stride: object = None) -> Any:
    """The coordinate of an index in the shape's nesting; with strides, the coordinate of an offset (compact layouts).

    Raises: AlgebraError for an index that does not fit; an extent above 1 with the stride 0. Source: cute/stride.hpp.

    >>> idx2crd(7, (4, (2, 4))), idx2crd(19, (4, 8), (8, 1)), idx2crd(19, Layout((4, 8), (8, 1)))
    ((3, (1, 0)), (2, 3), (3, 4))
    """
    if not is_int_tuple(idx):
        refuse("idx2crd", (idx, shape), "an index must be an integer, or a tuple with one integer for each mode")
    shape = shape_of(shape)
    _check_shape("idx2crd", idx, shape, stride)
    if stride is None:
        return plain_layout.idx2crd(idx, shape)
    if not weakly_congruent(stride, shape):
        refuse("idx2crd", (idx, shape, stride), "the strides must be nested like the shape, or coarser")

    def misfit(*parts: object) -> NoReturn:
        refuse("idx2crd", parts, "Mismatched Ranks")

    return map_leaves(_idx2crd, idx, shape, stride, misfit=misfit)


def crd2crd(crd: Any, shape: Any, to: Any) -> object:
    """The coordinate of one shape that has the index of a coordinate of another; by mode for tuples (cute/stride.hpp).

    >>> crd2crd(5, 24, (4, 6)), crd2crd((1, 5), (4, 6), ((2, 2), (3, 2)))
    ((1, 1), ((1, 0), (2, 1)))
    """
    if not all(isinstance(x, tuple) for x in (crd, shape, to)):
        return idx2crd(crd2idx(crd, shape), to)
    if not ranked(crd, len(shape)) or not ranked(to, len(shape)):
        refuse("crd2crd", (crd, shape, to), "Mismatched Ranks")
    return tuple(map(crd2crd, crd, shape, to))


def _check_shape(name: str, what: object, shape: object, stride: object) -> None:
    if not is_int_tuple(shape) or any(extent < 1 for extent in leaves(shape)):
        refuse(name, (what, shape), "the extents of a shape must be integers, 1 or more")
    if stride is not None and not all(isinstance(d, (int, Basis)) for d in leaves(stride)):
        refuse(name, (what, shape, stride), "strides must be integers or basis elements")


def _idx2crd(idx: int, shape: IntTuple, stride: IntTuple) -> object:
    def digit(d: IntTuple, s: IntTuple) -> object:
        if isinstance(s, tuple):  # the strides are coarser
            return map_leaves(digit, compact_major(s, d), s)
        if is_one(s):
            return 0
        if isinstance(d, Basis) or d == 0:
            words = "a mode is found by dividing by its stride, which cannot be 0 or a basis element"
            hint = "filter_zeros(A) has one coordinate where a stride is 0" if d == 0 else None
            refuse("idx2crd", (idx, s, d), words, hint=hint)
        return div_rem(div_rem(idx, d)[0], s)[1]

    return map_leaves(digit, stride, shape)


def get_hier_coord(layout: AnyLayout, idx: int) -> object:
    """The coordinate, nested like the shape, at which a compact layout has a value (cute/layout.hpp).

    >>> get_hier_coord(Layout((4, (2, 8)), (16, (8, 1))), 27)
    (1, (1, 3))
    """
    plain = _plain("get_hier_coord", layout, idx)
    return idx2crd(idx, plain.shape, plain.stride)


def get_flat_coord(layout: AnyLayout, idx: int) -> IntTuple:
    """The same as one index for each mode (cute/layout.hpp).

    >>> get_flat_coord(Layout((4, (2, 8)), (16, (8, 1))), 27)
    (1, 7)
    """
    plain = _plain("get_flat_coord", layout, idx)
    parts = tuple(map(crd2idx, modes(get_hier_coord(plain, idx)), modes(plain.shape)))
    return parts[0] if len(parts) == 1 else parts


def get_1d_coord(layout: AnyLayout, idx: int) -> object:
    """The same as one index for the whole shape (cute/layout.hpp).

    >>> get_1d_coord(Layout((4, 8), (8, 1)), 27)
    15
    """
    plain = _plain("get_1d_coord", layout, idx)
    return crd2idx(get_hier_coord(plain, idx), plain.shape)


def _plain(name: str, layout: AnyLayout, idx: int) -> Layout:
    words, hint = "only a plain layout can be searched for a value", "get_nonswizzle_portion(A) gives one"
    return narrowed(Layout, layout, name, (layout, idx), words, hint)


def layout_after_swizzle(a: Layout, b: Swizzle) -> AnyLayout:
    """composition(Layout, Swizzle): the swizzle moved to the left of the layout (cute/swizzle_layout.hpp). Raises: AlgebraError
    where the layout does not send the bits of the swizzle to the bits of another one."""
    try:
        y, z = a(b.yyy), a(b.zzz)
        if not isinstance(y, int) or not isinstance(z, int):
            refuse("composition", (a, b), "a swizzle takes integers, but these are coordinates")
        if not is_known(y) or not is_known(z):
            refuse("composition", (a, b), "where the bits of the swizzle go is known only at run time")
        return compose_with_offset(make_swizzle(y, z), 0, a)
    except AlgebraError as error:
        if error.message.startswith("composition("):
            raise
        refuse("composition", (a, b), f"the swizzle cannot be moved through the layout: {error.message}")


def swizzle_as_layout(swizzle: Swizzle) -> AnyLayout:
    """make_layout(Swizzle): the swizzle over a domain of M+B+|S| elements, as CuTe has it (cute/swizzle_layout.hpp)."""
    return compose_with_offset(swizzle, 0, Layout(swizzle.base + swizzle.bits + abs(swizzle.shift), 1))


def get_swizzle_portion(layout: AnyLayout) -> Swizzle:
    """The swizzle in front of a layout; Sw<0,4,3>, which does nothing, where there is none (cute/swizzle_layout.hpp).

    >>> str(get_swizzle_portion(ComposedLayout(Swizzle(2, 0, 3), 0, Layout(8))))
    'Sw<2,0,3>'
    """
    if isinstance(layout, Layout):
        return Swizzle(0, 4, 3)
    return narrowed(Swizzle, layout.outer, "get_swizzle_portion", (layout,), "the outer part is not a swizzle")


def get_nonswizzle_portion(layout: AnyLayout) -> Any:
    """The layout behind the swizzle; a layout without one as it is (cute/swizzle_layout.hpp).

    >>> str(get_nonswizzle_portion(ComposedLayout(Swizzle(2, 0, 3), 0, Layout(8))))
    '8:1'
    """
    if isinstance(layout, ComposedLayout):
        narrowed(Swizzle, layout.outer, "get_nonswizzle_portion", (layout,), "the outer part is not a swizzle")
    return inner_of(layout)


def swizzle_projection(swizzle: Swizzle) -> Layout:
    """The layout that keeps the bits a swizzle reads or changes, and makes the others 0: layout_only_zy of
    cute/swizzle_layout.hpp."""
    reach = abs(swizzle.shift)
    extents = (1 << swizzle.base, 1 << swizzle.bits, 1 << (reach - swizzle.bits), 1 << swizzle.bits, 1)
    return Layout(extents, (0, 1 << swizzle.base, 0, 1 << (swizzle.base + reach), 0))


MEMBERS = {"layout_a": "outer", "offset": "offset", "layout_b": "inner"}  # of CuTe's ComposedLayout


def member(name: str, x: object) -> object:
    """What a method of a composed layout gives: `x.layout_a()`, `x.offset()`, `x.layout_b()`; None of anything else."""
    if name not in MEMBERS or not isinstance(x, ComposedLayout) or (name == "offset" and isinstance(x.offset, PointerFlag)):
        return None
    return getattr(x, MEMBERS[name])
