"""Subscripts: entries of tuples, modes of layouts, slices of tensors, and where the part of each thread of a block begins."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import ComposedLayout, has_origin
from cute_viz.algebra.copy import TiledCopy
from cute_viz.algebra.inttuple import X, leaves
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.measure import rank
from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.shares import parted_share, share
from cute_viz.algebra.slicing import settled, slice_and_offset
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.stride import add, plain
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.values import EnumMember, Lost, Mutable, PyClass, Symbol, either, run_times, tensor_of
from cute_viz.values.integer import Unknown
from cute_viz.values.types import Pointer, ValueType


def share_of(tensor: Tensor) -> Tensor:
    """A tensor as all threads see it; a place in it that only a run knows counts as the first, as all are alike. Raises:
    AlgebraError for a tensor of coordinates, and for one whose memory is not known."""
    if tensor.part is not None:
        made: Tensor = tensor.part()
        return made
    pointer, kind = tensor.pointer, tensor.pointer.known
    made = share(pointer.base, pointer.space, kind.cpp if kind is not None else "", tensor.layout)
    if not pointer.space:
        raise AlgebraError(
            "the memory that this tensor is in is not known",
            hint="give it with its pointer: `let=NAME=make_tensor(make_smem_ptr<half_t>(0), (8,64):(64,1))`",
        )
    made = replace(made, pointer=replace(made.pointer, align=pointer.align))
    if pointer.swizzle is not None:  # acts on the byte address
        made = replace(made, pointer=replace(made.pointer, swizzle=pointer.swizzle), swizzle=None)
    begin = 0 if isinstance(pointer.offset, Unknown) else pointer.offset
    return marked(replace(made, pointer=made.pointer.moved(begin)), made.layout)


def marked(x: Tensor, layout: Layout) -> Tensor:
    """A tensor of another layout, whose integers the compiler knows; of global memory its extents."""
    static = mark_static(layout)
    return replace(x, layout=static if x.pointer.space != "gmem" else Layout(static.shape, layout.stride))


def carried(part: Tensor, source: Tensor, again: Callable[[Tensor], Any]) -> Tensor:
    """A tensor that an operation gives, with the parts of all threads; again: the operation, of the part of the first."""
    if source.part is None and not isinstance(part.offset, Unknown) and next(run_times(part.layout), None) is None:
        return part

    def parts() -> Tensor:
        x = share_of(source)
        out = again(tensor_of(x.layout))
        if not isinstance(out, Tensor) or not isinstance(out.layout, Layout) or isinstance(out.offset, Unknown):
            raise AlgebraError("cannot determine the parts that threads have of this tensor")
        return replace(marked(x, out.layout), pointer=x.pointer.moved(out.offset))

    return replace(part, part=cache(parts))


def first(place: object) -> Any:
    """A coordinate whose run-time integers are 0."""
    if isinstance(place, tuple):
        return tuple(map(first, place))
    return 0 if isinstance(place, (Unknown, Lost)) else place


def partitioned(part: Tensor, source: Tensor, tiled: Any, side: str) -> Tensor:
    """A thread's part, whichever thread; tiled: a TiledCopy, a TiledMMA, or the layout of threads of local_partition. side: S,
    D, A, B or C. The parts of one fixed thread, and of a part, are refused where all are asked for."""

    def parts() -> Tensor:
        x = share_of(source)
        if x.starts:
            raise AlgebraError("this is a thread's part already")
        sides = {TiledCopy: ("S", "D"), TiledMMA: ("A", "B", "C")}.get(type(tiled), ())
        if side not in sides and not isinstance(tiled, Layout):
            raise AlgebraError("the part of one fixed thread is taken here")
        out = parted_share(x, tiled, side)
        return marked(out, out.layout)

    return replace(part, part=cache(parts))


def subscript(machine: Machine, target: object, index: object, node: ast.AST) -> object:
    """`target[index]`: an entry, a mode of a layout, a slice of a tensor where the index has `None` in it."""
    match target:
        case Mutable():
            return _entry(machine, target.items, index, node)
        case tuple() | str() | range():
            return _entry(machine, target, index, node)
        case Layout() | ComposedLayout():
            if not isinstance(index, int):
                raise machine.fail("a layout has modes by their number", node, hint="layout(coord) is a value or a slice")
            return mode_of(target, index)
        case Tensor():
            return sliced(machine, target, index, node)
        case PyClass() if target.is_enum() and isinstance(index, str):
            return EnumMember(target.name, index, target.names.get(index))
        case Symbol(path):  # Tuple[int, int]: a type
            return _member_type(target, index) or Symbol(f"{path}[]")
    raise machine.fail("this has no known entries", node)


def _member_type(target: Symbol, index: object) -> Pointer | None:
    """What a field of a struct in shared memory is, by its type: `cute.struct.Align[cute.struct.MemRange[dtype, n], 1024]`."""
    kind = index[0] if isinstance(index, tuple) and index else None
    if target.path.endswith("struct.MemRange") and isinstance(kind, ValueType):
        return Pointer("smem", kind)
    return kind if target.path.endswith("struct.Align") and isinstance(kind, Pointer) else None


def _entry(machine: Machine, target: Any, index: object, node: ast.AST) -> object:
    if isinstance(index, (Lost, Unknown)):
        error = index.error if isinstance(index, Lost) else index.error()
        if not isinstance(target, (tuple, list)) or not target:  # which may lack the key
            raise error
        return either(list(target), error)  # one of these, nobody knows which
    try:
        found = target[index]
    except (IndexError, KeyError, TypeError, ValueError):
        count = len(target)
        raise machine.fail(f"there is no entry {index!r} among {count}", node) from None
    return Mutable({"items": found}) if isinstance(found, list) else found


def mode_of(layout: Any, index: int) -> object:
    """A mode of a layout, by its number; negative ones count from the end."""
    return get(layout, index + rank(layout) if index < 0 else index)


def sliced(machine: Machine, tensor: Tensor, index: object, node: ast.AST) -> Any:
    """`tensor[(None, 0)]`: the tensor of the modes at `None`. Raises: NotationError for an element, whose value is not in the
    source."""
    crd = underscores(index)
    if not any(leaf is X for leaf in leaves(crd)):
        if isinstance(tensor.layout, Layout) and is_coordinate_layout(tensor.layout):
            need(crd)
            value = tensor.layout(*crd) if isinstance(crd, tuple) else tensor.layout(crd)
            return add(tensor.offset, value)
        raise machine.fail("an element of a tensor is a run-time value", node)
    machine.told[id(node)] = Operation("slice", (somewhere(crd), tensor.layout))
    out = moved(tensor, slice_and_offset(somewhere(crd), tensor.layout))
    return carried(out, tensor, lambda whole: moved(whole, slice_and_offset(first(crd), whole.layout)))


def somewhere(crd: object) -> Any:
    """A coordinate with a run-time integer for what is not known."""
    if isinstance(crd, Lost):
        return Unknown()
    return tuple(map(somewhere, crd)) if isinstance(crd, tuple) else crd


def moved(tensor: Tensor, result: Any) -> Tensor:
    """A part of a tensor: a layout, or one with an offset, which is the pointer's as far as no swizzle needs it."""
    offset: Any = 0
    if isinstance(result, tuple):
        result, offset = result
    elif has_origin(result) or (_has_place(result) and isinstance(tensor.layout, Layout)):
        result, offset = result.inner, result.offset
    if isinstance(tensor.offset, tuple):
        return tensor_of(result, tensor.pointer, add(tensor.offset, plain(offset)))
    result, passed = settled(result)
    offset = passed + offset
    known = isinstance(tensor.offset, int) and isinstance(offset, int)
    return tensor_of(result, tensor.pointer, tensor.offset + int(offset) if known else Unknown())


def _has_place(result: object) -> bool:
    """Whether a result of the algebra is a layout behind its offset, `64:1 o 8 o ...`."""
    return isinstance(result, ComposedLayout) and isinstance(result.outer, Layout)


def underscores(value: object) -> Any:
    """A coordinate or tiler with CuTe's `_` for Python's None."""
    if isinstance(value, tuple):
        return tuple(map(underscores, value))
    if isinstance(value, Mutable) and isinstance(value.items, list):
        return tuple(map(underscores, value.items))
    return X if value is None else value
