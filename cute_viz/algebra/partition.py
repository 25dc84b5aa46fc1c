"""Tiles and partitions of a layout: local_tile, local_partition, and the thread-value layout of a copy.

On a tensor CuTe moves the pointer; on a layout the offset is kept in front of the result, as the middle of a
composed layout, or as the origin of a tensor of coordinates, unless it is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from cute_viz.algebra.common import refuse
from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain, position_independent, swizzle_of
from cute_viz.algebra.divide import zipped_divide
from cute_viz.algebra.inttuple import Sliced, X, all_zero, has_underscore, modes, slice_begin, tuple_rank
from cute_viz.algebra.inverse import right_inverse
from cute_viz.algebra.layout import Layout, check_apart, is_coordinate_layout
from cute_viz.algebra.measure import cosize, get_flat_coord
from cute_viz.algebra.products import raked_product
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.slicing import dice, dice_tuple, slice_and_offset
from cute_viz.algebra.static import in_dsl, unknowns, with_origin
from cute_viz.values.integer import Unknown

_of_tensor: ContextVar[bool] = ContextVar("of a tensor", default=False)


def local_tile(layout: AnyLayout, tiler: object, coord: object, proj: object = None) -> AnyLayout:
    """The tile at a coordinate among all tiles: divide by the tiler, index the rest; a projection drops tiler modes.

    Raises: as zipped_divide, and for a coordinate that does not fit. Source: cute/tensor_impl.hpp.

    >>> str(local_tile(Layout((8, 8), (8, 1)), (2, 4), (1, 1)))
    '64:1 o 20 o (2,4):(8,1)'
    >>> str(local_tile(Layout((8, 8), (8, 1)), (2, 4, 4), (1, 0, X), (1, X, 1)))
    '64:1 o 16 o (2,4,2):(8,1,4)'
    """
    return indexed("local_tile", layout, *cut("local_tile", layout, tiler, coord, proj))


def local_partition(layout: AnyLayout, tile: Layout, index: int, proj: object = None) -> AnyLayout:
    """What one thread gets: its element of every tile of the shape of `tile`, a layout of thread indices.

    Raises: as zipped_divide. Source: cute/tensor_impl.hpp.

    >>> str(local_partition(Layout((8, 8), (8, 1)), Layout((2, 4), (4, 1)), 5))
    '64:1 o 9 o (4,2):(16,4)'
    """
    return indexed("local_partition", layout, *cut("local_partition", layout, tile, index, proj))


def outer_partition(layout: AnyLayout, tiler: object, coord: object) -> AnyLayout:
    """The element at a coordinate in every tile: divide by the tiler, index the tile (inner_partition is local_tile).

    Raises: as zipped_divide, and for a coordinate that does not fit. Source: cute/tensor_impl.hpp.

    >>> str(outer_partition(Layout((8, 8), (8, 1)), (2, 4), (1, 1)))
    '64:1 o 9 o (4,2):(16,4)'
    """
    return indexed("outer_partition", layout, *cut("outer_partition", layout, tiler, coord))


def cut(name: str, layout: AnyLayout, tiler: Any, at: Any, proj: object = None) -> tuple[AnyLayout, Any]:
    """The tiling of which local_tile, local_partition or outer_partition gives a part, and the coordinate of that with `_`."""
    if name == "local_partition":
        tile = tiler if proj is None else dice(proj, tiler)
        tiled = zipped_divide(layout, product_each(tile.shape))
        return tiled, (get_flat_coord(tile, at), blanks(tuple_rank(modes(domain(tiled).shape)[1])))
    if proj is not None:
        further: tuple[Any, ...] = ()
        if isinstance(at, tuple) and isinstance(proj, tuple) and in_dsl(domain(layout), tiler):  # of the modes behind the tiler
            at, further = at[: len(proj)], at[len(proj) :]
        tiler, at = dice_tuple(proj, tiler), dice_tuple(proj, at)
        at = (*at, *further) if further else at
    tiled = zipped_divide(layout, tiler)
    tile_rank, rest_rank = map(tuple_rank, modes(domain(tiled).shape))
    if name == "outer_partition":
        return tiled, (_padded(at, tile_rank, layout, tiler, name), blanks(rest_rank))
    whole = (X,) * tile_rank if in_dsl(domain(layout), tiler) else blanks(tile_rank)
    return tiled, (whole, _padded(at, rest_rank, layout, tiler, name))


def make_layout_tv(thr_layout: Layout, val_layout: Layout) -> tuple[object, Layout]:
    """The tile that threads and their values cover, and the layout from (thread, value) to its elements.

    As cute.make_layout_tv of the Python DSL: raked_product of both layouts, inverted.

    >>> tiler, tv = make_layout_tv(Layout((2, 4), (4, 1)), Layout((2, 2), (2, 1)))
    >>> tiler, str(tv)
    ((4, 8), '((4,2),(2,2)):((8,2),(4,1))')
    """
    mn = raked_product(thr_layout, val_layout)
    tv = composition(right_inverse(mn), Layout((thr_layout.size, val_layout.size)))
    return product_each(domain(mn).shape), tv


def blanks(n: int) -> Sliced:
    """`_` for every mode of so many, of one mode as a whole (cute/algorithm/tuple_algorithms.hpp, repeat)."""
    return X if n == 1 else (X,) * n


def _padded(coord: object, n: int, layout: AnyLayout, tiler: object, name: str) -> object:
    """A tuple coordinate with `_` for the modes that it does not name."""
    if not isinstance(coord, tuple):
        return coord
    if len(coord) > n:
        refuse(name, (layout, tiler, coord), f"the coordinate has {len(coord)} modes, but there are {n}")
    return (*coord, *[X] * (n - len(coord)))


@contextmanager
def of_tensor() -> Iterator[None]:
    """While parts of a swizzled tensor are taken: they are what CuTe's slice leaves, and the offset that the pointer takes."""
    token = _of_tensor.set(True)
    try:
        yield
    finally:
        _of_tensor.reset(token)


def indexed(operation: str, layout: AnyLayout, tiled: AnyLayout, coord: Any) -> AnyLayout:
    """A tiling of a layout at a coordinate with blanks: the sub-layout, its offset kept in front. Raises: AlgebraError for a
    coordinate without blanks."""
    tiled = position_independent(tiled)
    if _of_tensor.get() and swizzle_of(tiled) is not None:
        return slice_and_offset(coord, tiled)  # type: ignore[return-value]
    if not has_underscore(coord):
        refuse(operation, (layout, coord), "the coordinate leaves no mode")
    if isinstance(tiled, ComposedLayout):
        out: AnyLayout = tiled(coord)
        return out
    sub = tiled(coord)
    offset = tiled(slice_begin(coord))
    check_apart(sub, offset)
    if all_zero(offset):
        return sub  # type: ignore[no-any-return]
    plain = domain(layout)
    if is_coordinate_layout(plain):
        return with_origin(offset, sub)
    extent: Any = Unknown() if next(unknowns(plain), None) is not None else cosize(plain)
    return ComposedLayout(Layout(extent, 1), offset, sub)
