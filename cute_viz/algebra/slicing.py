"""slice and dice: the modes where a coordinate has `_`, or where it has an index, and the offset of the rest.

A swizzled layout decays to a plain one when the modes that are left no longer meet its swizzle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from cute_viz.algebra import layout as plain_layout
from cute_viz.algebra.common import refuse
from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import (
    AnyLayout,
    ComposedLayout,
    compose_with_offset,
    flag_of,
    has_origin,
    is_layout,
    position_independent,
)
from cute_viz.algebra.inttuple import X, compact_major, has_index, leaves, modes, picked, product, slice_begin
from cute_viz.algebra.layout import Layout, has_xor, idx2crd, is_coordinate_layout, printed_value
from cute_viz.algebra.measure import swizzle_projection
from cute_viz.algebra.stride import add
from cute_viz.algebra.swizzle import OpenBits, Swizzle
from cute_viz.values.integer import Unknown


def slice_(crd: object, layout: object) -> Any:
    """The modes of a layout, or entries of a tuple, where the coordinate has `_`; slice_and_offset gives the offset of the others.

    Raises: AlgebraError for a coordinate that does not fit the shape; of a swizzled layout, a coordinate without `_`.
    Source: cute/layout.hpp, cute/swizzle_layout.hpp, cute/underscore.hpp, slice.

    >>> str(slice_((2, X), Layout((4, 8), (8, 1)))), slice_((2, X), (4, 8))
    ('(8):(1)', (8,))
    """
    if is_layout(layout):
        return slice_and_offset(crd, layout)[0]
    return tuple(picked(crd, layout, True, _misfit("slice"))) if isinstance(crd, tuple) else layout if crd is X else ()


def slice_and_offset(crd: object, layout: AnyLayout) -> tuple[AnyLayout, Any]:
    """The sub-layout where the coordinate has `_`, and the offset that the other indices give.

    A composed layout keeps the offset inside and gives 0, unless it is a swizzled one that decays.
    Raises: as slice. Source: cute/layout.hpp, cute/layout_composed.hpp, cute/swizzle_layout.hpp.

    >>> S = ComposedLayout(Swizzle(1, 0, 2), 0, Layout((4, 2)))
    >>> sub, offset = slice_and_offset((X, 1), S)
    >>> str(sub), offset
    ('((2,2)):((-1,2))', 5)
    """
    if isinstance(layout, ComposedLayout) and flag_of(layout) and has_index(crd):
        sub, offset = slice_and_offset(crd, layout.inner)  # type: ignore[arg-type]
        if offset == 0:  # the swizzle of the address stays what it is
            return ComposedLayout(layout.outer, layout.offset, sub), 0
        layout = position_independent(layout)  # the address is not known, element offsets are
    match layout:
        case Layout():
            if not is_coordinate_layout(layout):
                return plain_layout.slice_and_offset(crd, layout)
            return plain_layout.slice_(crd, layout), printed_value(slice_begin(crd), layout)
        case ComposedLayout(_, _, Swizzle()):
            refuse("slice", (crd, layout), "it has no modes", hint="compose it with a layout first")
        case ComposedLayout(Swizzle() as swizzle, _, Layout() as inner):
            return _swizzled(crd, layout, swizzle, inner)
    sub, offset = slice_and_offset(crd, layout.inner)  # type: ignore[arg-type]
    return ComposedLayout(layout.outer, add(layout.offset, offset), sub), 0


def dice(crd: object, layout: object) -> Any:
    """The modes, or entries of a tuple, where the coordinate has an index: what slice drops (cute/layout.hpp, underscore.hpp).

    Raises: AlgebraError for composed layouts; a coordinate that does not fit the shape.

    >>> str(dice((2, X), Layout((4, 8), (8, 1)))), dice((2, X), (4, 8))
    ('(4):(8)', (4,))
    """
    if isinstance(layout, ComposedLayout):
        refuse("dice", (crd, layout), "only a plain layout can be diced")
    if not isinstance(layout, Layout):
        return dice_tuple(crd, layout)
    return Layout(dice_tuple(crd, layout.shape), dice_tuple(crd, layout.stride))


def dice_tuple(crd: object, x: object) -> Any:
    """The entries of a tuple where the coordinate has an index (cute/underscore.hpp, dice)."""
    return tuple(picked(crd, x, False, _misfit("dice"))) if isinstance(crd, tuple) else () if crd is X else x


def _misfit(name: str) -> Callable[[object, object], NoReturn]:
    def misfit(crd: object, x: object) -> NoReturn:
        refuse(name, (crd, x), "Mismatched Ranks", hint="one entry, an index or _, for each mode")

    return misfit


def domain_offset(coord: Any, layout: AnyLayout) -> object:
    """The layout with its origin moved to a coordinate, and the offset that its pointer must take.

    A composed layout takes the offset in and gives 0; a tensor of coordinates is moved, and alone.
    Source: cute/layout.hpp, cute/layout_composed.hpp.

    >>> layout, offset = domain_offset((1, 2), Layout((4, 8), (8, 1)))
    >>> str(layout), offset
    ('(4,8):(8,1)', 10)
    """
    layout = position_independent(layout)
    if isinstance(layout, Layout):
        return layout, printed_value(coord, layout)
    moved = ComposedLayout(layout.outer, add(layout.offset, layout.inner(coord)), layout.inner)
    return moved if has_origin(moved) else (moved, 0)


def _swizzled(crd: object, layout: ComposedLayout, swizzle: Swizzle, inner: Layout) -> tuple[AnyLayout, object]:
    """The slice of a swizzled layout, plain where no two bits that are left are swizzled together."""
    sliced = plain_layout.slice_(crd, inner)
    if not has_index(crd):
        return compose_with_offset(swizzle, layout.offset, sliced), 0
    if has_xor(inner):
        refuse("slice", (crd, layout), "XOR strides behind a swizzle can only be sliced as a whole")
    if not any(True for _ in leaves(sliced.shape)):
        refuse("slice", (crd, layout), "no mode is left: the coordinate has no _", hint="A(i,j) is the value at a coordinate")
    diced, index = dice(crd, inner), dice_tuple(crd, crd)
    # offset bits that the swizzle reads or changes go in front of it, all others pass by
    consumed, open_bits = _bits(composition(swizzle_projection(swizzle), diced), index, crd, layout)
    passed = composition(_other_bits(swizzle), diced)(index)
    begun, open_before = _known_bits(layout.offset, swizzle)
    return _around(swizzle, begun ^ consumed, open_bits | open_before, sliced, passed)


def _around(swizzle: Swizzle, offset: int, open_bits: int, layout: Layout, passed: object) -> tuple[AnyLayout, object]:
    seen = composition(swizzle_projection(swizzle), layout)
    active = seen(seen.size - 1)
    if active & ~swizzle(active):
        return compose_with_offset(swizzle, _run_time(offset, open_bits), layout), passed
    return composition(_decayed(swizzle, offset, open_bits), layout), _run_time(swizzle(offset), open_bits) + passed


def settled(layout: AnyLayout) -> tuple[AnyLayout, object]:
    """A part of a swizzled tensor as CuTe leaves it: the offset that the swizzle does not touch is the pointer's. The layout is
    plain where no two bits of it are swizzled together. Source: cute/swizzle_layout.hpp, slice_and_offset."""
    match layout:
        case ComposedLayout(Swizzle() as swizzle, Unknown() as offset, Layout() as inner):
            return _around(swizzle, 0, (swizzle.yyy | swizzle.zzz) & -offset.div, inner, offset)
        case ComposedLayout(Swizzle() as swizzle, int(offset), Layout() as inner) if offset >= 0:
            mask = swizzle.yyy | swizzle.zzz
            return _around(swizzle, offset & mask, 0, inner, offset & ~mask)
    return layout, 0


def _known_bits(offset: Any, swizzle: Swizzle) -> tuple[int, int]:
    if not isinstance(offset, Unknown):
        return offset, 0
    if isinstance(offset, OpenBits):
        return offset.known, offset.open
    return 0, (swizzle.yyy | swizzle.zzz) & -offset.div


def _run_time(value: int, open_bits: int) -> Any:
    """A number some of whose bits a run alone knows: a run-time integer, and what divides it."""
    return OpenBits(value & ~open_bits, open_bits) if open_bits else value


def _other_bits(swizzle: Swizzle) -> Layout:
    extents = swizzle_projection(swizzle).shape
    first, _, between, _, _ = modes(compact_major(extents))
    return Layout(extents, (first, 0, between, 0, product(extents)))


def _bits(projected: Layout, index: object, crd: object, layout: ComposedLayout) -> tuple[int, int]:
    """The value at an index of a layout whose modes each own a run of bits, where XOR does for their sum; and what is not known.
    The second number has the bits of those modes whose index is a run-time integer; they are 0 in the first."""
    total = open_bits = 0
    coordinate = idx2crd(index, projected.shape)
    for extent, stride, at in zip(leaves(projected.shape), leaves(projected.stride), leaves(coordinate), strict=True):
        reach = extent * stride
        if reach != 0 and (reach < 0 or reach & (reach - 1)):
            refuse("slice", (crd, layout), f"Requires pow2 shape*stride: the swizzle splits {extent}:{stride}")
        if isinstance(at, Unknown):
            open_bits |= (extent - 1) * stride
        else:
            total ^= (at * stride) & ((extent - 1) * stride)
    return total, open_bits


def _decayed(swizzle: Swizzle, offset: int, open_bits: int) -> Layout:
    """The plain layout that the swizzle is around an offset: each bit adds or subtracts, by the bit it is XORed with. Where that
    is one of open_bits, which a run alone knows, so is the stride."""
    z, y = swizzle.zzz & -swizzle.zzz, swizzle.yyy & -swizzle.yyy

    def step(bit: int, plus: int, minus: int, i: int) -> int:
        return _run_time(0, z << i) if open_bits & bit else (minus if offset & bit else plus) << i

    def changed(i: int) -> int:
        return step(y << i, z, -z, i)

    def read(i: int) -> int:
        return step(z << i, y + z, y - z, i)

    lower, upper = (changed, read) if z < y else (read, changed)
    reach, base, bits = abs(swizzle.shift), swizzle.base, swizzle.bits
    ones = (2,) * bits
    return Layout(
        (1 << base, ones, 1 << (reach - bits), ones, 1),
        (1, tuple(map(lower, range(bits))), 1 << (base + bits), tuple(map(upper, range(bits))), 1 << (base + bits + reach)),
    )
