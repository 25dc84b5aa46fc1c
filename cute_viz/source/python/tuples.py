"""What the DSL says of tuples, strides and coordinates beside the operations of the algebra: `repeat`, `front`, `E`, `leading_dim`.

Source: cutlass/cute/core.py of the Python DSL 4.8.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import leaves, modes
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.ops import find
from cute_viz.algebra.static import clear_static
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError
from cute_viz.limits import limit, over
from cute_viz.source.python.machine import Machine
from cute_viz.source.python.subscripts import underscores
from cute_viz.source.python.values import Items
from cute_viz.values.integer import Unknown


def _extended(front: bool) -> Callable[..., Any]:
    """append and prepend: one more mode, or as many alike as a rank takes."""
    name = "prepend" if front else "append"

    def make(machine: Machine, input: Any, elem: Any, up_to_rank: Any) -> Any:
        value, element, most = input, elem, up_to_rank
        if isinstance(value, Tensor):
            raise AlgebraError(f"{name} of the DSL takes a layout or a tuple")
        if isinstance(value, (Layout, ComposedLayout)):
            element = Layout(1, 0) if element is None else element
            rank = () if most is None else (int(most),)
            return clear_static(find(name).call([value, element], rank))
        value = value if isinstance(value, tuple) else (value,)
        more = 1 if most is None else int(most) - len(value)
        if more < 0:
            raise AlgebraError(f"{name} takes a rank that is not below that of its operand, {len(value)}")
        if more > limit("modes"):
            raise over("modes", "too many entries in one tuple")
        added = (1 if element is None else element,) * more
        return (*added, *value) if front else (*value, *added)

    return make


def _repeated(as_tuple: bool) -> Callable[..., Any]:
    def make(machine: Machine, x: Any, n: Any) -> Any:
        if not isinstance(n, int) or n < 1:
            raise AlgebraError("a value is repeated once or more")
        if n > limit("modes"):
            raise over("modes", "too many entries in one tuple")
        return x if n == 1 and not as_tuple else (x,) * n

    return make


def _front(machine: Machine, input: Any) -> Any:
    while isinstance(input, Layout) and isinstance(input.shape, tuple):
        input = find("get").call([input], (0,))
    return next(iter(leaves(input))) if isinstance(input, tuple) else input


def _is_major(machine: Machine, mode: Any, stride: Any) -> Any:
    for at in mode.items if isinstance(mode, Items) else mode if isinstance(mode, tuple) else (mode,):
        stride = modes(stride)[at]
    first = next(iter(leaves(stride)))
    return not isinstance(first, Unknown) and first == 1


def leading_path(shape: Any, stride: Any) -> Any:
    """Where the first step of 1 is whose extent is not 1: a number, a path in nested modes, or None.

    >>> leading_path((4, 8), (8, 1)), leading_path((4, (2, 8)), (8, (4, 1))), leading_path((1, 8), (1, 2))
    (1, (1, 1), None)
    """
    for n, (extent, step) in enumerate(zip(modes(shape), modes(stride), strict=False)):
        if isinstance(step, tuple):
            inner = leading_path(extent, step)
            if inner is not None:
                return (n, *(inner if isinstance(inner, tuple) else (inner,)))
        elif not isinstance(step, (Unknown, Basis)) and step == 1 and (isinstance(extent, Unknown) or extent != 1):
            return n
    return None


def _unit(machine: Machine, mode: Any) -> Any:
    """`E(0)`, `E([1, 0])`: one step along a coordinate."""
    mode = underscores(mode)
    path = mode if isinstance(mode, tuple) else (mode,)
    if not all(isinstance(at, int) for at in path):
        raise AlgebraError("E takes the number of a mode, or a path of such")
    return Basis(1, tuple(map(int, path))) if path else 1


def _mask(machine: Machine, lay: Any, coord: Any, mode: Any) -> Any:
    """make_layout_image_mask: a bit for each value that a mode of a layout takes at a coordinate."""
    if int(find("cosize").call([lay])) > 16:
        raise AlgebraError("a mask has 16 bits, and this layout has larger values")
    at = list(modes(coord))
    bits = 0
    for n in range(int(find("size").call([lay], (mode,)))):
        at[mode] = n
        bits |= 1 << int(lay(*at))
    return bits


def _flat_coord(machine: Machine, layout: Any, index: Any) -> Any:
    """`layout.get_flat_coord(index)`; of an index that only a run knows, 0 along modes of one entry."""
    if not isinstance(index, Unknown):
        return clear_static(find("get_flat_coord").call([layout, index]))
    return tuple(
        0 if find("size").call([layout], (n,)) == 1 else Unknown(index.name, index.text, index.span, index.written)
        for n in range(len(modes(layout.shape)))
    )


TUPLES: dict[tuple[str, str], Callable[..., Any]] = {
    ("", "append"): _extended(front=False),
    ("", "prepend"): _extended(front=True),
    ("", "repeat"): _repeated(as_tuple=False),
    ("", "repeat_as_tuple"): _repeated(as_tuple=True),
    ("", "front"): _front,
    ("", "is_major"): _is_major,
    ("", "leading_dim"): lambda machine, shape, stride: leading_path(shape, stride),
    ("cute", "E"): _unit,
    ("", "make_layout_image_mask"): _mask,
    ("", "get_flat_coord"): _flat_coord,
    ("", "has_underscore"): lambda machine, a: any(leaf is None for leaf in leaves(a)),
    ("", "basis_value"): lambda machine, e: getattr(e, "value", e),
}
