"""A layout -> the terms of its offset formula, so that a page can spell out the offset of the cell under the pointer."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.composed import ComposedLayout, as_layout, position_independent
from cute_viz.algebra.inttuple import leaves, modes
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import CuteVizError


def formula(obj: Any) -> dict[str, Any] | None:
    """The modes of a layout of rank 2 or less as (extent, stride) pairs, rows then columns, and its swizzle; None for all else."""
    try:
        found: Any = position_independent(as_layout(obj))
    except CuteVizError:
        return None
    swizzle, offset = None, 0
    if isinstance(found, ComposedLayout):
        if not isinstance(found.outer, Swizzle) or not isinstance(found.offset, int):
            return None
        swizzle, offset, found = [found.outer.bits, found.outer.base, found.outer.shift], int(found.offset), found.inner
    if not isinstance(found, Layout):
        return None
    pairs = [list(zip(leaves(a), leaves(b), strict=True)) for a, b in zip(modes(found.shape), modes(found.stride), strict=True)]
    if not 1 <= len(pairs) <= 2 or not all(isinstance(n, int) for mode in pairs for pair in mode for n in pair):
        return None
    rows, cols = ([[int(extent), int(step)] for extent, step in mode] for mode in (*pairs, [])[:2])
    return {"rows": rows, "cols": cols, "offset": offset, "swizzle": swizzle}
