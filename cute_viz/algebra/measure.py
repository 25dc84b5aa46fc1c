"""Questions about a layout, or one mode of it, whose answer is a number or a shape: size, rank, cosize ..."""

from __future__ import annotations

from typing import Any, TypeAlias

from cute_viz.algebra import layout as plain_layout
from cute_viz.algebra.common import refuse
from cute_viz.algebra.composed import ComposedLayout, domain
from cute_viz.algebra.inttuple import IntTuple, leaves, map_leaves, modes, product, tuple_depth, tuple_rank
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.shapes import shape_of
from cute_viz.algebra.stride import add, plain
from cute_viz.errors import AlgebraError

Measurable: TypeAlias = "IntTuple | Layout | ComposedLayout"


def size(x: Measurable, *path: int) -> int:
    """The number of coordinates of a shape or layout, or of one mode: size<1>(A) is size(A, 1).

    For a TiledMMA or TiledCopy it is the number of threads. Source: cute/int_tuple.hpp and cute/layout.hpp, size.

    >>> size(Layout((4, (2, 8)))), size(Layout((4, (2, 8))), 1), size((3, 5))
    (64, 16, 15)
    """
    threads = getattr(x, "thr_layout", None)
    return product(shape_of(x if threads is None else threads, *path))


def rank(x: Measurable, *path: int) -> int:
    """The number of modes; an integer has one (cute/int_tuple.hpp, rank).

    >>> rank(Layout((4, (2, 8)))), rank(8), rank(Layout((4, (2, 8))), 1)
    (2, 1, 2)
    """
    return tuple_rank(shape_of(x, *path))


def depth(x: Measurable, *path: int) -> int:
    """How deep the nesting goes; 0 for an integer (cute/int_tuple.hpp, depth).

    >>> depth(Layout((4, (2, 8)))), depth(8)
    (2, 0)
    """
    return tuple_depth(shape_of(x, *path))


def stride_of(layout: Layout, *path: int) -> Any:
    """The strides of a layout or of one of its modes (cute/layout.hpp, stride).

    >>> stride_of(Layout((4, (2, 8))), 1)
    (4, 8)
    """
    if not isinstance(layout, Layout):
        raise AlgebraError(f"{layout} has no strides of its own", hint="get_nonswizzle_portion(A) is the layout behind the swizzle")
    stride: Any = layout.stride
    for i in path:
        if not 0 <= i < tuple_rank(stride):
            refuse("stride", (layout,), f"there is no mode {i}", hint=f"its modes are 0 to {tuple_rank(stride) - 1}")
        stride = modes(stride)[i]
    return stride


def coprofile(layout: Layout, *path: int) -> Any:
    """A tuple of zeros with the nesting of the layout's values: 0 where these are integers (cute/layout.hpp).

    >>> coprofile(Layout((4, 8))), coprofile(Layout((4, 8), (E(0), E(1))))
    (0, (0, 0))
    """
    total: Any = 0
    for stride in leaves(stride_of(layout, *path)):
        try:
            total = add(total, stride)
        except AlgebraError:
            raise AlgebraError(
                f"{layout} mixes strides of different kinds",
                hint="all integers (or 0), or basis elements that name leaves of one coordinate",
            ) from None
    return map_leaves(lambda _: 0, plain(total))


def coshape(layout: Layout, *path: int) -> Any:
    """The smallest shape that holds every value of the layout or of one mode, strides taken as positive.

    Source: cute/layout.hpp, coshape.

    >>> coshape(Layout((4, 8), (8, 1))), coshape(Layout((4, 8), (8, 1)), 0)
    (32, 25)
    """
    if not isinstance(layout, Layout):
        raise AlgebraError(f"CuTe gives no coshape of {layout}", hint="cosize(A) gives the cosize of its innermost layout")
    coprofile(layout)
    return plain_layout.coshape(plain_layout.get(layout, *path))


def cosize(layout: Layout | ComposedLayout, *path: int) -> int:
    """The number of values from 0 to the largest; of a composed layout, that of its innermost layout, as CuTe has it.

    Source: cute/layout.hpp and cute/swizzle_layout.hpp, cosize.

    >>> cosize(Layout((4, 8), (9, 1))), cosize(Layout((4, 8), (9, 1)), 1)
    (35, 8)
    """
    return product(coshape(domain(layout), *path))
