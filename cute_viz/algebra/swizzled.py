"""Swizzles and layouts: a swizzle moved through a layout, made one, taken off, or projected."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.common import narrowed, refuse
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, PointerFlag, compose_with_offset, inner_of
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle, make_swizzle
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import is_known


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
