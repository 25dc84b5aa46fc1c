"""What all threads of a block see of a tensor of the DSL, whose value is one thread's part: where the part of each begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from cute_viz.algebra.copy import TiledCopy
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.shares import parted_share, share
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError
from cute_viz.source.python.values import Lost, run_times, tensor_of
from cute_viz.values.integer import Unknown


def share_of(tensor: Tensor) -> Tensor:
    """A tensor as all threads see it; a place in it that only a run knows counts as the first, as all are alike. Raises:
    AlgebraError for a tensor of coordinates, and for one whose memory is not known.

    >>> share_of(Tensor(Pointer("smem", "f16", base="sA"), Layout((4, 8), (8, 1)))).pointer.element
    'f16'
    """
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
    if pointer.swizzle is not None:  # acts on the byte address
        made = replace(made, pointer=replace(made.pointer, swizzle=pointer.swizzle), swizzle=None)
    begin = 0 if isinstance(pointer.offset, Unknown) else pointer.offset
    return marked(replace(made, pointer=made.pointer.moved(begin)), made.layout)


def marked(x: Tensor, layout: Layout) -> Tensor:
    """A tensor of another layout, whose integers the compiler knows; of global memory its extents.

    >>> str(marked(Tensor(Pointer("gmem"), Layout(1)), Layout(8, 2)))
    '_8:2'
    """
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


def first(place: Any) -> Any:
    """A coordinate whose run-time integers are 0.

    >>> first((Unknown(), (3, None)))
    (0, (3, None))
    """
    if isinstance(place, tuple):
        return tuple(map(first, place))
    return 0 if isinstance(place, (Unknown, Lost)) else place


def partitioned(part: Tensor, source: Tensor, tiled: Any, side: str) -> Tensor:
    """A thread's part, whichever thread; tiled: a TiledCopy, a TiledMMA, or the layout of threads of local_partition. side: S, D,
    A, B or C. The parts of one fixed thread, and of a part, are refused where all are asked for.
    """

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
