"""Whole offset tables at once, and the one limit of their length; and a layout as a matrix over F2, where it is one.

The values of a layout are separable: each mode adds its own term. So a table is built mode by mode, and the
inner loop is one addition an element, not one evaluation of the layout. Whoever looks at every element of a layout
does it here.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain, flag_of, position_independent
from cute_viz.algebra.inttuple import modes, product, show
from cute_viz.algebra.layout import Layout, flat_modes, has_xor, is_coordinate_layout
from cute_viz.algebra.measure import coprofile
from cute_viz.algebra.stride import F2, Basis, add, is_along, mixed, plain
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import AlgebraError
from cute_viz.limits import limit, over
from cute_viz.values.integer import Unknown


def offsets(layout: AnyLayout) -> list[Any]:
    """layout(i) for every i in 0..size-1: integers, or coordinates as tuples. Raises: LimitError for more elements than the
    limit `elements`; AlgebraError for a layout without a shape."""
    layout = position_independent(layout)
    _check_length(layout, limit("elements"))
    if isinstance(layout, Layout):
        if is_coordinate_layout(layout):
            return _coordinates(layout)
        if has_xor(layout):
            return _xored(layout)
        table = [0]
        for extent, stride in flat_modes(layout):
            steps = range(0, extent * stride, stride) if stride and isinstance(stride, int) else [k * stride for k in range(extent)]
            table = [step + value for step in steps for value in table] if len(table) > 1 else list(steps)
        return table
    inner = _shifted(layout)
    outer = layout.outer
    if isinstance(outer, Swizzle):
        if inner and not isinstance(inner[0], int):
            if isinstance(inner[0], Unknown):
                raise inner[0].error()
            raise AlgebraError(f"{layout}: a swizzle takes integer offsets, not coordinates")
        yyy, shift = outer.yyy, outer.shift
        if shift >= 0:
            return [x ^ ((x & yyy) >> shift) for x in inner]
        return [x ^ ((x & yyy) << -shift) for x in inner]
    if isinstance(outer, Layout) and isinstance(outer.shape, int) and isinstance(outer.stride, int) and isinstance(inner[0], int):
        return [x * outer.stride for x in inner]
    known = {x: outer(x) for x in set(inner)}
    return [known[x] for x in inner]


def fits(layout: AnyLayout, most: int) -> bool:
    """Whether every element can be visited: there are at most so many, and at most the limit `elements`."""
    return product(domain(layout).shape) <= min(most, limit("elements"))


def _check_length(layout: AnyLayout, most: int) -> None:
    found = product(domain(layout).shape)
    if found > most:
        words = f"{layout} has {found} elements, which cannot be looked at one by one"
        raise over("elements", words, most=most, instead="give one tile of it")


WIDEST = 1 << 62  # offsets from -WIDEST to WIDEST - 1, and the distance of any two, are integers of 64 bits


def offsets_numpy(layout: AnyLayout, numpy: ModuleType) -> Any:
    """The same table as an int64 array of the given numpy module. Raises: AlgebraError for values that are not integers and for
    offsets that reach past 62 bits, whose sums and differences would wrap; LimitError for more elements than the limits
    `elements` and `image-cells`."""
    layout = position_independent(layout)
    _check_length(layout, max(limit("elements"), limit("image-cells")))
    known = reach(layout)
    table = offsets(layout) if known is None else []
    if table and not isinstance(table[0], int):
        raise AlgebraError(f"the values of {layout} are coordinates; its table is not an array of integers")
    low, high = known or (min(table), max(table))
    if low < -WIDEST or high >= WIDEST:
        raise AlgebraError(f"the offsets of {layout} exceed 62 bits, too large for an array of 64-bit integers")
    return numpy.array(table, dtype=numpy.int64) if known is None else _array(layout, numpy)


def reach(layout: AnyLayout) -> tuple[int, int] | None:
    """Bounds of the offsets of a layout of integers, swizzled or not, and of what is between; None where only the table shows
    them."""
    match layout:
        case ComposedLayout(Swizzle() as swizzle, int(offset), (Layout() | ComposedLayout()) as inside) if inner := reach(inside):
            return _swizzled(swizzle, inner[0] + offset, inner[1] + offset, inner)
        case ComposedLayout():
            return None
    low = high = 0
    for extent, stride in flat_modes(layout):
        if not isinstance(stride, int):
            return None
        last = (extent - 1) * stride
        low, high = low + min(0, last), high + max(0, last)
    return low, high


def _swizzled(swizzle: Swizzle, low: int, high: int, before: tuple[int, int]) -> tuple[int, int]:
    """Bounds of what a swizzle makes of low..high, which itself lies within them, as does what was before the offset."""
    low, high = min(low, before[0]), max(high, before[1])
    if (low >= 0 and high < swizzle.yyy & -swizzle.yyy) or not swizzle.bits:
        return low, high
    bits = max(low.bit_length(), high.bit_length())
    if low < 0 or swizzle.shift < 0:  # else the bits that are changed are below those that are read
        bits = max(bits, swizzle.zzz.bit_length())
    return -(1 << bits) if low < 0 else 0, (1 << bits) - 1


def _array(layout: AnyLayout, numpy: ModuleType) -> Any:
    """The table of a layout whose reach is known and short."""
    if isinstance(layout, ComposedLayout):
        outer: Any = layout.outer
        return swizzled(outer, _array(layout.inner, numpy) + int(layout.offset))  # type: ignore[arg-type]
    table = numpy.zeros(1, dtype=numpy.int64)
    for extent, stride in flat_modes(layout):
        if extent > 1:  # the stride of one element may be any
            table = (numpy.arange(extent, dtype=numpy.int64)[:, None] * int(stride) + table[None, :]).reshape(-1)
    return table


def swizzled(swizzle: Swizzle, x: Any) -> Any:
    """A swizzle of every integer of an array."""
    moved = x & swizzle.yyy
    return x ^ (moved >> swizzle.shift if swizzle.shift >= 0 else moved << -swizzle.shift)


def _shifted(layout: ComposedLayout) -> list[Any]:
    """offset + inner(i) for every i: what the outer function is given."""
    if isinstance(layout.inner, Swizzle) or flag_of(layout):
        raise AlgebraError(f"{layout} has no shape to tabulate")
    inner = offsets(layout.inner)
    if layout.offset == 0:
        return inner
    if isinstance(layout.offset, int):
        if any(isinstance(x, tuple) for x in inner):
            raise AlgebraError(f"{layout}: the offset is an integer and the values are coordinates")
        return [layout.offset + x for x in inner]
    return [add(layout.offset, x) for x in inner]


def _xored(layout: Layout) -> list[int]:
    """XOR strides: each mode XORs its own term in."""
    table = [0]
    for extent, stride in flat_modes(layout):
        if stride != 0 and not isinstance(stride, F2):
            raise mixed(layout)
        steps = [plain(k * stride) for k in range(extent)]
        table = [step ^ value for step in steps for value in table]
    return table


def _coordinates(layout: Layout) -> list[Any]:
    """Component by component: the strides that point at one leaf of the coordinate form an integer layout."""
    parts = flat_modes(layout)
    paths = sorted({stride.path for _, stride in parts if isinstance(stride, Basis)})
    if any(not isinstance(stride, Basis) and stride != 0 for _, stride in parts):
        raise AlgebraError(f"{layout} mixes integer and coordinate strides", hint="use coordinate strides, or 0, in every mode")
    if any(long[: len(short)] == short for short in paths for long in paths if long != short):
        return [layout(i) for i in range(layout.size)]  # a mode and a mode of it: only extents of 1 can have both
    columns = {}
    shape = tuple(extent for extent, _ in parts)
    for path in paths:
        stride = tuple(d.value if is_along(d, path) else 0 for _, d in parts)
        columns[path] = offsets(Layout(shape, stride))
    return _coordinate_table(coprofile(layout), (), columns, layout.size)


def _coordinate_table(
    profile: object, path: tuple[int, ...], columns: dict[tuple[int, ...], list[object]], length: int
) -> list[object]:
    if not isinstance(profile, tuple):
        return columns.get(path) or [0] * length
    return list(zip(*(_coordinate_table(item, (*path, i), columns, length) for i, item in enumerate(profile)), strict=True))


def bit_counts(layout: AnyLayout) -> list[int]:
    """How many bits the coordinate of each mode has. Raises: AlgebraError for an extent that is not a power of 2."""
    extents = [product(mode) for mode in modes(domain(layout).shape)]
    if odd := next((extent for extent in extents if extent & (extent - 1)), None):
        raise AlgebraError(f"{show(layout)} has an extent of {odd}; bits need extents that are powers of 2")
    return [extent.bit_length() - 1 for extent in extents]


def bit_columns(table: list[int]) -> tuple[list[int], int | None]:
    """The columns of the matrix of a table of offsets, and the first coordinate whose offset is not the XOR of its bits', or
    None."""
    columns = [table[1 << n] for n in range(len(table).bit_length() - 1)]
    return columns, next((i for i in range(len(table)) if table[i] != table[i & (i - 1)] ^ table[i & -i]), None)
