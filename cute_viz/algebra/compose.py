"""Composition: the layout c -> A(B(c)) (cute/layout.hpp, cute/layout_composed.hpp)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra.common import refuse, within
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain
from cute_viz.algebra.inttuple import Underscore, leaves, product
from cute_viz.algebra.layout import Layout, make_layout, modes_of, rank
from cute_viz.algebra.stride import Basis, plain
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import AlgebraError


def composition(a: Any, b: Any, *more: Any) -> Any:
    """A o B: B picks coordinates, A gives their values.

    B may be a layout; a tiler (a tuple applied mode by mode, where `_` leaves a mode alone); or an integer n for the first
    n elements. A and B may be swizzles and composed layouts. With three arguments, composition(outer, offset, inner) is the
    composed layout. Refused: operands that break CuTe's divisibility conditions.

    >>> str(composition(Layout((6, 2), (8, 2)), Layout((4, 3), (3, 1))))
    '((2,2),3):((24,2),8)'
    >>> str(composition(Layout((12, (4, 8)), (59, (13, 1))), (Layout(3, 4), Layout(8, 2))))
    '(3,(2,4)):(236,(26,1))'
    """
    if more:
        if len(more) != 1:
            raise AlgebraError("composition takes two operands, or outer, offset and inner")
        return compose_with_offset(a, b, more[0])
    if isinstance(a, ComposedLayout):
        return ComposedLayout(a.outer, a.offset, composition(a.inner, b))
    if isinstance(a, Swizzle):
        if isinstance(b, Swizzle):
            from cute_viz.algebra.swizzled import merge_swizzles

            return merge_swizzles(a, b)
        if isinstance(b, (Layout, ComposedLayout)):
            return compose_with_offset(a, 0, b)
        refuse("composition", (a, b), "a swizzle is composed with a layout or another swizzle")
    if not isinstance(a, Layout):
        refuse("composition", (a, b), "the left operand is not a layout")
    if isinstance(b, Layout):
        return _layouts(a, b)
    if isinstance(b, Swizzle):
        from cute_viz.algebra.swizzled import layout_after_swizzle

        return layout_after_swizzle(a, b)
    if isinstance(b, ComposedLayout):
        if b.offset != 0:
            refuse("composition", (a, b), "Require offset == 0 in the right operand")
        return composition(composition(a, b.outer), b.inner)
    return _tiler(a, b)


def compose_with_offset(outer: Any, offset: Any, inner: Any) -> AnyLayout:
    """outer o offset o inner; a swizzle of no bits without an offset is left out, as in CuTe.

    >>> str(compose_with_offset(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1))))
    'Sw<3,3,3> o 0 o (8,64):(64,1)'
    """
    if isinstance(outer, Swizzle) and outer.bits == 0 and isinstance(inner, Layout) and isinstance(offset, int) and offset == 0:
        return inner
    return ComposedLayout(outer, offset, inner)


def lift(layout: ComposedLayout, operation: Callable[..., Any], *args: Any) -> ComposedLayout:
    """An operation on the domain, carried to a composed layout: outer o offset o operation(inner).

    >>> from cute_viz.algebra.layout import flatten
    >>> str(lift(ComposedLayout(Swizzle(1, 0, 1), 0, Layout((2, (2, 2)))), flatten))
    'Sw<1,0,1> o 0 o (2,2,2):(1,2,4)'
    """
    if isinstance(layout.inner, Swizzle):
        refuse(operation.__name__, (layout,), "a swizzle stands where the domain should be, so there are no modes")
    return ComposedLayout(layout.outer, layout.offset, operation(layout.inner, *args))


def _layouts(a: Layout, b: Layout) -> Layout:
    from cute_viz.algebra.measure import coprofile
    from cute_viz.algebra.simplify import coalesce_extended

    try:
        flat = coalesce_extended(a, coprofile(b))
        return _compose(flat.shape, flat.stride, b.shape, b.stride)
    except AlgebraError as error:
        raise within(error, "composition", a, b) from None


def _compose(shape: Any, stride: Any, rhs_shape: Any, rhs_stride: Any) -> Layout:
    if isinstance(rhs_shape, tuple):
        return make_layout(*[_compose(shape, stride, s, d) for s, d in zip(rhs_shape, rhs_stride, strict=True)])
    if isinstance(rhs_stride, Basis):
        for i in rhs_stride.path:
            if not isinstance(shape, tuple) or i >= len(shape):
                raise AlgebraError(f"the left operand has no mode for the stride {rhs_stride}")
            shape, stride = shape[i], stride[i]
        return _compose(shape, stride, rhs_shape, rhs_stride.value)
    if rhs_stride == 0:
        return Layout(rhs_shape, 0)
    if not isinstance(shape, tuple):
        return Layout(rhs_shape, rhs_stride * stride)
    return _pick(list(leaves(shape)), list(leaves(stride)), rhs_shape, rhs_stride)


def _pick(shape: list[int], stride: list[Any], rest: int, step: Any) -> Layout:
    """Every `step`-th element of a flat layout, `rest` of them: each mode gives what it can, the last one the remainder."""
    out: list[tuple[int, Any]] = []
    for extent, d in zip(shape[:-1], stride[:-1], strict=True):
        if step % extent != 0 and step >= extent:
            raise AlgebraError(f"Stride Divisibility Condition: {extent}:{d} does not divide the step of {step} over it")
        left = -(-extent // abs(step))
        if left != 1 and rest != 1:
            taken = min(left, rest)
            if rest % taken != 0:
                raise AlgebraError(f"Shape Divisibility Condition: {rest} elements are no multiple of the {taken} in {extent}:{d}")
            out.append((taken, step * d))
            rest //= taken
        step = -(-abs(step) // extent) * (1 if step > 0 else -1)
    if not out or rest != 1:
        out.append((rest, step * stride[-1]))
    if len(out) == 1:
        return Layout(*out[0])
    return Layout(tuple(s for s, _ in out), tuple(d for _, d in out))


def _tiler(a: Layout, tiler: Any) -> Layout:
    from cute_viz.algebra.simplify import coalesce_extended

    if isinstance(tiler, Underscore):
        return a
    if isinstance(tiler, tuple):
        if len(tiler) > rank(a):
            refuse("composition", (a, tiler), f"the tiler has {len(tiler)} modes, the layout has {rank(a)}")
        return make_layout(*[composition(part, t) for part, t in zip(modes_of(a), tiler, strict=False)])
    if isinstance(tiler, int) and not isinstance(tiler, bool) and tiler >= 1:
        flat = coalesce_extended(a)
        try:
            return _compose(flat.shape, flat.stride, tiler, 1)
        except AlgebraError as error:
            raise within(error, "composition", a, tiler) from None
    refuse("composition", (a, tiler), "the right operand is not a layout, a positive integer, _ or a tuple of these")


def composition_is_pointwise(a: Any, b: Any, result: AnyLayout, limit: int = 1 << 16) -> bool | None:
    """Whether result(i) == A(B(i)) everywhere; None where it cannot be told (no layouts, or more than `limit` values).

    CuTe does not check every carry, so it accepts some operands whose composition is another function.

    >>> a, b = Layout((4, 8), (8, 1)), Layout((2, 4), (4, 8))
    >>> composition_is_pointwise(a, b, composition(a, b))
    True
    """
    from cute_viz.algebra.table import offsets

    if not isinstance(b, (Layout, ComposedLayout)) or not isinstance(result, (Layout, ComposedLayout)):
        return None
    if product(domain(b).shape) > limit:
        return None
    return [plain(a(i)) for i in offsets(b)] == offsets(result)
