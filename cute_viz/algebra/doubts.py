"""What is not as it seems: a composition, or a division, that is not the map that its definition says."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.compose import composition_is_pointwise
from cute_viz.algebra.composed import as_layout, is_layout
from cute_viz.algebra.divide import divide_is_pointwise
from cute_viz.algebra.inttuple import is_int_tuple, product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.modes import coalesce
from cute_viz.algebra.operands import entered
from cute_viz.algebra.static import unknowns

DIVIDES = ("logical_divide", "zipped_divide", "tiled_divide", "flat_divide")  # they compose


def _outside(crd: object, shape: Any) -> bool:
    """Whether an integer of a coordinate is not within its extent, as far as it is known."""
    if isinstance(crd, tuple):
        return isinstance(shape, tuple) and any(map(_outside, crd, shape))
    return isinstance(crd, int) and is_int_tuple(shape) and not 0 <= crd < product(shape)


def doubt(name: str, operands: list[object], result: Any) -> str | None:
    """What to say of the result of an operation that CuTe computes otherwise than it defines it; None of any other."""
    if name == "()":
        layout, crd = operands
        if not is_layout(layout) or not _outside(crd, layout.shape):
            return None
        at = show(crd) if isinstance(crd, tuple) else f"({show(crd)})"
        return f"{at} is outside of the shape {show(layout.shape)}; CuTe does not check that"
    if name == "==":
        a, b = operands
        same = isinstance(a, Layout) and isinstance(b, Layout) and a != b and a.size == b.size and coalesce(a) == coalesce(b)
        return f"{show(a)} and {show(b)} have the same offset at every index; == compares shapes and strides" if same else None
    if len(operands) != 2 or name not in ("composition", *DIVIDES) or next(unknowns(tuple(operands)), None) is not None:
        return None
    a, b = entered(name, operands)
    a = as_layout(a)
    if not is_layout(a):
        return None
    if name == "composition":
        holds, what = composition_is_pointwise(a, b, result), "A(B(i))"
    else:
        holds, what = divide_is_pointwise(a, b), "A cut by the tiler"
    call = f"{name}({show(a)}, {show(b)})"
    return None if holds is not False else f"{call} = {show(result)} as CuTe computes it, but it is not {what} everywhere"
