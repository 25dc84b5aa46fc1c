"""The same function with fewer modes: flatten, coalesce, filter; on composed layouts they act on the innermost one."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra import layout as plain_layout
from cute_viz.algebra.common import is_zero, refuse
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, has_origin, lift, lifted
from cute_viz.algebra.inttuple import leaves, map_leaves, tuple_rank
from cute_viz.algebra.layout import Layout, make_layout, modes_of
from cute_viz.values.integer import Unknown


def flatten(layout: object) -> Any:
    """The same function with no nesting below the top level (cute/layout.hpp); of a tuple its leaves.

    >>> str(flatten(Layout(((2, 2), 4))))
    '(2,2,4):(1,2,4)'
    """
    if isinstance(layout, ComposedLayout):
        return lift(layout, flatten)
    if not isinstance(layout, Layout):
        return tuple(leaves(layout)) if isinstance(layout, tuple) else layout
    if not isinstance(layout.shape, tuple):
        return layout
    flat = plain_layout.trusted(tuple(leaves(layout.shape)), tuple(leaves(layout.stride)))
    if any(isinstance(extent, Unknown) and extent.wide for extent in leaves(flat.shape)):
        return plain_layout.trusted(map_leaves(_narrow, flat.shape), flat.stride)
    return flat


def _narrow(extent: object) -> Any:
    return Unknown("?", extent.text, extent.span, extent.written) if isinstance(extent, Unknown) and extent.wide else extent


coalesce = lifted(plain_layout.coalesce)


def filter_zeros(layout: object, profile: object = None) -> Any:
    """Extents of modes with stride 0 become 1; with a profile, of the modes where the profile is 0 (cute/layout.hpp).

    Of a tuple, its zeros become 1; beside a profile its integers do (cute/int_tuple.hpp).

    A composed layout has no strides and stays as it is (cute/int_tuple.hpp), unless it is a tensor of coordinates with an origin.
    Raises: AlgebraError for one with a profile.

    >>> str(filter_zeros(Layout((4, 8), (0, 1))))
    '(1,8):(0,1)'
    """
    if not isinstance(layout, (Layout, ComposedLayout)):
        return _filter_zeros(layout if profile is None else profile, layout, layout)
    if isinstance(layout, ComposedLayout) and has_origin(layout):
        return ComposedLayout(layout.outer, layout.offset, filter_zeros(layout.inner, profile))
    if isinstance(layout, ComposedLayout):
        if profile is not None:
            refuse("filter_zeros", (layout, profile), "a composed layout has no strides for a profile to choose from")
        return layout
    return Layout(_filter_zeros(layout.stride if profile is None else profile, layout.shape, layout), layout.stride)


def _filter_zeros(guide: object, shape: object, layout: object) -> Any:
    if isinstance(guide, tuple):
        if not isinstance(shape, tuple) or len(shape) != len(guide):
            refuse("filter_zeros", (layout, guide), "the profile and the layout do not have the same nesting")
        return tuple(_filter_zeros(g, s, layout) for g, s in zip(guide, shape, strict=True))
    return map_leaves(lambda _: 1, shape) if is_zero(guide) else shape


def filter_(layout: AnyLayout, profile: object = None) -> AnyLayout:
    """The layout without modes of stride 0 and extent 1, coalesced: the values are the same, repeats aside.

    Of a tensor of coordinates it is that of the layout behind the origin. Raises: AlgebraError for a profile of more modes than the
    layout, and for a composed layout without a profile, of which CuTe has no filter (cute/layout.hpp).

    >>> str(filter_(Layout((4, (2, 8)), (1, (0, 4)))))
    '32:1'
    """
    if isinstance(layout, ComposedLayout):
        if profile is None and not has_origin(layout):
            hint = "with a profile there is one: filter(A, 0); or use coalesce(A)"
            refuse("filter", (layout,), "CuTe has no filter for a composed layout", hint=hint)
        return lift(layout, filter_, profile)
    if isinstance(profile, tuple):
        if len(profile) > tuple_rank(layout.shape):
            refuse("filter", (layout, profile), "the profile has more modes than the layout")
        parts = modes_of(layout)
        done = [filter_(part, target) for part, target in zip(parts, profile, strict=False)]
        return make_layout(*done, *parts[len(profile) :])  # type: ignore[arg-type]
    return plain_layout.coalesce(Layout(_filter_zeros(layout.stride, layout.shape, layout), layout.stride))
