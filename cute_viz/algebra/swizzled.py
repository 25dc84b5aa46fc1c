"""What CuTe does with swizzles as such: build them from masks, merge them, move them through a layout, take them off."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.common import refuse
from cute_viz.algebra.compose import compose_with_offset, composition
from cute_viz.algebra.composed import AnyLayout, ComposedLayout
from cute_viz.algebra.layout import Layout, size
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import AlgebraError


def make_swizzle(y: int, z: int) -> Swizzle:
    """The swizzle that XORs the bits of the mask Y into those of the mask Z (make_swizzle<Y,Z>()).

    Refused: masks of different bit counts, or with gaps. Source: cute/swizzle.hpp.

    >>> str(make_swizzle(0b1000, 0b0100)), str(make_swizzle(0b11000000, 0b00000110))
    ('Sw<1,2,1>', 'Sw<2,1,5>')
    """
    if not isinstance(y, int) or not isinstance(z, int) or y < 0 or z < 0:
        refuse("make_swizzle", (y, z), "the masks are integers, 0 or more")
    if y.bit_count() != z.bit_count():
        refuse("make_swizzle", (bin(y), bin(z)), "Number of bits in Y and Z don't match")
    if y == 0:
        return Swizzle(0, 0, 0)
    low_y, low_z = _lowest(y), _lowest(z)
    swizzle = Swizzle(y.bit_count(), min(low_y, low_z), low_y - low_z)
    if swizzle.yyy | swizzle.zzz != y | z:
        refuse("make_swizzle", (bin(y), bin(z)), "the bits of a mask must stand side by side")
    return swizzle


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def swizzle_of(*numbers: int) -> Swizzle:
    """Swizzle<B,M,S> of three numbers, or the swizzle of two bit masks.

    >>> str(swizzle_of(3, 4, 3)), str(swizzle_of(0b11000000, 0b110))
    ('Sw<3,4,3>', 'Sw<2,1,5>')
    """
    if len(numbers) not in (2, 3) or not all(isinstance(n, int) for n in numbers):
        raise AlgebraError("make_swizzle takes B, M and S, or the masks Y and Z")
    return Swizzle(*numbers) if len(numbers) == 3 else make_swizzle(*numbers)


def merge_swizzles(a: Swizzle, b: Swizzle) -> Swizzle:
    """composition(Swizzle, Swizzle): the swizzle that does both (cute/swizzle.hpp).

    Refused: different shifts, or bits that no single swizzle has.

    >>> str(merge_swizzles(Swizzle(1, 0, 3), Swizzle(1, 1, 3)))
    'Sw<2,0,3>'
    """
    if a.shift != b.shift:
        refuse("composition", (a, b), "Can only merge swizzles of the same shift.")
    return make_swizzle(a.yyy ^ b.yyy, a.zzz ^ b.zzz)


def layout_after_swizzle(a: Layout, b: Swizzle) -> AnyLayout:
    """composition(Layout, Swizzle): the swizzle moved to the left of the layout (cute/swizzle_layout.hpp).

    Refused: the layout does not send the bits of the swizzle to the bits of another one.

    >>> str(layout_after_swizzle(Layout((2, 4), (4, 1)), Swizzle(1, 2, 2)))
    'Sw<1,1,2> o 0 o (2,4):(4,1)'
    """
    try:
        y, z = a(b.yyy), a(b.zzz)
        if not isinstance(y, int) or not isinstance(z, int):
            refuse("composition", (a, b), "a swizzle takes integers, and these are coordinates")
        return composition(make_swizzle(y, z), a)  # type: ignore[no-any-return]
    except AlgebraError as error:
        if error.message.startswith("composition("):
            raise
        refuse("composition", (a, b), f"the layout does not carry the swizzle over: {error.message}")


def swizzle_as_layout(swizzle: Swizzle) -> AnyLayout:
    """make_layout(Swizzle): the swizzle over a domain of M+B+|S| elements, as CuTe has it (cute/swizzle_layout.hpp).

    >>> str(swizzle_as_layout(Swizzle(2, 0, 3)))
    'Sw<2,0,3> o 0 o 5:1'
    """
    return compose_with_offset(swizzle, 0, Layout(swizzle.base + swizzle.bits + abs(swizzle.shift), 1))


def get_swizzle_portion(layout: AnyLayout) -> Swizzle:
    """The swizzle in front of a layout; Sw<0,4,3>, which does nothing, where there is none (cute/swizzle_layout.hpp).

    >>> str(get_swizzle_portion(ComposedLayout(Swizzle(2, 0, 3), 0, Layout(8))))
    'Sw<2,0,3>'
    """
    if isinstance(layout, Layout):
        return Swizzle(0, 4, 3)
    if not isinstance(layout.outer, Swizzle):
        refuse("get_swizzle_portion", (layout,), "what stands in front is not a swizzle")
    return layout.outer


def get_nonswizzle_portion(layout: AnyLayout) -> Any:
    """The layout behind the swizzle; a layout without one as it is (cute/swizzle_layout.hpp).

    >>> str(get_nonswizzle_portion(ComposedLayout(Swizzle(2, 0, 3), 0, Layout(8))))
    '8:1'
    """
    if isinstance(layout, Layout):
        return layout
    if not isinstance(layout.outer, Swizzle):
        refuse("get_nonswizzle_portion", (layout,), "what stands in front is not a swizzle")
    return layout.inner


def swizzle_projection(swizzle: Swizzle) -> Layout:
    """The layout that keeps the bits a swizzle reads or changes, and makes the others 0: layout_only_zy of cute/swizzle_layout.hpp.

    >>> str(swizzle_projection(Swizzle(2, 1, 3)))
    '(2,4,2,4,1):(0,2,0,16,0)'
    """
    reach = abs(swizzle.shift)
    extents = (1 << swizzle.base, 1 << swizzle.bits, 1 << (reach - swizzle.bits), 1 << swizzle.bits, 1)
    return Layout(extents, (0, 1 << swizzle.base, 0, 1 << (swizzle.base + reach), 0))


def product_with_swizzled_tiler(block: Layout, tiler: ComposedLayout) -> AnyLayout:
    """logical_product(Layout, swizzled tiler): the swizzle of the tiler on the strides of the product.

    Refused: a tiler with an offset, or bits that the product does not keep. Source: cute/swizzle_layout.hpp.

    >>> str(product_with_swizzled_tiler(Layout((2, 2)), ComposedLayout(Swizzle(1, 0, 2), 0, Layout((4, 2)))))
    'Sw<1,2,2> o 0 o ((2,2),(4,2)):((1,2),(4,16))'
    """
    from cute_viz.algebra.products import logical_product

    swizzle, inner = tiler.outer, tiler.inner
    if not isinstance(swizzle, Swizzle) or not isinstance(inner, Layout):
        refuse("logical_product", (block, tiler), "only a swizzled layout can be a tiler on the right")
    if tiler.offset != 0:
        refuse("logical_product", (block, tiler), "Require Swizzle offset == 0.")
    new = logical_product(block, inner)
    seen = composition(swizzle_projection(swizzle), inner)
    active = seen(size(seen) - 1)
    y, z = (new((0, inner(active & mask))) for mask in (swizzle.yyy, swizzle.zzz))
    return composition(make_swizzle(y, z), new)  # type: ignore[no-any-return]
