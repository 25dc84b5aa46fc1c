"""A value of the DSL as other rooms know it, and whether it is one that answers have."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.origin import with_origin
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import NotationError
from cute_viz.limits import limit, over
from cute_viz.source.python.values import Atom, Mutable, SizedInt, Slice, run_times
from cute_viz.values.integer import Unknown
from cute_viz.values.pointer import COUNTS, Pointer
from cute_viz.values.types import ValueType


def plain(value: object, room: list[int] | None = None) -> Any:
    """A value as other rooms know it.

    room: how many entries it may still have. Raises: LimitError for too many: a list may hold another one again and again.

    >>> str(plain(Tensor(Pointer("smem", "f16", swizzle=Swizzle(1, 4, 3)), Layout(8))))
    'Sw<1,4,3> o smem_ptr[16b](unset) o 8:1'
    """
    match value:
        case Tensor():
            return _addressed(value)
        case Atom(inside):
            return inside
        case Slice(_, cause):
            raise cause.error
        case SizedInt():
            return int(value)
        case Mutable():
            if not isinstance(value.items, list):
                return value.items
            value = tuple(value.items)
    if isinstance(value, tuple):
        room = room or [4 * limit("modes")]
        room[0] -= len(value)
        if room[0] < 0:
            raise over("modes", "this value has too many entries", most=4 * limit("modes"))
        return tuple(plain(item, room) for item in value)
    return value


def shown(value: object) -> Any:
    """A value as `plain` gives it; of TMA with its tensor map, of tensor memory with its address.

    >>> shown(Tensor(Pointer("tmem", "f32"), Layout(8))).pointer.space
    'tmem'
    """
    if isinstance(value, Atom) and value.tma is not None:
        return value.tma
    if isinstance(value, Tensor) and value.pointer.space == "tmem" and (kind := value.pointer.known) is not None:
        known = isinstance(value.layout, Layout) and isinstance(value.offset, int) and next(run_times(value.layout), None) is None
        return Tensor(Pointer("tmem", kind.cpp, 0, offset=value.offset), value.layout) if known else plain(value)
    return plain(value)


def _addressed(tensor: Tensor) -> object:
    """The layout of a tensor, behind the swizzle of its pointer, which acts on the addresses of bytes, or behind its origin."""
    if isinstance(tensor.offset, tuple) or tensor.pointer.space == COUNTS:
        return with_origin(tensor.offset, tensor.layout, tensor=True)
    if tensor.pointer.swizzle is None or not isinstance(tensor.layout, Layout):
        return tensor.layout
    if tensor.pointer.known is not None:
        return tensor.whole
    if tensor.offset != 0:
        raise NotationError(
            f"{tensor.pointer.swizzle} acts on the address in bytes, and the element type of this tensor is not known",
            hint="give the element type: `let=`",
        )
    return ComposedLayout(tensor.pointer.swizzle, 0, tensor.layout)


def is_object(value: object) -> bool:
    """Whether a value is one of the algebra, for an answer: a number, a tuple of such, a layout, a tiling.

    >>> is_object((4, Layout(8))), is_object("text")
    (True, False)
    """
    if isinstance(value, tuple):
        return all(item is None or is_object(item) for item in value)
    return isinstance(value, (int, Unknown, Layout, ComposedLayout, Swizzle, ValueType, Basis)) or hasattr(value, "tiling")
