"""A layout -> the terms of its offset formula, so that a page can spell out the offset of the cell under the pointer."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.composed import ComposedLayout, as_layout, position_independent
from cute_viz.algebra.inttuple import leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import CuteVizError


def formula(obj: Any) -> dict[str, Any] | None:
    """The modes of a layout of rank 2 or less as (extent, stride) pairs, rows then columns, and its swizzle; None for all else.

    >>> formula(Layout(((2, 2), 4), ((1, 8), 2)))
    {'rows': [[2, 1], [2, 8]], 'cols': [[4, 2]], 'offset': 0, 'swizzle': None}
    """
    try:
        found = as_layout(obj)
        if isinstance(found, ComposedLayout):
            found = position_independent(found)
    except CuteVizError:
        return None
    swizzle, offset, plain = None, 0, found
    if isinstance(found, ComposedLayout):
        if not isinstance(found.outer, Swizzle) or not isinstance(found.offset, int) or not isinstance(found.inner, Layout):
            return None
        swizzle, offset, plain = [found.outer.bits, found.outer.base, found.outer.shift], int(found.offset), found.inner
    if not isinstance(plain, Layout):
        return None
    shape, stride = plain.shape, plain.stride
    pairs: list[tuple[Any, Any]] = [(shape, stride)]
    if isinstance(shape, tuple) and isinstance(stride, tuple):
        pairs = list(zip(shape, stride, strict=True))
    if len(pairs) > 2 or not pairs:
        return None
    out = [_terms(*pair) for pair in pairs]
    if any(mode is None for mode in out):
        return None
    return {"rows": out[0], "cols": out[1] if len(out) == 2 else [], "offset": offset, "swizzle": swizzle}


def _terms(shape: Any, stride: Any) -> list[list[int]] | None:
    extents, strides = list(leaves(shape)), list(leaves(stride))
    if len(extents) != len(strides) or not all(isinstance(n, int) for n in (*extents, *strides)):
        return None
    return [[int(extent), int(step)] for extent, step in zip(extents, strides, strict=True)]
