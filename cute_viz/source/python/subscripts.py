"""Subscripts: entries of tuples, modes of layouts, slices of tensors, as the DSL has them."""

from __future__ import annotations

import ast
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, with_origin
from cute_viz.algebra.inttuple import X, leaves
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.slicing import slice_and_offset
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.values import Class, Items, Member, Symbol, Tensor, Unknown


def subscript(machine: Machine, target: Any, index: Any, node: ast.AST) -> Any:
    """`target[index]`: an entry, a mode of a layout, a slice of a tensor where the index has `None` in it."""
    if isinstance(target, Items):
        return _entry(machine, target.items, index, node)
    if isinstance(target, (tuple, str, range)):
        return _entry(machine, target, index, node)
    if isinstance(target, (Layout, ComposedLayout)):
        if not isinstance(index, int):
            raise machine.fail("a layout has modes by their number", node, hint="layout(coord) is a value or a slice")
        return mode_of(target, index)
    if isinstance(target, Tensor):
        return sliced(machine, target, index, node)
    if isinstance(target, Class) and target.is_enum() and isinstance(index, str):
        return Member(target.name, index, target.names.get(index))
    if isinstance(target, Symbol):  # cute.struct.MemRange[dtype, n], Tuple[int, int]: a type
        return Symbol(f"{target.path}[]")
    raise machine.fail("this has no known entries", node)


def _entry(machine: Machine, target: Any, index: Any, node: ast.AST) -> Any:
    try:
        found = target[index]
    except (IndexError, KeyError, TypeError, ValueError):
        count = len(target)
        raise machine.fail(f"there is no entry {index!r} among {count}", node) from None
    return Items({"items": found}) if isinstance(found, list) else found


def mode_of(layout: Any, index: int) -> Any:
    """A mode of a layout, by its number; negative ones count from the end."""
    from cute_viz.algebra.measure import rank
    from cute_viz.algebra.modes import get

    return get(layout, index + rank(layout) if index < 0 else index)


def sliced(machine: Machine, tensor: Tensor, index: Any, node: ast.AST) -> Any:
    """`tensor[(None, 0)]`: the tensor of the modes at `None`.

    Raises: NotationError for an element, whose value is not in the source.
    """
    crd = underscores(index)
    if not any(leaf is X for leaf in leaves(crd)):
        if isinstance(tensor.layout, Layout) and is_coordinate_layout(tensor.layout):
            need(crd)
            return tensor.layout(*crd) if isinstance(crd, tuple) else tensor.layout(crd)
        raise machine.fail("an element of a tensor is a run-time value", node)
    free, cause = somewhere(crd)
    if cause is not None:
        check_place(tensor, cause)
    return moved(tensor, slice_and_offset(free, tensor.layout), cause is None)


def somewhere(crd: Any) -> tuple[Any, Unknown | None]:
    """A coordinate with 0 for what is not known, and the first such.

    >>> somewhere((X, 3))
    ((_, 3), None)
    """
    if isinstance(crd, Unknown):
        return 0, crd
    if not isinstance(crd, tuple):
        return crd, None
    pairs = [somewhere(item) for item in crd]
    return tuple(item for item, _ in pairs), next((cause for _, cause in pairs if cause is not None), None)


def check_place(tensor: Any, cause: Unknown) -> None:
    """Refuse a place that is not known where more than the beginning of the result hangs on it."""
    layout = tensor.layout if isinstance(tensor, Tensor) else tensor
    if not isinstance(tensor, Tensor) or not isinstance(layout, Layout) or is_coordinate_layout(layout):
        raise cause.error


def moved(tensor: Tensor, result: Any, known: bool = True) -> Tensor:
    """A part of a tensor: a layout, or one with an offset, which is the pointer's."""
    offset: Any = 0
    if isinstance(result, tuple):
        result, offset = result
    elif _has_place(result) and isinstance(tensor.layout, Layout) and not is_coordinate_layout(tensor.layout):
        result, offset = result.inner, result.offset
    if isinstance(result, Layout) and is_coordinate_layout(result) and offset:
        return Tensor(with_origin(offset, result), tensor.pointer)
    known = known and tensor.offset is not None and isinstance(offset, int)
    return Tensor(result, tensor.pointer, (tensor.offset or 0) + int(offset) if known else None)


def _has_place(result: Any) -> bool:
    """Whether a result of the algebra is a layout behind its offset, `64:1 o 8 o ...`."""
    return isinstance(result, ComposedLayout) and isinstance(result.outer, Layout)


def underscores(value: Any) -> Any:
    """A coordinate or tiler with CuTe's `_` for Python's None.

    >>> underscores((None, (0, None)))
    (_, (0, _))
    """
    if isinstance(value, tuple):
        return tuple(map(underscores, value))
    if isinstance(value, Items) and isinstance(value.items, list):
        return tuple(map(underscores, value.items))
    return X if value is None else value
