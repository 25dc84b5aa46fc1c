"""The products: a block repeated over a layout of blocks, or into registers (cute/layout.hpp, cute/layout_composed.hpp)."""

from __future__ import annotations

from cute_viz.algebra.common import brief, narrowed, refuse
from cute_viz.algebra.compose import coalesce, composition
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, compose_with_offset, lifted
from cute_viz.algebra.construct import make_ordered_layout, of_integers, without_zeros
from cute_viz.algebra.divide import by_mode, evenly_divides, open_modes
from cute_viz.algebra.inttuple import IntTuple, all_zero, compact_major, leaves, tuple_rank
from cute_viz.algebra.inverse import complement
from cute_viz.algebra.layout import Layout, get, is_coordinate_layout, make_layout
from cute_viz.algebra.measure import cosize, swizzle_projection
from cute_viz.algebra.modes import append, tile_unzip, zip_
from cute_viz.algebra.shapes import ceil_div, product_each
from cute_viz.algebra.static import in_dsl
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.swizzle import Swizzle, make_swizzle
from cute_viz.values.integer import is_known


@lifted
def logical_product(block: Layout, tiler: object) -> AnyLayout:
    """(block, where the blocks go): the block once for every element of the tiler; mode by mode for a tuple.

    A block of coordinates is repeated as in the Python DSL: see complement. Raises: AlgebraError for more modes in the tiler
    than in the block, and what complement and composition refuse. The tiler can be a swizzled layout: its swizzle is moved to the
    product.

    >>> str(logical_product(Layout((2, 2), (4, 1)), Layout(6, 1)))
    '((2,2),(2,3)):((4,1),(2,8))'
    >>> str(logical_product(Layout((2, 2)), ComposedLayout(Swizzle(1, 0, 2), 0, Layout((4, 2)))))
    'Sw<1,2,2> o 0 o ((2,2),(4,2)):((1,2),(4,16))'
    """
    if isinstance(tiler, ComposedLayout):
        return _with_swizzled_tiler(block, tiler)
    if isinstance(tiler, Layout) and is_coordinate_layout(tiler):
        refuse("logical_product", (block, tiler), "the tiler's values are coordinates, and blocks are counted by integers")

    def repeated(a: Layout, b: Layout) -> Layout:
        if in_dsl() and all_zero(b.stride):  # whose complement refuses no layout: none of its steps is taken here
            return make_layout(a, b)
        return make_layout(a, composition(complement(a, a.size * cosize(b)), b))

    return by_mode(logical_product, repeated, block, tiler)


@lifted
def zipped_product(block: Layout, tiler: object) -> AnyLayout:
    """((block modes), (tiler modes)): logical_product with all blocks in mode 0.

    Raises: as logical_product, and for `_` in the tiler.

    >>> str(zipped_product(Layout((2, 5), (5, 1)), Layout((3, 4))))
    '((2,5),(3,4)):((5,1),(10,30))'
    """
    return tile_unzip(logical_product(block, tiler), tiler)


@lifted
def tiled_product(block: Layout, tiler: object) -> AnyLayout:
    """((block modes), tiler, tiler, ...): zipped_product with the second mode opened. Raises: as zipped_product.

    >>> str(tiled_product(Layout((2, 5), (5, 1)), Layout((3, 4))))
    '((2,5),3,4):((5,1),10,30)'
    """
    return open_modes(zipped_product(block, tiler), 1, every=in_dsl(block, tiler))


@lifted
def flat_product(block: Layout, tiler: object) -> AnyLayout:
    """(block, block, ..., tiler, tiler, ...): zipped_product with both modes opened. Raises: as zipped_product.

    >>> str(flat_product(Layout((2, 5), (5, 1)), Layout((3, 4))))
    '(2,5,3,4):(5,1,10,30)'
    """
    return open_modes(zipped_product(block, tiler), 0, 1, every=in_dsl(block, tiler))


@lifted
def blocked_product(block: Layout, tiler: Layout) -> AnyLayout:
    """The block at every element of the tiler, mode i of both in mode i of the result, the block's part first.

    Raises: as logical_product, and for operands of one mode that are not both tuples.

    >>> str(blocked_product(Layout((2, 5), (5, 1)), Layout((3, 4))))
    '((2,3),(5,4)):((5,10),(1,30))'
    """
    return zip_(*_ranked("blocked_product", block, tiler))  # type: ignore[no-any-return]


