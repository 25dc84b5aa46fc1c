"""Objects -> picture model: `build` picks the figure that fits the object and the view."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, domain
from cute_viz.algebra.inttuple import is_int_tuple, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure
from cute_viz.figures.options import LABELS, FigureOptions
from cute_viz.figures.views import SWIZZLE, TILINGS, VIEWS, check_use


def build(obj: Any, options: FigureOptions | None = None) -> Figure:
    """The figure of an object: a layout (a bare shape is the compact column-major one), a swizzle, an atom or a tiling, a call.

    Refused: an object that is none of these, and options that it has no use for.

    >>> build(Layout((4, 8), (8, 1))).title
    '4 × 8 layout'
    """
    options = options or FigureOptions()
    if options.view is not None and options.view not in VIEWS:
        raise FigureError(f"there is no view {options.view!r}", hint=f"views: {', '.join(VIEWS)}")
    if options.operand == "":
        raise FigureError("which operand? --operand is empty", hint="A, B, C of an MMA, S, D of a copy")
    if options.labels not in LABELS:
        raise FigureError(f"there are no labels {options.labels!r}", hint=f"labels: {', '.join(LABELS)}")
    if isinstance(obj, (int, tuple)) and not isinstance(obj, bool) and obj != () and is_int_tuple(obj):
        obj = Layout(obj)
    if getattr(type(obj), "tiling", ""):
        return _tiling(obj, options)
    if type(obj).__name__ == "Call":  # of figures.operation, whose module few pictures need
        from cute_viz.figures.operation import operation

        check_use("an operation", VIEWS["operation"], options)
        return operation(obj, _shown(options))
    if isinstance(obj, Swizzle):
        from cute_viz.figures.bits import bits

        if options.view is not None:
            raise FigureError(f"{obj} alone has no shape; its picture is the bits", hint=f"compose it: {obj} o (8,64):(64,1)")
        check_use("a swizzle alone", SWIZZLE, options)
        return bits(obj, options)
    if not isinstance(obj, (Layout, ComposedLayout)):
        raise FigureError(f"{show(obj)} is not a layout that can be drawn", hint="such as (4,8):(8,1)")
    domain(obj)
    view = options.view or ("tv" if options.tile else "grid")
    check_use(f"--view {view}" if options.view else "a TV map" if options.tile else "a grid", VIEWS[view], options)
    options = _shown(options)
    if view in ("banks", "address"):
        from cute_viz.figures.banks import address, banks

        return (banks if view == "banks" else address)(obj, options)
    if view == "operation":
        raise FigureError(f"{show(obj)} is no operation", hint="such as logical_divide((8,6), (4,3)), or A o B")
    if view == "grid":
        from cute_viz.figures.grid import grid

        return grid(obj, options)
    from cute_viz.figures.tv import tv

    return tv(obj, options)


def _shown(options: FigureOptions) -> FigureOptions:
    """What a page shows of full labels is the renderer's matter; an image would have none of them."""
    return replace(options, labels="auto", heat=False) if options.labels == "full" else options


def _tiling(obj: Any, options: FigureOptions) -> Figure:
    """The figure of an atom, a tiling of atoms, or a thread's view; their modules are imported when they are met."""
    if options.view not in (None, "tv") or options.tile is not None:
        raise FigureError("--view and --tile go with a layout; an atom has its own tile", hint="--operand picks panels")
    what = "a tensor's partition" if options.tensor is not None else "a GEMM" if obj.tiling == "gemm" else "an MMA or a copy"
    check_use(what, TILINGS[what], options)
    options = _shown(options)
    if options.tensor is not None:
        from cute_viz.figures.partition import partition

        return partition(obj, options)
    if obj.tiling == "gemm":
        from cute_viz.figures.gemm import gemm

        return gemm(obj, options)
    if obj.tiling == "mma":
        from cute_viz.figures.mma import mma

        return mma(obj, options)
    from cute_viz.figures.copy import copy

    return copy(obj, options)
