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
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.subscripts import underscores
from cute_viz.source.python.tensors import picked
from cute_viz.source.python.values import Items
from cute_viz.values.integer import Unknown as RunTime


def _extended(front: bool) -> Callable[..., Any]:
    """append and prepend: one more mode, or as many alike as a rank takes."""
    name = "prepend" if front else "append"

    def make(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
        value, element, most = map(need, picked(args, named, ("input", "elem", "up_to_rank")))
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
    def make(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
        value, count = map(need, picked(args, named, ("x", "n")))
        if not isinstance(count, int) or count < 1:
            raise AlgebraError("a value is repeated once or more")
        if count > limit("modes"):
            raise over("modes", "too many entries in one tuple")
        return value if count == 1 and not as_tuple else (value,) * count

    return make


def _front(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    value = need(picked(args, named, ("input",))[0])
    while isinstance(value, Layout) and isinstance(value.shape, tuple):
        value = find("get").call([value], (0,))
    return next(iter(leaves(value))) if isinstance(value, tuple) else value


def _is_major(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    mode, stride = map(need, picked(args, named, ("mode", "stride")))
    for at in mode.items if isinstance(mode, Items) else mode if isinstance(mode, tuple) else (mode,):
        stride = modes(stride)[at]
    first = next(iter(leaves(stride)))
    return not isinstance(first, RunTime) and first == 1


def _leading(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """The first place of a step of 1 whose extent is not 1; a path where it is nested, None where there is none."""
    shape, stride = map(need, picked(args, named, ("shape", "stride")))
    return leading_path(shape, stride)


def leading_path(shape: Any, stride: Any) -> Any:
    """Where the first step of 1 is: a number, a path in nested modes, or None.

    >>> leading_path((4, 8), (8, 1)), leading_path((4, (2, 8)), (8, (4, 1))), leading_path((1, 8), (1, 2))
    (1, (1, 1), None)
    """
    for n, (extent, step) in enumerate(zip(modes(shape), modes(stride), strict=False)):
        if isinstance(step, tuple):
            inner = leading_path(extent, step)
            if inner is not None:
                return (n, *(inner if isinstance(inner, tuple) else (inner,)))
        elif not isinstance(step, (RunTime, Basis)) and step == 1 and (isinstance(extent, RunTime) or extent != 1):
            return n
    return None


def _unit(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`E(0)`, `E([1, 0])`: one step along a coordinate."""
    mode = underscores(need(picked(args, named, ("mode",))[0]))
    path = mode if isinstance(mode, tuple) else (mode,)
    if not all(isinstance(at, int) for at in path):
        raise AlgebraError("E takes the number of a mode, or a path of such")
    return Basis(1, tuple(map(int, path))) if path else 1


def _mask(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """make_layout_image_mask: a bit for each value that a mode of a layout takes at a coordinate."""
    layout, coord, mode = map(need, picked(args, named, ("lay", "coord", "mode")))
    if int(find("cosize").call([layout])) > 16:
        raise AlgebraError("a mask has 16 bits, and this layout has larger values")
    at = list(modes(coord))
    bits = 0
    for n in range(int(find("size").call([layout], (mode,)))):
        at[mode] = n
        bits |= 1 << int(layout(*at))
    return bits


def _flat_coord(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`layout.get_flat_coord(index)`; of an index that only a run knows, 0 along modes of one entry."""
    layout, index = map(need, picked(args, named, ("layout", "index")))
    if not isinstance(index, RunTime):
        return clear_static(find("get_flat_coord").call([layout, index]))
    return tuple(
        0 if find("size").call([layout], (n,)) == 1 else RunTime(index.name, index.text, index.span, index.written)
        for n in range(len(modes(layout.shape)))
    )


TUPLES: dict[tuple[str, str], Callable[..., Any]] = {
    ("", "append"): _extended(front=False),
    ("", "prepend"): _extended(front=True),
    ("", "repeat"): _repeated(as_tuple=False),
    ("", "repeat_as_tuple"): _repeated(as_tuple=True),
    ("", "front"): _front,
    ("", "is_major"): _is_major,
    ("", "leading_dim"): _leading,
    ("cute", "E"): _unit,
    ("", "make_layout_image_mask"): _mask,
    ("", "get_flat_coord"): _flat_coord,
    ("", "has_underscore"): lambda machine, args, named: any(leaf is None for leaf in leaves(need(args[0]))),
    ("", "basis_value"): lambda machine, args, named: getattr(need(args[0]), "value", args[0]),
}
