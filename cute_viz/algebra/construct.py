"""New layouts from shapes: column-major, row-major, in a given order, or like another layout (cute/layout.hpp)."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra import layout as plain_layout
from cute_viz.algebra.common import is_zero, narrowed, refuse
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, gives_coordinates, has_origin
from cute_viz.algebra.inttuple import (
    IntTuple,
    Major,
    all_zero,
    compact_major,
    compacted,
    is_int_tuple,
    leaves,
    map_leaves,
    product,
    show,
    unflatten,
)
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.shapes import product_like
from cute_viz.algebra.static import has_static
from cute_viz.algebra.stride import Basis, add, unit_strides
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.swizzled import swizzle_as_layout
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
    """The compact strides of a shape; of one with run-time extents static as far as only static ones come before.

    A run-time extent of 1 is like any other (cute/stride.hpp, compact_major). Plain ones are such in C++, and beside static ones.
    """
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
    """A shape with 1 where the stride is 0.

    >>> without_zeros((4, 8), (0, 1))
    (1, 8)
    """
    return map_leaves(lambda s, d: 1 if is_zero(d) else s, shape, stride)


def of_integers(name: str, layout: object) -> Layout:
    """A plain layout of integer strides, for the operation of that name, which needs their order.

    >>> str(of_integers("make_layout_like", Layout(4, 2)))
    '4:2'
    """
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
        strides = map_leaves(lambda unit: Basis(Static(1), unit.path) if isinstance(unit, Basis) else Static(unit), strides)
    return Layout(shape, strides)


def make_identity_tensor(shape: IntTuple) -> AnyLayout:
    """The tensor that sends every coordinate to itself: a layout; of a shape of C++ with its origin, as CuTe prints it.

    >>> str(make_identity_tensor((Static(4), Static(8)))), str(make_identity_tensor((4, 8)))
    ('ArithTuple(_0,_0) o (_4,_8):(_1@0,_1@1)', '(4,8):(1@0,1@1)')
    """
    layout = make_identity_layout(shape)
    return counting(layout) if has_static(layout) else layout


def with_origin(origin: object, layout: AnyLayout, *, tensor: bool = False) -> AnyLayout:
    """A tensor of coordinates that begin at an origin: `ArithTuple(4,8) o layout`, as CuTe prints it.

    A layout that begins at 0 stays one, unless it is said to be a tensor: see counting. The outer layout is the
    identity on such coordinates, of integers `1:1`. Raises: AlgebraError for a layout whose values are integers, or coordinates
    of another nesting.
    Source: cute/numeric/arithmetic_tuple.hpp, ArithmeticTupleIterator.

    >>> moved = with_origin((4, 8), Layout((2, 2), (E(0), E(1))))
    >>> str(moved), moved(1, 1)
    ('ArithTuple(4,8) o (2,2):(1@0,1@1)', (5, 9))
    """
    if isinstance(origin, tuple):  # 0 times half a step is 0
        origin = map_leaves(lambda x: int(x) if type(x).__name__ == "Fraction" and x.denominator == 1 else x, origin)
    if not is_int_tuple(origin) or origin == ():
        refuse("make_tensor", (origin, layout), "an origin must be an integer or a tuple of integers")
    if isinstance(layout, ComposedLayout) and has_origin(layout):
        tensor = True
        origin, layout = add(origin, layout.offset), layout.inner  # type: ignore[assignment]
    if isinstance(origin, tuple) != gives_coordinates(layout) and not (isinstance(layout, Layout) and all_zero(layout.stride)):
        given, wanted = ("a coordinate", "integers") if isinstance(origin, tuple) else ("an integer", "coordinates")
        refuse("make_tensor", (origin, layout), f"a layout whose values are {wanted} cannot have {given} as its origin")
    if not tensor and all_zero(origin):
        return layout
    return _begun(origin, layout)


def counting(layout: AnyLayout) -> AnyLayout:
    """A tensor of coordinates from 0 on, as make_identity_tensor and get_tma_tensor make it: that it is one shows in its print.

    Source: cute/tensor_impl.hpp, make_counting_tensor.

    >>> str(counting(Layout((2, 2), (E(0), E(1))))), str(counting(Layout(4)))
    ('ArithTuple(0,0) o (2,2):(1@0,1@1)', 'ArithTuple0 o 4:1')
    """
    if not isinstance(layout, Layout):
        return layout
    begun = _begun((), layout) if is_coordinate_layout(layout) else _begun(0, layout)
    static = any(isinstance(step.value if isinstance(step, Basis) else step, Static) for step in leaves(layout.stride))
    return ComposedLayout(begun.outer, map_leaves(Static, begun.offset), layout) if static else begun


def _begun(origin: object, layout: AnyLayout) -> ComposedLayout:
    whole: Any = map_leaves(lambda _: 0, origin)
    for stride in leaves(layout.stride) if isinstance(layout, Layout) and isinstance(origin, tuple) else ():
        whole = add(whole, Basis(1, stride.path) if isinstance(stride, Basis) else 0)
    whole = _filled(origin, map_leaves(lambda _: 0, whole))
    return ComposedLayout(make_identity_layout(map_leaves(lambda _: 1, whole)), whole, layout)


def _filled(origin: object, zeros: object) -> object:
    """An origin with zeros for the positions that it lacks; static integers stay so, which a sum would not keep."""
    if not isinstance(zeros, tuple):
        return origin
    if not isinstance(origin, tuple):
        return add(origin, zeros)  # only 0 is one
    return (*map(_filled, origin, zeros), *zeros[len(origin) :])
