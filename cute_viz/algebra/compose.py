"""Composition: the layout c -> A(B(c)) (cute/layout.hpp, cute/layout_composed.hpp)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from cute_viz.algebra.common import is_zero, refuse, within
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, compose_with_offset, domain, is_layout
from cute_viz.algebra.inttuple import Underscore, map_pairs, show, tuple_rank
from cute_viz.algebra.layout import Layout, flat_modes, from_modes, make_layout, modes_of, trusted
from cute_viz.algebra.measure import coprofile, layout_after_swizzle
from cute_viz.algebra.static import in_dsl
from cute_viz.algebra.stride import F2, Basis, is_coordinate, plain
from cute_viz.algebra.swizzle import Swizzle, merge_swizzles
from cute_viz.algebra.table import fits, offsets
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import Runtime, Unknown, is_known, is_one, least


def coalesce(layout: Layout, profile: object = None) -> Layout:
    """The same function of an integer with as few modes as possible; with a profile, mode by mode (cute/layout.hpp).

    Raises: AlgebraError for a profile of more modes than the layout.

    >>> str(coalesce(Layout((2, (1, 6)), (1, (6, 2)))))
    '12:1'
    >>> str(coalesce(Layout((2, (1, 6)), (1, (6, 2))), (1, 1)))
    '(2,6):(1,2)'
    """
    if isinstance(profile, tuple):
        if len(profile) > layout.rank:
            raise AlgebraError(f"the profile {show(profile)} has more modes than {layout}")
        return by_modes(coalesce, layout, profile)
    return from_modes(coalesce_modes(flat_modes(layout)))


def by_modes(operation: Callable[[Layout, Any], Any], layout: Layout, guides: tuple[object, ...]) -> Layout:
    """An operation on each mode and its guide, of the first modes; the others stay."""
    parts = modes_of(layout)
    return make_layout(*map(operation, parts, guides), *parts[len(guides) :])


def coalesce_modes(pairs: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """(extent, stride) pairs without extents of 1, neighbours joined where one goes on evenly from the other."""
    kept: list[tuple[int, Any]] = []
    reach: Any = None  # the stride at which the last pair would go on
    for extent, stride in pairs:
        if type(extent) in (Runtime, Unknown) or not is_known(stride):
            return _coalesce_known(pairs)
        if extent == 1:
            continue
        if kept and stride == reach and not (isinstance(stride, F2) and kept[-1][0] & (kept[-1][0] - 1)):
            extent, stride = kept[-1][0] * extent, kept[-1][1]
            kept[-1] = (extent, stride)
        else:
            kept.append((extent, stride))
        reach = stride * extent
    return kept


def _coalesce_known(pairs: list[tuple[int, Any]]) -> list[tuple[int, object]]:
    """As coalesce_modes, where some are run-time integers: from the right, only what is known to join (bw_coalesce)."""
    kept: list[tuple[int, Any]] = []
    for extent, stride in reversed(pairs):
        if is_one(extent):
            continue
        reach = stride * extent
        if (
            kept
            and all(map(is_known, (*kept[-1], reach)))
            and reach == kept[-1][1]
            and not (isinstance(reach, F2) and extent & (extent - 1))
        ):
            kept[-1] = (extent * kept[-1][0], stride)
        else:
            kept.append((extent, stride))
    return kept[::-1]


def coalesce_modes_extended(pairs: list[tuple[int, object]]) -> list[tuple[int, Any]]:
    """Like coalesce_modes, for a function that is read past its end: the last stride is kept (CuTe's coalesce_x)."""
    if not pairs:
        raise AlgebraError("a layout without modes cannot be the left operand")
    extent, stride = pairs[-1]
    return coalesce_modes([*pairs[:-1], (2 if is_one(extent) else extent, stride)])


def coalesce_extended(layout: Layout, profile: object = 0) -> Layout:
    """Coalesced so that values past the end stay the same too: the last stride is kept (cute/layout.hpp, coalesce_x).
    Composition reads its left operand past the end; the extent of the last mode does not count there."""
    if isinstance(profile, tuple):
        if len(profile) > tuple_rank(layout.shape):
            raise AlgebraError(f"coordinates of {len(profile)} modes do not index a layout of {tuple_rank(layout.shape)}")
        return by_modes(coalesce_extended, layout, profile)
    return from_modes(coalesce_modes_extended(flat_modes(layout)))


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
