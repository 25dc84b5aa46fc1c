"""New layouts from shapes: column-major, row-major, in a given order, or like another layout (cute/layout.hpp)."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra import layout as plain_layout
from cute_viz.algebra.common import is_zero, narrowed, refuse
from cute_viz.algebra.composed import AnyLayout
from cute_viz.algebra.inttuple import (
    IntTuple,
    Major,
    compact_major,
    compacted,
    is_int_tuple,
    leaves,
    map_leaves,
    product,
    show,
    unflatten,
)
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import swizzle_as_layout
from cute_viz.algebra.shapes import product_like
from cute_viz.algebra.static import counting, has_static, mark_static
from cute_viz.algebra.stride import Basis, unit_strides
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import Static, Unknown, is_integer, is_known, is_static

LayoutLeft = Major(True)
LayoutRight = Major(False)


def make_layout(*parts: Any) -> Any:
    """A layout from a shape (column-major), a shape and strides or LayoutLeft / LayoutRight, or layouts as modes.

    Raises: AlgebraError for a shape and a stride of different nesting.

    >>> str(make_layout((4, 8), LayoutRight)), str(make_layout((4, 8), (8, 1))), str(make_layout(Layout(4), Layout((2, 2))))
    ('(4,8):(8,1)', '(4,8):(8,1)', '(4,(2,2)):(1,(1,2))')
    """
    if parts and all(isinstance(part, Layout) for part in parts):
        return plain_layout.make_layout(*parts)
    match parts:
        case [Swizzle() as swizzle]:
            return swizzle_as_layout(swizzle)
        case [shape] if is_int_tuple(shape):
            return Layout(shape, _compact(shape, True))
        case [shape, Major() as major] if is_int_tuple(shape):
            return Layout(shape, _compact(shape, major.left))
        case [shape, stride] if is_int_tuple(shape) and all(isinstance(leaf, (int, Basis, Unknown)) for leaf in leaves(stride)):
            return Layout(shape, stride)
    raise AlgebraError(
        f"make_layout({', '.join(map(show, parts))}): neither a shape with strides nor a list of layouts",
        hint="make_layout((4,8)), make_layout((4,8),(8,1)), make_layout((4,8),LayoutRight) or make_layout(A,B)",
    )


def _compact(shape: IntTuple, left: bool) -> IntTuple:
    """The compact strides of a shape; of one with run-time extents static as far as only static ones come before. A run-time
    extent of 1 is like any other (cute/stride.hpp, compact_major). Plain ones are such in C++, and beside static ones."""
    if len({is_static(leaf) for leaf in leaves(shape)}) < 2:
        return compact_major(shape, left=left)
    return compacted(shape, Static(1), left, _beside_static)[0]  # type: ignore[no-any-return]


def _beside_static(extent: int, current: int) -> tuple[int, int]:
    if not is_static(extent):
        return current, (int(current) if isinstance(current, int) else current) * extent
    if extent == 1:
        return Static(0), current
    return current, Static(current * extent) if is_static(current) else current * int(extent)


def compact_col_major(shape: IntTuple, current: IntTuple | None = None) -> IntTuple:
    """The compact strides of a shape, first mode fastest, from a first stride on (cute/stride.hpp).

    >>> compact_col_major((8, (5, 1))), compact_col_major((2, 3), 4)
    ((1, (8, 0)), (4, 8))
    """
    return compact_major(shape, 1 if current is None else current)


def compact_row_major(shape: IntTuple, current: IntTuple | None = None) -> IntTuple:
    """The compact strides of a shape, last mode fastest, from a first stride on (cute/stride.hpp).

    >>> compact_row_major((8, (5, 2, 1)))
    (10, (2, 1, 0))
    """
    return compact_major(shape, 1 if current is None else current, left=False)


def compact_order(shape: IntTuple, order: object = None) -> IntTuple:
    """The compact strides of a shape whose modes are laid down in the given order, smallest number first.

    Modes of one number get the same start: CuTe does not make them distinct. Run-time numbers come after all others. Raises:
    AlgebraError for an order that does not fit the shape. Source: cute/stride.hpp, compact_order.

    >>> compact_order((2, 2, 2, 2), (0, 2, 3, 1))
    (1, 4, 8, 2)
    """
    if order is None or isinstance(order, Major):
        return compact_major(shape, left=order is None or order.left)
    if not is_int_tuple(order):
        refuse("compact_order", (shape, order), "the order must consist of integers")
    order = _known_order(order)
    sizes = list(zip(leaves(product_like(shape, order)), leaves(order), strict=True))

    def steps(place: int, part: IntTuple) -> IntTuple:
        return compact_major(part, product(tuple([size for size, other in sizes if other < place])))

    found: IntTuple = map_leaves(steps, order, shape)
    return found


def make_ordered_layout(shape: IntTuple, order: object = None) -> Layout:
    """The compact layout whose modes are laid down in the given order: see compact_order (cute/layout.hpp).

    >>> str(make_ordered_layout((2, 2, 2, 2), (0, 2, 3, 1)))
    '(2,2,2,2):(1,4,8,2)'
    """
    return Layout(shape, compact_order(shape, order))


def make_layout_like(layout: AnyLayout) -> Layout:
    """A compact layout of the same shape, its modes in the order of the layout's strides; strides of 0 stay 0.

    Raises: AlgebraError for composed layouts and coordinate strides, which have no such order.

    >>> str(make_layout_like(Layout((2, 3, 4), (0, 42, 1))))
    '(2,3,4):(0,4,1)'
    """
    plain = of_integers("make_layout_like", layout)
    return Layout(plain.shape, compact_order(without_zeros(plain.shape, plain.stride), plain.stride))


def _known_order(stride: object) -> object:
    flat = list(leaves(stride))
    if all(map(is_known, flat)):
        return stride
    most = max([0, *filter(is_known, flat)])
    return unflatten([d if is_known(d) else most + 1 + n for n, d in enumerate(flat)], stride)


def without_zeros(shape: object, stride: object) -> Any:
    """A shape with 1 where the stride is 0."""
    return map_leaves(lambda s, d: 1 if is_zero(d) else s, shape, stride)


def of_integers(name: str, layout: object) -> Layout:
    """A plain layout of integer strides, for the operation of that name, which needs their order."""
    words, hint = "only a layout with strides has an order of modes", "get_nonswizzle_portion(A) has strides"
    plain = narrowed(Layout, layout, name, (layout,), words, hint)
    if not all(map(is_integer, leaves(plain.stride))):
        refuse(name, (layout,), "coordinate strides have no order")
    return plain


def make_identity_layout(shape: IntTuple) -> Layout:
    """The layout that sends every coordinate to itself.

    >>> str(make_identity_layout((4, (2, 3))))
    '(4,(2,3)):(1@0,(1@0@1,1@1@1))'
    """
    strides = unit_strides(shape)
    if any(type(extent) is Static for extent in leaves(shape)):  # E<0> is static
        strides = mark_static(strides)
    return Layout(shape, strides)


def make_identity_tensor(shape: IntTuple) -> AnyLayout:
    """The tensor that sends every coordinate to itself: a layout; of a shape of C++ with its origin, as CuTe prints it.

    >>> str(make_identity_tensor((Static(4), Static(8)))), str(make_identity_tensor((4, 8)))
    ('ArithTuple(_0,_0) o (_4,_8):(_1@0,_1@1)', '(4,8):(1@0,1@1)')
    """
    layout = make_identity_layout(shape)
    return counting(layout) if has_static(layout) else layout
