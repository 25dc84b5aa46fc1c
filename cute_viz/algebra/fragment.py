"""make_fragment_like: the registers for a part of a tensor (cute/layout.hpp, cute/swizzle_layout.hpp)."""

from __future__ import annotations

from cute_viz.algebra.composed import AnyLayout, ComposedLayout
from cute_viz.algebra.construct import make_ordered_layout, of_integers, without_zeros
from cute_viz.algebra.inttuple import IntTuple, compact_major, leaves, tuple_rank
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.products import tiled_product
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.values.integer import is_known


def make_fragment_like(layout: AnyLayout | IntTuple) -> Layout:
    """A compact layout for registers: mode 0 column-major first, the others in the order of the layout's strides.

    For a swizzled layout it is that of the layout behind the swizzle; for run-time extents, the compact one. Source:
    cute/layout.hpp, cute/swizzle_layout.hpp.

    >>> str(make_fragment_like(Layout((4, 8, 2), (0, 2, 1))))
    '(4,8,2):(0,2,1)'
    """
    if isinstance(layout, (int, tuple)):
        return Layout(layout)
    if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle):
        return make_fragment_like(layout.inner)  # type: ignore[arg-type]
    if isinstance(layout, Layout) and (tuple_rank(layout.shape) <= 1 or not all(map(is_known, leaves(layout.shape)))):
        return Layout(layout.shape)
    if isinstance(layout, Layout) and all(isinstance(step, Basis) for step in leaves(layout.stride)):
        return Layout(layout.shape)  # such steps have no order: the modes stay in theirs
    plain = of_integers("make_fragment_like", layout)
    assert isinstance(plain.shape, tuple)
    assert isinstance(plain.stride, tuple)
    first = plain.shape[0]
    block = Layout(first, compact_major(without_zeros(first, plain.stride[0])))
    out = tiled_product(block, make_ordered_layout(plain.shape[1:], plain.stride[1:]))
    assert isinstance(out, Layout)
    return out
