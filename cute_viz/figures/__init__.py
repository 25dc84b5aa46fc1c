"""Objects -> picture model: `build` picks the figure that fits the object and the view."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from typing import Any

from cute_viz.algebra.composed import as_layout, domain, is_layout
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure
from cute_viz.figures.options import NOT_RUN, PLAIN, FigureOptions, check_use, not_run
from cute_viz.options.views import BITS, TILINGS, VIEWS, View
from cute_viz.values.instruction import UNKNOWN, Instruction


def build(obj: Any, options: FigureOptions | None = None) -> Figure:
    """The figure of an object: a layout (a bare shape is the compact column-major one), a swizzle, an atom or a tiling, a call.
    Raises: FigureError for any other object, and for options that it does not use."""
    options = options or PLAIN
    obj = as_layout(obj)
    what, view = _view(obj, options)
    check_use(what, view, options)
    if options.labels == "full":  # what a page shows of full labels is the renderer's matter; an image would have none of them
        options = replace(options, labels="auto", heat=False)
    module, _, function = view.where.partition(".")
    figure: Figure = getattr(import_module(f"cute_viz.figures.{module}"), function)(obj, options)
    return _owned_up(obj, figure)


def _owned_up(obj: Any, figure: Figure) -> Figure:
    """The figure, saying so of an operation of a machine on which nothing was run."""
    while (inner := getattr(obj, "tiled", None) or getattr(obj, "atom", None) or getattr(obj, "mma", None)) is not None:
        obj = inner
    op = getattr(obj, "instruction", UNKNOWN)
    if not re.match(r"sm1\d\d", op.arch) or NOT_RUN in " ".join((figure.description, *figure.notes)):
        return figure
    words = not_run(op.arch.upper())
    return replace(figure, notes=(*figure.notes, words), description=f"{figure.description} {words}".strip())


def _in_tmem(obj: Any) -> bool:
    """Whether a copy is an instruction of tensor memory, or a tiling of one."""
    atom = getattr(getattr(obj, "tiled", obj), "atom", None)
    return getattr(obj, "val_id", None) is not None or getattr(atom, "in_tmem", None) is not None


def _is_bulk(obj: Any) -> bool:
    """Whether a copy is a TMA or a bulk copy of one thread, whose size is a parameter."""
    return isinstance(op := getattr(obj, "instruction", None), Instruction) and op.bulk


def _view(obj: Any, options: FigureOptions) -> tuple[str, View]:
    """The kind of picture that fits an object, in words and by its row."""
    tiling = getattr(obj, "tiling", "")
    if tiling == "operation":
        if options.view == "steps":
            return "`view=steps`", VIEWS["steps"]
        if options.view not in (None, "operation"):
            hint = "leave out `view=`, or draw what it gives"
            raise FigureError(f"`view={options.view}` does not apply to an operation that has not been evaluated", hint=hint)
        return "an operation", VIEWS["operation"]
    own = {"gemm": ("zoom", "cube"), "mma": ("zoom", "cube"), "stages": ("zoom",)}.get(tiling, ())
    if options.view in own:
        return f"`view={options.view}`", VIEWS[options.view]
    if tiling:
        if options.view not in (None, "tv") or options.tile is not None:
            hint = f"`operand=` picks panels{'; its views: ' * bool(own)}{', '.join(own)}"
            if options.view == "pipeline":
                hint = "the stages are the last mode of a tile in shared memory, example: (128,64,3)"
            raise FigureError(f"`view=` and `tile=` apply to a layout, not to {TILINGS[tiling].meaning}", hint=hint)
        if tiling == "copy" and options.tensor is None and options.operand is None and _in_tmem(obj):
            tiling = "lanes"
        elif tiling == "copy" and options.tensor is None and options.operand is None and _is_bulk(obj):
            tiling = "bulk"
        if options.follow is not None:
            tiling = {"gemm": "follow", "stages": "way"}.get(tiling, tiling)
        row = TILINGS["partition" if options.tensor is not None else tiling]
        return row.meaning, row
    if isinstance(obj, Swizzle):
        if options.view == "matrix":
            return "`view=matrix`", VIEWS["matrix"]
        if options.view is not None:
            raise FigureError(f"{obj} has no shape; its picture is the bits", hint=f"compose it: {obj} o (8,64):(64,1)")
        return BITS.meaning, BITS
    if not is_layout(obj):
        hint = "example: (4,8):(8,1)"
        if type(obj).__name__ == "DescriptorWord":
            hint = f"'cute-viz show {obj}' decodes its fields"
        elif type(obj).__name__ == "ValueType":
            hint = f"an element type is given with a layout: `type={obj}`"
        raise FigureError(f"{show(obj)} is not a layout that can be drawn", hint=hint)
    domain(obj)
    name = options.view or ("tv" if options.tile else "grid")
    if name in ("operation", "steps"):
        raise FigureError(f"{show(obj)} is not an operation", hint="example: logical_divide((8,6), (4,3)), or A o B")
    return f"`view={name}`" if options.view else "a TV map" if options.tile else "a grid", VIEWS[name]
