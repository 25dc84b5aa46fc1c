"""Whole offset tables at once.

The values of a layout are separable: each mode adds its own term. So a table is built mode by mode, and the
inner loop is one addition an element, not one evaluation of the layout.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, PointerFlag, position_independent
from cute_viz.algebra.layout import Layout, flat_modes, size
from cute_viz.algebra.stride import F2, Basis, add, plain
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import AlgebraError


def offsets(layout: AnyLayout) -> list[Any]:
    """layout(i) for every i in 0..size-1: integers, or coordinates as tuples.

    >>> offsets(Layout((2, 3), (3, 1)))
    [0, 3, 1, 4, 2, 5]
    """
    layout = position_independent(layout)
    if isinstance(layout, Layout):
        if any(isinstance(stride, Basis) for _, stride in flat_modes(layout)):
            return _coordinates(layout)
        if any(isinstance(stride, F2) for _, stride in flat_modes(layout)):
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
            raise AlgebraError(f"{layout}: a swizzle takes integer offsets, not coordinates")
        yyy, shift = outer.yyy, outer.shift
        if shift >= 0:
            return [x ^ ((x & yyy) >> shift) for x in inner]
        return [x ^ ((x & yyy) << -shift) for x in inner]
    known = {x: outer(x) for x in set(inner)}
    return [known[x] for x in inner]


def offsets_numpy(layout: AnyLayout, numpy: ModuleType) -> Any:
    """The same table as an int64 array of the given numpy module; only for integer values.

    >>> import numpy
    >>> offsets_numpy(Layout((2, 3), (3, 1)), numpy).tolist()
    [0, 3, 1, 4, 2, 5]
    """
    layout = position_independent(layout)
    if isinstance(layout, ComposedLayout):
        if not isinstance(layout.outer, Swizzle) or not isinstance(layout.inner, (Layout, ComposedLayout)):
            return numpy.array(offsets(layout), dtype=numpy.int64)
        x = offsets_numpy(layout.inner, numpy) + int(layout.offset)
        yyy, shift = layout.outer.yyy, layout.outer.shift
        return x ^ ((x & yyy) >> shift if shift >= 0 else (x & yyy) << -shift)
    table = numpy.zeros(1, dtype=numpy.int64)
    for extent, stride in flat_modes(layout):
        if isinstance(stride, F2):
            return numpy.array(offsets(layout), dtype=numpy.int64)
        if isinstance(stride, Basis):
            raise AlgebraError(f"{layout} has coordinate strides; its table is not an array of integers")
        table = (numpy.arange(extent, dtype=numpy.int64)[:, None] * int(stride) + table[None, :]).reshape(-1)
    return table


def _shifted(layout: ComposedLayout) -> list[Any]:
    """offset + inner(i) for every i: what the outer function is given."""
    if isinstance(layout.inner, Swizzle) or isinstance(layout.offset, PointerFlag):
        raise AlgebraError(f"{layout} has no shape to tabulate")
    inner = offsets(layout.inner)
    if layout.offset == 0:
        return inner
    if isinstance(layout.offset, int):
        return [layout.offset + x for x in inner]
    return [add(layout.offset, x) for x in inner]


def _xored(layout: Layout) -> list[int]:
    """XOR strides: each mode XORs its own term in."""
    table = [0]
    for extent, stride in flat_modes(layout):
        if stride != 0 and not isinstance(stride, F2):
            raise AlgebraError(f"{layout} mixes integer and XOR strides", hint="use XOR strides, or 0, in every mode")
        steps = [plain(k * stride) for k in range(extent)]
        table = [step ^ value for step in steps for value in table]
    return table


def _coordinates(layout: Layout) -> list[Any]:
    """Component by component: the strides that point at one leaf of the coordinate form an integer layout."""
    parts = flat_modes(layout)
    paths = sorted({stride.path for _, stride in parts if isinstance(stride, Basis)})
    if any(not isinstance(stride, Basis) and stride != 0 for _, stride in parts):
        raise AlgebraError(f"{layout} mixes integer and coordinate strides", hint="use coordinate strides, or 0, in every mode")
    if any(len(path) != 1 for path in paths):
        return [layout(i) for i in range(size(layout))]
    columns = []
    for i in range(paths[-1][0] + 1):
        shape = tuple(extent for extent, _ in parts)
        stride = tuple(d.value if isinstance(d, Basis) and d.path == (i,) else 0 for _, d in parts)
        columns.append(offsets(Layout(shape, stride)))
    return list(zip(*columns, strict=True))
