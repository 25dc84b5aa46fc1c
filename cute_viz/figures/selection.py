"""What a slice, local_tile or local_partition takes of a layout: the part lit within its parent, and the part alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.algebra import ops
from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import AnyLayout, as_layout, domain, is_layout
from cute_viz.algebra.inttuple import product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.slicing import slice_and_offset
from cute_viz.algebra.table import offsets
from cute_viz.errors import FigureError
from cute_viz.figures.grid import grid
from cute_viz.figures.model import HOLE, Figure, LegendEntry
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.page import page
from cute_viz.figures.paint import by_order, painted, receding
from cute_viz.figures.rulers import steps_of

PARENTS = {"slice": 1, "local_tile": 0, "local_partition": 0}  # which operand of an operation is the parent


def selection(call: Operation, options: FigureOptions) -> Figure:
    """The figure of a slice, a local_tile or a local_partition. Raises: FigureError for a result or a parent that is not a
    layout of integers."""
    found = ops.find(call.name)
    at = PARENTS[found.name]
    parent = as_layout(call.operands[at])
    result = found.call(list(call.operands), call.template)
    if not all(is_layout(x) for x in (parent, result)):
        raise FigureError(f"{found.name} gives {show(result)}, which is not a layout that can be drawn")
    plain = replace(options, view=None, color_by="none", title=None)
    whole, part = grid(parent, plain), grid(result, plain)
    if not all("offset" in panel.data for panel in (*whole.panels, *part.panels)):
        raise FigureError("values that are coordinates have no offset to color by")
    base = slice_and_offset(call.operands[0], parent)[1] if found.name == "slice" else 0
    chosen = _chosen(call, found, at, parent)
    of_whole = [offset for panel in whole.panels for offset in panel.data["offset"]]
    of_part = [offset + base for panel in part.panels for offset in panel.data["offset"]]
    painting = by_order([*of_whole, *of_part], "hue: offset", steps=steps_of(parent))
    rows, cols = whole.panels[0].rows, whole.panels[0].cols
    lit = [n // (rows * cols) * rows * cols + n // cols % rows + n % cols * rows in chosen for n in range(len(of_whole))]
    paints, cells = receding(painting.paints, painting.cells, [*lit, *[True] * len(of_part)])
    figures = painted((whole, part), cells, paints)
    words = f"A{_coordinate(call.operands[0])}" if found.name == "slice" else _words(found.name, call)
    beyond = f", at offset {base} of A" if base else ""
    shown = [(f"A: {show(parent)}", figures[0]), (f"{words}: {show(result)}{beyond}", figures[1])]
    out = page(options.title or f"{words}: {len(chosen)} of {product(domain(parent).shape)} elements of A", shown, 3, str(call))
    (legend,) = painting.legends
    hues = {paints[paint].hue for paint in cells[len(of_whole) :]}
    entries = [e for e in legend.entries if paints[e.paint].hue in hues]
    if any(paints[paint].faded for paint in cells if paint != HOLE):
        entries.append(LegendEntry(len(painting.paints), "not selected, faded"))
    legends = (replace(legend, entries=tuple(entries)),)
    panels_ = tuple([replace(panel, legends=None) for panel in out.panels])
    caption = "The selected elements of A are highlighted; each keeps its color in the panel of the selection"
    return replace(out, kind="operation", paints=paints, legends=legends, panels=panels_, caption=caption)


def _chosen(call: Operation, found: Any, at: int, parent: AnyLayout) -> set[int]:
    """The indices, counted down the columns, of the elements of the parent that an operation takes."""
    numbered = Layout(domain(parent).shape)
    operands = [numbered if n == at else operand for n, operand in enumerate(call.operands)]
    if found.name == "slice":
        part, base = slice_and_offset(operands[0], numbered)
        return {base + index for index in offsets(part)}
    return set(offsets(found.call(operands, call.template)))


def _coordinate(crd: Any) -> str:
    return show(crd) if isinstance(crd, tuple) else f"({show(crd)})"


def _words(name: str, call: Operation) -> str:
    """`local_tile(A, (4,3), (1,1))`."""
    rest = ", ".join(show(operand) for operand in call.operands[1:])
    return f"{name}(A, {rest})"
