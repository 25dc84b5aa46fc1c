"""Hypothesis strategies for layouts of every kind."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import map_leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.swizzle import Swizzle


def nested(leaf: st.SearchStrategy[Any], max_leaves: int = 6) -> st.SearchStrategy[Any]:
    return st.recursive(leaf, lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=max_leaves)


def shapes(largest: int = 6) -> st.SearchStrategy[Any]:
    return nested(st.integers(1, largest))


@st.composite
def layouts(draw: Any, strides: st.SearchStrategy[Any] | None = None, largest: int = 6) -> Layout:
    """A layout of any nesting with free strides."""
    shape = draw(shapes(largest))
    stride = strides if strides is not None else st.integers(-40, 40)
    return Layout(shape, map_leaves(lambda _: draw(stride), shape))


@st.composite
def coordinate_layouts(draw: Any) -> Layout:
    basis = st.builds(Basis, st.integers(1, 9), st.lists(st.integers(0, 2), min_size=1, max_size=1).map(tuple))
    return draw(layouts(st.one_of(st.just(0), basis)))


@st.composite
def swizzles(draw: Any) -> Swizzle:
    bits = draw(st.integers(0, 4))
    shift = draw(st.integers(bits, 6)) * draw(st.sampled_from((1, -1)))
    return Swizzle(bits, draw(st.integers(0, 5)), shift)


@st.composite
def composed_layouts(draw: Any) -> ComposedLayout:
    inner = draw(layouts(st.integers(0, 40)))
    outer = draw(st.one_of(swizzles(), layouts(st.integers(0, 9))))
    return ComposedLayout(outer, draw(st.integers(0, 64)), inner)


def any_layouts() -> st.SearchStrategy[Any]:
    return st.one_of(layouts(), coordinate_layouts(), composed_layouts())
