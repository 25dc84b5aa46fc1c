"""Composition: the layout c -> A(B(c)) (cute/layout.hpp, cute/layout_composed.hpp)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from cute_viz.algebra.coalesced import coalesce_extended, coalesce_modes_extended
from cute_viz.algebra.common import is_zero, refuse, within
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, compose_with_offset, domain, is_layout
from cute_viz.algebra.dialect import in_dsl
from cute_viz.algebra.inttuple import Underscore, map_pairs
from cute_viz.algebra.layout import Layout, flat_modes, make_layout, modes_of, trusted
from cute_viz.algebra.measure import coprofile
from cute_viz.algebra.stride import Basis, is_coordinate, plain
from cute_viz.algebra.swizzle import Swizzle, merge_swizzles
from cute_viz.algebra.swizzled import layout_after_swizzle
from cute_viz.algebra.table import fits, offsets
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import is_known, is_one, least


def composition(a: object, b: object, *more: object) -> Any:
    """A o B: B picks coordinates, A gives their values.

    B may be a layout; a tiler (a tuple applied mode by mode, where `_` leaves a mode alone); or an integer n for the first
    n elements. A and B may be swizzles and composed layouts. With three arguments, composition(outer, offset, inner) is the
    composed layout.

    Raises: AlgebraError for operands that break CuTe's divisibility conditions.

    >>> str(composition(Layout((6, 2), (8, 2)), Layout((4, 3), (3, 1))))
    '((2,2),3):((24,2),8)'
    >>> str(composition(Layout((12, (4, 8)), (59, (13, 1))), (Layout(3, 4), Layout(8, 2))))
    '(3,(2,4)):(236,(26,1))'
    """
    if more:
        if len(more) != 1:
            raise AlgebraError("composition takes two operands, or outer, offset and inner")
        return compose_with_offset(a, b, more[0])
    match a, b:
        case ComposedLayout(outer, offset, inner), _:
            return ComposedLayout(outer, offset, composition(inner, b))
        case Swizzle(), Swizzle():
            return merge_swizzles(a, b)
        case Swizzle(), Layout() | ComposedLayout():
            return compose_with_offset(a, 0, b)
        case Swizzle(), _:
            refuse("composition", (a, b), "a swizzle can only be composed with a layout or another swizzle")
        case Layout(), Layout():
            return _layouts(a, b)
        case Layout(), Swizzle():
            return layout_after_swizzle(a, b)
        case Layout(), ComposedLayout(outer, offset, inner):
            if offset != 0:
                refuse("composition", (a, b), "Require offset == 0 in the right operand")
            return composition(composition(a, outer), inner)
        case Layout(), _:
            return _tiler(a, b)
    refuse("composition", (a, b), "the left operand is not a layout")


def _layouts(a: Layout, b: Layout) -> Layout:
    try:
        if is_coordinate(b.stride):
            return trusted(*map_pairs(partial(_along_modes, coalesce_extended(a, coprofile(b))), b.shape, b.stride))
        return trusted(*map_pairs(partial(_compose, coalesce_modes_extended(flat_modes(a))), b.shape, b.stride))
    except AlgebraError as error:
        raise within(error, "composition", a, b) from None


def _along_modes(a: Layout, shape: int, stride: object) -> tuple[object, object]:
    """Composition of one extent with a coordinate stride, which picks from the mode of `a` that it names."""
    if isinstance(stride, Basis):
        for i in stride.path:
            if not isinstance(a.shape, tuple) or i >= len(a.shape):
                raise AlgebraError(f"the left operand has no mode for the stride {stride}")
            a = a[i]
        stride = stride.value
    return _compose(flat_modes(a), shape, stride)


def _compose(pairs: list[tuple[int, Any]], shape: Any, stride: object) -> tuple[Any, Any]:
    """Extent and stride of the composition of a flat, coalesced layout with one extent and its integer stride."""
    if is_zero(stride):
        return shape, 0
    if len(pairs) == 1:
        return shape, stride * pairs[0][1]
    return _pick(pairs, shape, stride)


def _pick(pairs: list[tuple[int, object]], rest: int, step: Any) -> tuple[object, object]:
    """Every `step`-th element of a flat layout, `rest` of them: each mode gives what it can, the last one the remainder."""
    shape: list[int] = []
    stride: list[Any] = []
    for extent, d in pairs[:-1]:
        if step == 0:
            raise AlgebraError(f"a run-time step of 0 over {extent}:{d} divides by zero", hint="write a static 0: _0")
        if is_known(step) and is_known(extent) and step % extent != 0 and step >= extent:
            raise AlgebraError(f"Stride Divisibility Condition: {extent}:{d} does not divide the step of {step} over it")
        left = -(-extent // abs(step))
        if not is_one(left) and not is_one(rest):
            taken = least(left, rest)
            if is_known(taken) and rest % taken != 0:
                raise AlgebraError(
                    f"Shape Divisibility Condition: {rest} elements are not a multiple of the {taken} in {extent}:{d}"
                )
            shape.append(taken)
            stride.append(step * d)
            rest //= taken
        step = -(-abs(step) // extent) * (1 if step > 0 else -1)
    if not shape or not is_one(rest):
        shape.append(rest)
        stride.append(step * pairs[-1][1])
    return (shape[0], stride[0]) if len(shape) == 1 else (tuple(shape), tuple(stride))


def _tiler(a: Layout, tiler: object) -> Layout:
    """Composition with a tiler: mode by mode for a tuple, the first n elements for an integer."""
    if isinstance(tiler, Underscore):
        return a
    if isinstance(tiler, tuple):
        if len(tiler) > a.rank:
            refuse("composition", (a, tiler), f"the tiler has {len(tiler)} modes, but the layout has {a.rank}")
        parts = [composition(part, t) for part, t in zip(modes_of(a), tiler, strict=False)]
        if not all(isinstance(part, Layout) for part in parts):
            refuse("composition", (a, tiler), "a swizzled layout has no strides, so it cannot be a mode of another layout")
        return make_layout(*parts)
    if isinstance(tiler, int) and not isinstance(tiler, bool) and tiler >= 1:
        if is_one(tiler) and in_dsl():
            return Layout(1, 0)
        try:
            return trusted(*_compose(coalesce_modes_extended(flat_modes(a)), tiler, 1))
        except AlgebraError as error:
            raise within(error, "composition", a, tiler) from None
    refuse("composition", (a, tiler), "the right operand is not a layout, a positive integer, _ or a tuple of these")


def composition_is_pointwise(a: object, b: object, result: AnyLayout, limit: int = 1 << 16) -> bool | None:
    """Whether result(i) == A(B(i)) everywhere; None where it is unknown (not layouts, or more than `limit` values). CuTe does
    not check every carry, so it accepts some operands whose composition is another function."""
    match a, b:
        case _, Underscore():
            return True
        case Layout(), tuple():
            parts = zip(modes_of(a), b, strict=False)
            return all_hold(composition_is_pointwise(part, t, composition(part, t), limit) for part, t in parts)
        case _, int() if type(b) is not bool:
            b = Layout(b)
    if not is_layout(b) or not is_layout(result):
        return None
    try:
        if not fits(b, limit):
            return None
        return [value_at(a, place) for place in offsets(b)] == [without_padding(value) for value in offsets(result)]
    except AlgebraError:  # an operand without values: strides of several kinds, a swizzle alone or of coordinates
        return None


def all_hold(answers: Iterable[bool | None]) -> bool | None:
    """Whether all of several things hold; None where one is not known, and none is known not to."""
    told = list(answers)
    return False if False in told else None if None in told else True


def value_at(layout: Any, place: object) -> object:
    """The value of a layout or swizzle at a value of another: an index, or a coordinate, which may lack modes at the end."""
    return without_padding(plain(layout(_padded(place, domain(layout).shape) if isinstance(place, tuple) else place)))


def without_padding(value: object) -> object:
    """A value without the zeros at the end of a coordinate, which depend on how it was added up."""
    if not isinstance(value, tuple):
        return value
    parts = [without_padding(part) for part in value]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts) or 0


def _padded(place: object, shape: object) -> object:
    if not isinstance(place, tuple) or not isinstance(shape, tuple):
        return place
    return (*map(_padded, place, shape), *place[len(shape) :], *[0] * (len(shape) - len(place)))
