"""What all threads of a block see of a tensor of the DSL, whose value is one thread's part: where the part of each begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from cute_viz.algebra.copy import TiledCopy
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.shares import copy_share, local_share, mma_share, share
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.tensor import Tensor as Memory
from cute_viz.errors import AlgebraError
from cute_viz.source.python.values import Tensor, Unknown, run_times
from cute_viz.values.integer import Unknown as RunTime
from cute_viz.values.types import ValueType


def share_of(tensor: Tensor) -> Memory:
    """A tensor as all threads see it; a place in it that only a run knows counts as the first, as all are alike. Raises:
    AlgebraError for a tensor of coordinates, and for one whose memory is not known.

    >>> from cute_viz.source.python.values import Pointer
    >>> share_of(Tensor(Layout((4, 8), (8, 1)), Pointer(ValueType("f16"), space="smem", root="sA"))).pointer.element
    'f16'
    """
    if tensor.parts is not None:
        return tensor.parts()
    pointer, kind = tensor.pointer, tensor.pointer.element
    made = share(pointer.root, pointer.space, kind.cpp if isinstance(kind, ValueType) else "", tensor.layout)
    if not pointer.space:
        raise AlgebraError(
            "the memory that this tensor is in is not known",
            hint="give it with its pointer: `let=NAME=make_tensor(make_smem_ptr<half_t>(0), (8,64):(64,1))`",
        )
    if pointer.swizzle is not None:  # acts on the byte address
        made = replace(made, pointer=replace(made.pointer, swizzle=pointer.swizzle), swizzle=None)
    return replace(_marked(made, made.layout), pointer=made.pointer.moved(tensor.offset or 0))


def _marked(x: Memory, layout: Layout) -> Memory:
    marked = mark_static(layout)
    return replace(x, layout=marked if x.pointer.space != "gmem" else Layout(marked.shape, layout.stride))


def carried(part: Tensor, source: Tensor, again: Callable[[Tensor], Any]) -> Tensor:
    """A tensor that an operation gives, with the parts of all threads; again: the operation, of the part of the first."""
    if source.parts is None and part.offset is not None and next(run_times(part.layout), None) is None:
        return part

    def parts() -> Memory:
        x = share_of(source)
        out = again(Tensor(x.layout))
        if not isinstance(out, Tensor) or not isinstance(out.layout, Layout) or out.offset is None:
            raise AlgebraError("cannot determine the parts that threads have of this tensor")
        return replace(_marked(x, out.layout), pointer=x.pointer.moved(out.offset))

    return replace(part, parts=cache(parts))


def first(place: Any) -> Any:
    """A coordinate whose run-time integers are 0.

    >>> first((RunTime(), (3, None)))
    (0, (3, None))
    """
    if isinstance(place, tuple):
        return tuple(map(first, place))
    return 0 if isinstance(place, (RunTime, Unknown)) else place


def partitioned(part: Tensor, source: Tensor, tiled: Any, side: str) -> Tensor:
    """A thread's part, whichever thread; tiled: a TiledCopy, a TiledMMA, or the layout of threads of local_partition. side: S, D,
    A, B or C. The parts of one fixed thread, and of a part, are refused where all are asked for.
    """

    def parts() -> Memory:
        x = share_of(source)
        if x.starts:
            raise AlgebraError("this is a thread's part already")
        if isinstance(tiled, TiledCopy) and side in ("S", "D"):
            out = copy_share(x, tiled, side)
        elif isinstance(tiled, TiledMMA) and side in ("A", "B", "C"):
            out = mma_share(x, tiled, side)
        elif isinstance(tiled, Layout):
            out = local_share(x, tiled)
        else:
            raise AlgebraError("the part of one fixed thread is taken here")
        return _marked(out, out.layout)

    return replace(part, parts=cache(parts))
