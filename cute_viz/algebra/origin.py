"""Tensors of coordinates, whose values begin at an origin: `ArithTuple(4,8) o layout` (cute/numeric/arithmetic_tuple.hpp)."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.common import refuse
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, gives_coordinates, has_origin, identity
from cute_viz.algebra.inttuple import all_zero, is_int_tuple, leaves, map_leaves
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.stride import Basis, add, step_of
from cute_viz.values.integer import Static, is_static


def with_origin(origin: object, layout: AnyLayout, *, tensor: bool = False) -> AnyLayout:
    """A tensor of coordinates that begin at an origin: `ArithTuple(4,8) o layout`, as CuTe prints it. A layout that begins at 0
    stays one, unless it is said to be a tensor: see counting. The outer layout is the identity on such coordinates, of integers
    `1:1`. Raises: AlgebraError for a layout whose values are integers, or coordinates of another nesting. Source:
    cute/numeric/arithmetic_tuple.hpp, ArithmeticTupleIterator."""
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
    Source: cute/tensor_impl.hpp, make_counting_tensor."""
    if not isinstance(layout, Layout):
        return layout
    begun = _begun((), layout) if is_coordinate_layout(layout) else _begun(0, layout)
    static = any(is_static(step_of(step)) for step in leaves(layout.stride))
    return ComposedLayout(begun.outer, map_leaves(Static, begun.offset), layout) if static else begun


def _begun(origin: object, layout: AnyLayout) -> ComposedLayout:
    whole: Any = map_leaves(lambda _: 0, origin)
    for stride in leaves(layout.stride) if isinstance(layout, Layout) and isinstance(origin, tuple) else ():
        whole = add(whole, Basis(1, stride.path) if isinstance(stride, Basis) else 0)
    whole = _filled(origin, map_leaves(lambda _: 0, whole))
    return ComposedLayout(identity(map_leaves(lambda _: 1, whole)), whole, layout)


def _filled(origin: object, zeros: object) -> object:
    """An origin with zeros for the positions that it lacks; static integers stay so, which a sum would not keep."""
    if not isinstance(zeros, tuple):
        return origin
    if not isinstance(origin, tuple):
        return add(origin, zeros)  # only 0 is one
    return (*map(_filled, origin, zeros), *zeros[len(origin) :])
