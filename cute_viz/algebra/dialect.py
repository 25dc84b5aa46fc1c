"""C++ and the Python DSL, whose compiler builds some results otherwise: which of the two an operation is computed for.

Of the same operands the DSL coalesces the modes of a raked product, opens modes of one mode in flat and tiled divisions, gives an
extent of 1 of a tiler the stride 0, sorts equal strides in their order, divides modes by their sizes, gives 1:0 for the left
inverse of strides of 0, repeats blocks that do not divide their target, and has complements and inverses of layouts of
coordinates, which C++ has not (tried with 4.8.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import leaves
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.static import has_static

_dsl: ContextVar[bool | None] = ContextVar("in the DSL", default=None)


@contextmanager
def as_in_dsl(meant: bool = True) -> Iterator[None]:
    """While an operation of the Python DSL is computed; if not `meant`, one of C++."""
    token = _dsl.set(meant)
    try:
        yield
    finally:
        _dsl.reset(token)


def in_dsl(*operands: Any) -> bool:
    """Whether the DSL is meant: it is said, or there are coordinates, and none of the marks that C++ prints static integers
    with."""
    if (said := _dsl.get()) is not None or not operands:
        return bool(said)
    if isinstance(operands[0], ComposedLayout) or has_static(operands[0]):
        return False
    return any(isinstance(x, Layout) and is_coordinate_layout(x) for x in leaves(operands))


def in_cpp(layout: Layout) -> bool:
    """Whether C++ is meant: it is said, or the layout has the marks that C++ prints static integers with."""
    said = _dsl.get()
    return has_static(layout) if said is None else not said
