"""The divisions: a layout split into a tile and what is left over, and whether there is any (cute/layout.hpp, layout_composed.hpp).

logical keeps the modes, zipped gathers ((tile modes), (rest modes)), tiled and flat open one or both of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra.common import brief, refuse, within
from cute_viz.algebra.compose import all_hold, by_modes, composition, value_at, without_padding
from cute_viz.algebra.compose import coalesce as _coalesce
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, is_layout, lifted
from cute_viz.algebra.inttuple import IntTuple, Underscore, is_int_tuple, map_leaves, modes, product, show, tuple_rank
from cute_viz.algebra.inverse import check_sorted, complement
from cute_viz.algebra.layout import Layout, make_layout, modes_of
from cute_viz.algebra.modes import tile_unzip
from cute_viz.algebra.shapes import ceil_div, equal, every, shape_of
from cute_viz.algebra.static import in_dsl
from cute_viz.algebra.stride import Basis, is_coordinate
from cute_viz.algebra.table import fits, offsets
from cute_viz.errors import AlgebraError


@lifted
def logical_divide(layout: Layout, tiler: object) -> AnyLayout:
    """(tile, rest): the elements that the tiler picks, and the layout of such tiles; mode by mode for a tuple.

    Raises: AlgebraError for more modes in the tiler than in the layout, and as complement and composition.

    >>> str(logical_divide(Layout((4, 2, 3), (2, 1, 8)), Layout(4, 2)))
    '((2,2),(2,3)):((4,1),(2,8))'
    >>> str(logical_divide(Layout((9, 32), (1, 9)), (Layout(3, 3), 8)))
    '((3,3),(8,4)):((3,1),(9,72))'
    """
    return by_mode(logical_divide, lambda a, b: composition(a, _tile_and_rest(a, b)), layout, tiler)


def by_mode(
    operation: Callable[[Layout, object], AnyLayout],
    of_layouts: Callable[[Layout, Layout], AnyLayout],
    layout: Layout,
    tiler: object,
) -> AnyLayout:
    """An operation that is defined for two layouts for any tiler: mode by mode for a tuple, nothing for `_`, n:1 for n. Raises:
    AlgebraError in the name of the operation, for what is not a tiler or has too many modes, too."""
    name = operation.__name__
    match tiler:
        case tuple():
            if len(tiler) > tuple_rank(layout.shape):
                refuse(name, (layout, tiler), "Too many modes in tiler.")
            return by_modes(operation, layout, tiler)
        case Underscore():
            return layout
        case int():
            tiler = Layout(tiler)
        case _ if not isinstance(tiler, Layout):
            refuse(name, (layout, tiler), f"{show(tiler)} is not a tiler", hint="a layout, an integer, _ or a tuple of these")
    try:
        return of_layouts(layout, tiler)
    except AlgebraError as error:
        raise within(error, name, layout, tiler) from None


def _tile_and_rest(layout: Layout, tiler: Layout) -> Layout:
    """The tiler, and what it leaves of the layout's domain: of indices, or of coordinates. The DSL takes an identity layout for
    the tiler of its shape, so that modes of one have the stride 0."""
    if not is_coordinate(tiler.stride):
        return make_layout(tiler, complement(tiler, _coalesce(layout).shape))
    rest = complement(tiler, layout.shape)
    if rest.rank > layout.rank:
        refuse("complement", (tiler, layout.shape), f"its values are coordinates of {rest.rank} modes")
    if tiler.stride != tuple(Basis(1, (i,)) for i in range(tiler.rank)):
        return make_layout(tiler, rest)
    parts = modes_of(rest)
    met = [Layout(part.shape, 0 if part.shape == 1 else part.stride) for part in parts[: tiler.rank]]
    tile = Layout(tiler.shape, map_leaves(lambda s, d: 0 if s == 1 else d, tiler.shape, tiler.stride))
    return make_layout(tile, make_layout(*met, *parts[tiler.rank :]))


def divide_is_pointwise(layout: AnyLayout, tiler: object, limit: int = 1 << 16) -> bool | None:
    """Whether logical_divide(layout, tiler) has A(T(i)) in its tile and the rest in order; None where that is unknown. Divisions
    compose, and CuTe's composition does not check every carry. What lies behind the layout does not count."""
    while isinstance(layout, ComposedLayout):
        layout = layout.inner if is_layout(layout.inner) else Layout(1)
    if isinstance(tiler, tuple):
        return all_hold(divide_is_pointwise(part, t, limit) for part, t in zip(modes_of(layout), tiler, strict=False))
    if isinstance(tiler, Underscore):
        return True
    tiler = Layout(tiler) if isinstance(tiler, int) else tiler
    if not isinstance(tiler, Layout):
        return None
    picks = _tile_and_rest(layout, tiler)
    if not fits(picks, limit):
        return None
    try:
        places, values = list(offsets(picks)), list(offsets(logical_divide(layout, tiler)))
        found = [(place, value) for place, value in zip(places, values, strict=False) if _inside(place, layout.shape)]
        same = all(value_at(layout, place) == without_padding(value) for place, value in found)
        return False if not same else True if len(places) == len(values) else None
    except AlgebraError:  # strides of several kinds have no values
        return None


