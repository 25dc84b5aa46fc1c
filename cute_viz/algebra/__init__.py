"""The layout algebra: CuTe's values and operations under CuTe's names, imported when they are first used.

The operations are checked as in expressions: a shape is taken where a layout is expected, and operands that do not fit are refused
in words.

>>> from cute_viz import algebra
>>> str(algebra.composition(algebra.Layout((6, 2), (8, 2)), algebra.Layout((4, 3), (3, 1))))
'((2,2),3):((24,2),8)'
>>> str(algebra.logical_divide((8, 6), (4, 3)))
'((4,2),(3,2)):((1,4),(8,24))'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

_VALUES = {  # what is not a row of the registry: name -> module
    "Layout": "layout",
    "ComposedLayout": "composed",
    "PointerFlag": "composed",
    "Swizzle": "swizzle",
    "Basis": "stride",
    "E": "stride",
    "F2": "stride",
    "as_layout": "composed",
    "Static": "inttuple",
    "X": "inttuple",
    "offsets": "table",
    "offsets_numpy": "table",
    "composition_is_pointwise": "compose",
    "LayoutLeft": "construct",
    "LayoutRight": "construct",
}

if TYPE_CHECKING:  # what a checker knows of the operations that give layouts and numbers; of all others that they are called
    from collections.abc import Callable
    from types import ModuleType
    from typing import TypeAlias

    from numpy import dtype, int64, ndarray

    from cute_viz.algebra.compose import composition_is_pointwise as composition_is_pointwise
    from cute_viz.algebra.composed import AnyLayout
    from cute_viz.algebra.composed import ComposedLayout as ComposedLayout
    from cute_viz.algebra.composed import PointerFlag as PointerFlag
    from cute_viz.algebra.construct import LayoutLeft as LayoutLeft
    from cute_viz.algebra.construct import LayoutRight as LayoutRight
    from cute_viz.algebra.inttuple import IntTuple
    from cute_viz.algebra.inttuple import X as X
    from cute_viz.algebra.layout import Layout as Layout
    from cute_viz.algebra.stride import F2 as F2
    from cute_viz.algebra.stride import Basis as Basis
    from cute_viz.algebra.stride import E as E
    from cute_viz.algebra.swizzle import Swizzle as Swizzle
    from cute_viz.values.integer import Static as Static

    _Layouts: TypeAlias = Callable[..., AnyLayout]
    _Numbers: TypeAlias = Callable[..., int]
    _Shapes: TypeAlias = Callable[..., IntTuple]
    _Offsets: TypeAlias = Callable[[AnyLayout], list[IntTuple]]
    _Array: TypeAlias = Callable[[AnyLayout, ModuleType], ndarray[tuple[int, ...], dtype[int64]]]
    _Objects: TypeAlias = Callable[..., object]

    as_layout: _Layouts
    offsets: _Offsets
    offsets_numpy: _Array
    coalesce: _Layouts
    complement: _Layouts
    composition: _Layouts
    blocked_product: _Layouts
    flat_divide: _Layouts
    flat_product: _Layouts
    left_inverse: _Layouts
    logical_divide: _Layouts
    logical_product: _Layouts
    make_composed_layout: _Layouts
    make_identity_layout: _Layouts
    make_layout: _Layouts
    make_layout_like: _Layouts
    make_ordered_layout: _Layouts
    raked_product: _Layouts
    recast_layout: _Layouts
    right_inverse: _Layouts
    select: _Layouts
    tile_to_shape: _Layouts
    tiled_divide: _Layouts
    tiled_product: _Layouts
    zipped_divide: _Layouts
    zipped_product: _Layouts
    cosize: _Numbers
    depth: _Numbers
    rank: _Numbers
    size: _Numbers
    shape: _Shapes

    def __getattr__(name: str) -> _Objects: ...

else:

    def __getattr__(name: str) -> object:
        """A name of `_VALUES`, or an operation of the registry by its name."""
        if name in _VALUES:
            value = getattr(import_module(f"cute_viz.algebra.{_VALUES[name]}"), name)
        elif name == "__all__":
            return __dir__()
        elif name.startswith("_") or name not in (operations := _operations()):
            raise AttributeError(f"cute_viz.algebra has no {name!r}")
        else:
            value = operations[name].public()
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """The public names: values and operations."""
    return sorted({*_VALUES, *_operations()})


def _operations() -> dict[str, object]:
    """The operations by name; `layout` and `stride` are modules here, `get` and `Layout.stride` do the same."""
    from cute_viz.algebra.ops import OPS

    return {name: op for name, op in OPS.items() if name not in ("layout", "stride")}
