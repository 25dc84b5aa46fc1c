"""Layouts of tensors that know what their pointers point to: where a TMA or a descriptor asks for it, they are tensors."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.tensor import make_tensor
from cute_viz.source.cpp.tokens import words
from cute_viz.values.pointer import Pointer

# Operations that look at what a tensor's pointer points to; of others the layout counts.
OF_TENSORS = frozenset(
    words(
        "make_gmma_desc make_umma_desc make_tmem_copy make_utccp_copy make_fragment_A make_fragment_B partition_fragment_A "
        "partition_fragment_B"
    )
)
# Operations whose result is a view of their first operand.
VIEWS = frozenset(
    words(
        "outer_partition local_tile local_partition slice take select composition group group_modes flatten coalesce "
        "partition_A partition_B partition_C partition_S partition_D "
        "retile_S retile_D logical_divide zipped_divide tiled_divide flat_divide domain_offset"
    )
)
# Operations that make tensors of coordinates.
COUNTING = frozenset(("make_identity_tensor", "get_tma_tensor"))


class LocatedLayout(Layout):
    """The layout of a tensor whose pointer is known."""

    __slots__ = ("pointer",)
    pointer: Pointer


class LocatedComposed(ComposedLayout):
    """The swizzled layout of a tensor whose pointer is known."""

    __slots__ = ("pointer",)
    pointer: Pointer


def located(layout: Any, pointer: Pointer | None) -> Any:
    """A layout with a pointer; anything else, or without a pointer, as it is.

    >>> pointer_of(located(Layout(4), Pointer("gmem", "float"))).bits
    32
    """
    if pointer is None or not isinstance(layout, (Layout, ComposedLayout)):
        return layout
    kind = LocatedLayout if isinstance(layout, Layout) else LocatedComposed
    out: Any = object.__new__(kind)
    for name in ("shape", "stride") if isinstance(layout, Layout) else ("outer", "offset", "inner"):
        object.__setattr__(out, name, getattr(layout, name))
    object.__setattr__(out, "pointer", pointer)
    return out


def moved(pointer: Pointer | None, offset: Any, known: bool = True) -> Pointer | None:
    """A pointer that is so many elements further on; where to is not known where the offset is not.

    >>> moved(moved(Pointer("smem", "half_t", 1024), 16), 8).offset, moved(Pointer("smem", "half_t", 0), 16, known=False).address
    (24, None)
    """
    if pointer is None or pointer.address is None:
        return pointer
    if not known or not isinstance(offset, int):
        return Pointer(pointer.space, pointer.type)
    return pointer.moved(int(offset))


def begin(value: Any) -> Any:
    """How many elements behind its pointer a part of a tensor begins, as far as its layout says it."""
    return value.offset if isinstance(value, ComposedLayout) and isinstance(value.outer, Layout) else 0


def pointer_of(value: Any) -> Pointer | None:
    """The pointer of a tensor, where it is known."""
    return value.pointer if isinstance(value, (LocatedLayout, LocatedComposed)) else None


def plain(value: Any) -> Any:
    """A layout without its pointer; anything else as it is.

    >>> type(plain(located(Layout(4), Pointer("gmem", "float")))).__name__
    'Layout'
    """
    if isinstance(value, LocatedLayout):
        return Layout(value.shape, value.stride)
    if isinstance(value, LocatedComposed):
        return ComposedLayout(value.outer, value.offset, value.inner)
    return value


def as_tensor(value: Any, pointer: Pointer | None) -> Any:
    """A layout behind a pointer as a tensor; as it is without one.

    >>> as_tensor(Layout(4), Pointer("gmem", "float")).bits
    32
    """
    return value if pointer is None else make_tensor(pointer, value)
