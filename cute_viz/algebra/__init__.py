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
from typing import Any

_VALUES = {  # what is no row of the registry: name -> module
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


def __getattr__(name: str) -> Any:
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


def _operations() -> dict[str, Any]:
    """The operations by name; `layout` and `stride` are modules here, `get` and `Layout.stride` do the same."""
    from cute_viz.algebra.ops import OPS

    return {name: op for name, op in OPS.items() if name not in ("layout", "stride")}