def _inside(place: IntTuple, shape: IntTuple) -> bool:
    if isinstance(place, tuple):
        return isinstance(shape, tuple) and len(place) <= len(shape) and all(map(_inside, place, shape))
    return bool(0 <= place < product(shape))


@lifted
def zipped_divide(layout: Layout, tiler: object) -> AnyLayout:
    """((tile modes), (rest modes)): logical_divide with all tiles in mode 0 and all rests in mode 1.

    Raises: as logical_divide, and for `_` in the tiler.

    >>> str(zipped_divide(Layout((8, 8)), (2, 4)))
    '((2,4),(4,2)):((1,8),(2,32))'
    """
    return tile_unzip(logical_divide(layout, tiler), tiler)


@lifted
def tiled_divide(layout: Layout, tiler: object) -> AnyLayout:
    """((tile modes), rest, rest, ...): zipped_divide with the second mode opened. Raises: as zipped_divide.

    >>> str(tiled_divide(Layout((8, 8)), (2, 4)))
    '((2,4),4,2):((1,8),2,32)'
    """
    return open_modes(zipped_divide(layout, tiler), 1, every=in_dsl(layout, tiler))


@lifted
def flat_divide(layout: Layout, tiler: object) -> AnyLayout:
    """(tile, tile, ..., rest, rest, ...): zipped_divide with both modes opened. Raises: as zipped_divide.

    >>> str(flat_divide(Layout((8, 8)), (2, 4)))
    '(2,4,4,2):(1,8,2,32)'
    """
    return open_modes(zipped_divide(layout, tiler), 0, 1, every=in_dsl(layout, tiler))


@lifted
def open_modes(layout: Layout, *which: int, every: bool = False) -> AnyLayout:
    """The modes of the given modes in their place; a mode of one mode stays as it is (CuTe's repeat<1>(_) is `_`). With `every`
    it is opened, too, as the DSL does."""
    out: list[Layout] = []
    for i, part in enumerate(modes_of(layout)):
        out += modes_of(part) if i in which and (every or len(modes(part.shape)) != 1) else [part]
    return make_layout(*out)


def ceil_div_tiler(a: object, b: object) -> Any:
    """a / b rounded up, mode by mode; for a layout b, the shape of what remains of a (cute/layout.hpp, ceil_div).

    The DSL divides the size of a mode where b has an integer.

    >>> ceil_div_tiler((4, 3), (4, 2)), ceil_div_tiler(24, Layout(4, 2))
    ((1, 2), (2, 3))
    """
    shape, sizes = shape_of(a), in_dsl() and isinstance(b, (int, tuple))
    if isinstance(b, Layout):
        return complement(b, shape).shape
    if not isinstance(b, tuple) or (is_int_tuple(b) and not sizes):
        return ceil_div(product(shape) if sizes else shape, shape_of(b))
    if not isinstance(shape, tuple) or len(b) > len(shape):
        refuse("ceil_div", (a, b), "the tiler has more modes than the shape")
    return tuple(ceil_div_tiler(x, b[i]) if i < len(b) else x for i, x in enumerate(shape))


def evenly_divides(shape: Any, tiler: Any) -> bool | int:
    """Whether a tiler divides a shape without remainder: mode by mode, a layout by its size and its complement.

    Raises: as complement, and for modes with run-time strides beside static ones, which CuTe cannot sort. Source:
    cute/int_tuple.hpp.

    >>> evenly_divides((32, 64), (Layout(8, 2), 32)), evenly_divides((12, 64), (Layout(8, 2), 32))
    (True, False)
    >>> evenly_divides((8, 6), (4, 3)), evenly_divides((4, 2), Layout(2, 1))
    (True, True)
    """
    shape = shape_of(shape)
    if isinstance(tiler, ComposedLayout):
        refuse("evenly_divides", (shape, tiler), "a swizzled layout does not divide a shape")
    if isinstance(tiler, tuple):
        return len(tiler) <= tuple_rank(shape) and every(map(evenly_divides, modes(shape), tiler))
    if not isinstance(tiler, Layout):
        if not is_int_tuple(tiler):
            refuse("evenly_divides", (shape, tiler), f"{brief(tiler)} has no size to divide by")
        return equal(product(shape), tiler * product(ceil_div(shape, tiler)))
    check_sorted("evenly_divides", tiler, (shape, tiler))
    return equal(product(shape), product(tiler.shape) * product(ceil_div_tiler(shape, tiler)))