@lifted
def raked_product(block: Layout, tiler: Layout) -> AnyLayout:
    """As blocked_product with the tiler's part first: the blocks are interleaved.

    The Python DSL coalesces every mode. Raises: as blocked_product.

    >>> str(raked_product(Layout((2, 5), (5, 1)), Layout((3, 4))))
    '((3,2),(4,5)):((10,5),(30,1))'
    """
    first, second = _ranked("raked_product", block, tiler)
    raked = zip_(second, first)
    if in_dsl(block, tiler) and isinstance(raked, Layout):
        return coalesce(raked, (1,) * raked.rank)
    return raked  # type: ignore[no-any-return]


def _ranked(name: str, block: Layout, tiler: object) -> tuple[Layout, Layout]:
    tiler = narrowed(Layout, tiler, name, (block, tiler), f"{brief(tiler)} is not a layout")
    n = max(block.rank, tiler.rank)
    out = logical_product(append(block, n=n), append(tiler, n=n))
    assert isinstance(out, Layout)
    return get(out, 0), get(out, 1)


@lifted
def tile_to_shape(block: Layout, trg_shape: object, ord_shape: object = None) -> AnyLayout:
    """The block repeated until it has the target shape, first along the modes that come first in the order.

    Raises: AlgebraError for a block of higher rank than the target; in C++, for a static target that it does not divide.

    >>> str(tile_to_shape(Layout((2, 2)), (4, 6))), str(tile_to_shape(Layout((2, 2)), (4, 6), (2, 1)))
    ('((2,2),(2,3)):((1,4),(2,8))', '((2,2),(2,3)):((1,12),(2,4))')
    """
    n = tuple_rank(trg_shape)
    if block.rank > n:
        refuse("tile_to_shape", (block, trg_shape), "Rank of layout must be <= rank of target shape.")
    padded = append(block, n=n)
    assert isinstance(padded, Layout)
    have, want = product_each(padded.shape), product_each(trg_shape)
    if not in_dsl() and all(map(is_known, want)) and evenly_divides(want, have) is not True:
        refuse(
            "tile_to_shape",
            (block, trg_shape),
            "block shape does not divide the target shape.",
            hint="each extent of the block must divide the extent of the target",
        )
    return blocked_product(padded, make_ordered_layout(ceil_div(want, have), ord_shape))


def _with_swizzled_tiler(block: Layout, tiler: ComposedLayout) -> AnyLayout:
    """The swizzle of the tiler on the strides of the product. Source: cute/swizzle_layout.hpp."""
    swizzle, inner = tiler.outer, tiler.inner
    if not isinstance(swizzle, Swizzle) or not isinstance(inner, Layout):
        refuse("logical_product", (block, tiler), "only a swizzled layout can be a tiler on the right")
    if tiler.offset != 0:
        refuse("logical_product", (block, tiler), "Require Swizzle offset == 0.")
    new = logical_product(block, inner)
    seen = composition(swizzle_projection(swizzle), inner)
    active = seen(seen.size - 1)
    y, z = (new((0, inner(active & mask))) for mask in (swizzle.yyy, swizzle.zzz))
    if not is_known(y) or not is_known(z):
        refuse("logical_product", (block, tiler), "where the bits of the swizzle go is known only at run time")
    return compose_with_offset(make_swizzle(y, z), 0, new)


def make_fragment_like(layout: AnyLayout | IntTuple) -> Layout:
    """A compact layout for registers: mode 0 column-major first, the others in the order of the layout's strides.

    For a swizzled layout it is that of the layout behind the swizzle; for run-time extents, the compact one. Source:
    cute/layout.hpp, cute/swizzle_layout.hpp.

    >>> str(make_fragment_like(Layout((4, 8, 2), (0, 2, 1))))
    '(4,8,2):(0,2,1)'
    """
    match layout:
        case int() | tuple():
            return Layout(layout)
        case ComposedLayout(Swizzle(), _, inner):
            return make_fragment_like(inner)  # type: ignore[arg-type]
        case Layout(shape) if tuple_rank(shape) <= 1 or not all(map(is_known, leaves(shape))):
            return Layout(shape)
        case Layout(shape, stride) if all(isinstance(step, Basis) for step in leaves(stride)):
            return Layout(shape)  # such steps have no order: the modes stay in theirs
    plain = of_integers("make_fragment_like", layout)
    assert isinstance(plain.shape, tuple)
    assert isinstance(plain.stride, tuple)
    first = plain.shape[0]
    block = Layout(first, compact_major(without_zeros(first, plain.stride[0])))
    out = tiled_product(block, make_ordered_layout(plain.shape[1:], plain.stride[1:]))
    assert isinstance(out, Layout)
    return out
