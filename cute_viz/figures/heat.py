"""The grid of a layout with millions of cells: no labels, only the colour of each, a byte a cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain
from cute_viz.algebra.inttuple import modes, product, show
from cute_viz.algebra.layout import Layout, cosize, is_coordinate_layout, modes_of
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets_numpy
from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.paint import HUES, bands, span
from cute_viz.figures.rulers import ruler
from cute_viz.limits import limit, over

BAND = 1 << 20  # cells that are looked at at once


def heat(layout: AnyLayout, options: FigureOptions) -> Figure:
    """The figure of a layout's offsets, eight bands of hue and four shades of each.

    Refused: more cells than the limit `image-cells`, other than two modes, values that are coordinates.

    >>> from cute_viz.algebra.layout import Layout
    >>> panel = heat(Layout((512, 1024), (1024, 1)), FigureOptions()).panels[0]
    >>> panel.rows, panel.cols, len(panel.paints), max(panel.paints)
    (512, 1024, 524288, 31)
    """
    import numpy as np

    shape = modes(layout.shape)
    cells = product(layout.shape)
    if cells > limit("image-cells"):
        raise over("image-cells", f"the layout {show(layout)} has {cells} cells", instead="draw a slice or a smaller tile")
    if len(shape) != 2:
        raise FigureError(
            f"{show(layout)} has {len(shape)} modes; an image of so many cells has two", hint="draw a slice: L(_,_,0)"
        )
    if is_coordinate_layout(domain(layout)):
        raise FigureError(f"the values of {show(layout)} are coordinates, which no image shows")
    rows, cols = product(shape[0]), product(shape[1])
    offsets_of = _columns(layout, rows, cols, np)
    width = max(1, BAND // rows)
    starts = range(0, cols, width)
    extremes = [(int(part.min()), int(part.max())) for part in (offsets_of(c, min(c + width, cols)) for c in starts)]
    low, high = min(a for a, _ in extremes), max(b for _, b in extremes)
    band, shades, step = bands(low, high)
    paints = np.empty((rows, cols), np.uint8)
    counts = np.zeros(HUES, np.int64)
    for c in starts:
        part = offsets_of(c, min(c + width, cols)) - low
        hue = part // band
        paints[:, c : c + width] = hue * shades + (part - hue * band) // step
        counts += np.bincount(hue.ravel(), minlength=HUES)
    entries = tuple(
        LegendEntry(hue * shades, span(low + hue * band, min(high, low + (hue + 1) * band - 1)), int(counts[hue]))
        for hue in range(HUES)
        if counts[hue]
    )
    title = options.title or f"{rows} × {cols} layout"
    caption = "each pixel is a cell (i,j), coloured by its offset; mode 0 goes down, mode 1 right"
    return Figure(
        kind="heat",
        title=title,
        source=show(layout),
        caption=caption,
        description=f"{title}. {show(layout)}: {caption}.",
        paints=tuple(Paint(hue, shade, shades) for hue in range(HUES) for shade in range(shades)),
        legends=(Legend("hue: offset, the place in memory; lighter is later", entries),),
        panels=(
            Panel(
                caption="",
                rows=rows,
                cols=cols,
                labels=(),
                paints=paints.tobytes(),  # type: ignore[arg-type]
                row_ruler=ruler("mode 0", rows),
                col_ruler=ruler("mode 1", cols),
            ),
        ),
        notes=(f"{cells} cells: an image, without labels.",),
        facts={"size": cells, "cosize": cosize(domain(layout))},
    )


def _columns(layout: AnyLayout, rows: int, cols: int, np: Any) -> Callable[[int, int], Any]:
    """A function that gives the offsets of the columns c0..c1-1; a table of all of them would be gigabytes."""
    inner: Any = layout
    swizzle, offset = None, 0
    if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle) and isinstance(layout.offset, int):
        swizzle, offset, inner = layout.outer, int(layout.offset), layout.inner
    if not isinstance(inner, Layout):
        table = offsets_numpy(layout, np).reshape(cols, rows).T
        return lambda c0, c1: table[:, c0:c1]
    down, right = (offsets_numpy(mode, np) for mode in modes_of(inner))

    def columns(c0: int, c1: int) -> Any:
        x = down[:, None] + (right[None, c0:c1] + offset)
        if swizzle is None:
            return x
        return x ^ ((x & swizzle.yyy) >> swizzle.shift if swizzle.shift >= 0 else (x & swizzle.yyy) << -swizzle.shift)

    return columns
