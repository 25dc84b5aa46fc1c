"""What a value of C++ is to other rooms: an object that they can show, and how it is shown."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.composed import ComposedLayout, has_origin
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.static import unknowns
from cute_viz.algebra.tensor import Tensor, part_of
from cute_viz.errors import CuteVizError, NotationError, Span
from cute_viz.source.cpp.calls import RUN_TIME
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.slices import Thread, split
from cute_viz.source.cpp.unknown import unknown
from cute_viz.source.cpp.values import Class, Enumerator, Env, External, Function, Pack, Template, finished
from cute_viz.values.integer import Unknown
from cute_viz.values.pointer import Pointer


def printed(value: Any) -> Any:
    """A tensor as it is shown: its layout, but where the units are lanes and columns."""
    return value.printed if isinstance(value, Tensor) and value.pointer.space != "tmem" else split(value)


def object_of(context: Context, name: str, span: Span, value: Any) -> Any:
    """The value of a name, at a place, that other rooms can show. Raises: the error of one that they cannot."""
    if isinstance(value, Thread) and value.sliced is not None and _runs(value.error):
        seen = part_of(*value.sliced, known=False)  # the strides that a run-time index decides are not known
        if seen is not None:
            return seen
    if isinstance(value, Thread):
        tiled = getattr(value.view, "tiled", None)
        if tiled is None or not _runs(value.error):
            raise value.error
        from cute_viz.algebra.views import get_slice

        return get_slice(finished(tiled), unknown(value.error))  # type: ignore[arg-type]
    if isinstance(value, Unknown) and not _runs(value.error()):
        raise value.error()
    if isinstance(value, ComposedLayout) and has_origin(value) and next(unknowns(value.offset), None) is not None:
        return value.inner  # where a tensor begins is no part of its layout
    if isinstance(value, (Class, Enumerator, Function, Template, Pointer, Pack, External, Env)):
        raise NotationError(f"{name!r} is {show(value)}, not a layout", text=context.text, span=span)
    return value


def _runs(error: CuteVizError) -> bool:
    return bool(error.needs) and error.needs[0].startswith(("threadIdx.", "blockIdx.", *RUN_TIME))
