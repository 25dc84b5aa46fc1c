"""The layout algebra: CuTe's values and operations under CuTe's names, imported when they are first used.

>>> from cute_viz import algebra
>>> str(algebra.composition(algebra.Layout((6, 2), (8, 2)), algebra.Layout((4, 3), (3, 1))))
'((2,2),3):((24,2),8)'
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
        return getattr(import_module(f"cute_viz.algebra.{_VALUES[name]}"), name)
    if not name.startswith("_"):
        from cute_viz.algebra.ops import OPS

        if name in OPS:
            return getattr(import_module(f"cute_viz.algebra.{OPS[name].module}"), OPS[name].function)
    raise AttributeError(f"cute_viz.algebra has no {name!r}")
