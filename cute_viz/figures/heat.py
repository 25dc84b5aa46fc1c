"""The grid of a layout with millions of cells: no labels, only the colour of each, a byte a cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain, position_independent, swizzle_of
from cute_viz.algebra.inttuple import modes, product, show
from cute_viz.algebra.layout import is_coordinate_layout, modes_of
from cute_viz.algebra.swizzle import Swizzle, chunks_in_words
from cute_viz.algebra.table import WIDEST, offsets, offsets_numpy, reach, swizzled
from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.paint import HUES, bands, chunks, ruler, span, steps_of
from cute_viz.limits import limit, over

RAMP = 5  # the hue of a ramp from dark to light: the darkest
CORNERS = (
    (8, 64),
    (2, 128),
)  # rows and columns of an inset, where a swizzle of 128 bytes shows; of columns that are contiguous turned
BAND = 1 << 20  # cells that are looked at at once


def heat(layout: AnyLayout, options: FigureOptions) -> Figure:
    """The figure of a layout's offsets as a ramp of one hue, from dark to light; the legend tells every fourth of its shades.
    Raises: LimitError over the limit `image-cells`; FigureError for other than two modes, values that are coordinates, offsets
    past 62 bits, options that an image ignores."""
    import numpy as np

    _check_use(layout, options)
    shape = modes(layout.shape)
    cells = product(layout.shape)
    if cells > limit("image-cells"):
        raise over("image-cells", f"the layout {show(layout)} has {cells} cells", instead="draw a slice or a smaller tile")
    if len(shape) != 2:
        raise FigureError(
            f"{show(layout)} has {len(shape)} modes; an image of so many cells has two", hint="draw a slice: L(_,_,0)"
        )
    if is_coordinate_layout(domain(layout)):
        raise FigureError(f"the values of {show(layout)} are coordinates, which an image cannot show")
    rows, cols = product(shape[0]), product(shape[1])
    offsets_of = _columns(position_independent(layout), rows, cols, np)
    width = max(1, BAND // rows)
    starts = range(0, cols, width)
    extremes = [(int(part.min()), int(part.max())) for part in (offsets_of(c, min(c + width, cols)) for c in starts)]
    low, high = min(a for a, _ in extremes), max(b for _, b in extremes)
    outer = swizzle_of(layout)
    if outer is not None and outer.bits and options.color_by is None:  # the chunk that the swizzle moves shows what it does
        return _chunks(layout, outer, offsets_of, rows, cols, width, options, np)
    band, shades, step = bands(low, high, steps_of(layout))
    paints = np.empty((rows, cols), np.uint8)
    used: set[int] = set()
    for c in starts:
        part = offsets_of(c, min(c + width, cols)) - low
        hue = part // band
        paints[:, c : c + width] = hue * shades + (part - hue * band) // step
        used.update(np.unique(hue).tolist())
    entries = tuple(
        LegendEntry(hue * shades, span(low + hue * band, min(high, low + (hue + 1) * band - 1))) for hue in sorted(used)
    )
    return _figure(
        layout,
        options,
        "colored by its offset",
        tuple(Paint(RAMP, shade, HUES * shades) for shade in range(HUES * shades)),
        Legend("shade: offset; lighter is higher", entries),
        paints,
    )


def _chunks(
    layout: Any, swizzle: Swizzle, offsets_of: Any, rows: int, cols: int, width: int, options: FigureOptions, np: Any
) -> Figure:
    """The image of a swizzled layout: hue is the chunk, as of a grid."""
    count = min(HUES, 1 << max(swizzle.bits, abs(swizzle.shift)))
    paints = np.empty((rows, cols), np.uint8)
    for c in range(0, cols, width):
        paints[:, c : c + width] = (offsets_of(c, min(c + width, cols)) >> swizzle.changed) % count
    entries = tuple(LegendEntry(n, f"chunk {n}") for n in np.unique(paints).tolist())
    title = f"hue: {chunks_in_words(swizzle, count)}"
    drawn = _figure(layout, options, "colored by its chunk", tuple(map(Paint, range(count))), Legend(title, entries), paints)
    inset = _inset(swizzle, offsets_of, paints) if options.labels == "auto" else None
    return replace(drawn, panels=(*drawn.panels, inset)) if inset else drawn


def _inset(swizzle: Swizzle, offsets_of: Any, paints: Any) -> Panel | None:
    """The corner of the image, with the offsets of its chunks; None where the swizzle moves nothing there."""
    first = offsets_of(0, 1)[:2].ravel().tolist()
    upright = len(first) == 2 and first[1] == first[0] + 1
    for extents in CORNERS:
        rows, cols = extents[::-1] if upright else extents
        if rows > paints.shape[0] or cols > paints.shape[1]:
            continue
        order = offsets_of(0, cols)[:rows].ravel().tolist()
        if any(swizzle(x) != x for x in order):
            return Panel(
                caption=f"the first {rows} × {cols}, larger",
                labels=tuple(map(str, order)),
                paints=tuple(paints[:rows, :cols].ravel().tolist()),
                row_ruler=ruler("mode 0", rows),
                col_ruler=ruler("mode 1", cols),
                boxes=chunks(swizzle, order, rows, cols),
                data={"offset": tuple(order)},
                place=(1, 0),
            )
    return None


def _figure(layout: Any, options: FigureOptions, what: str, colours: tuple[Paint, ...], legend: Legend, paints: Any) -> Figure:
    rows, cols = map(int, paints.shape)
    title = options.title or f"{rows} × {cols} layout"
    caption = f"Each pixel is a cell (i,j), {what}"
    return Figure(
        kind="heat",
        title=title,
        source=show(layout),
        caption=caption,
        paints=colours,
        legends=(legend,),
        panels=(
            Panel(
                caption="",
                labels=(),
                paints=paints.tobytes(),
                row_ruler=ruler("mode 0", rows),
                col_ruler=ruler("mode 1", cols),
            ),
        ),
        notes=(f"{rows * cols} cells: an image, without labels.",),
        facts={"size": rows * cols, "cosize": domain(layout).cosize},
    )


def _check_use(layout: AnyLayout, options: FigureOptions) -> None:
    """Refuse what a grid has use for and an image has none."""
    colour = options.color_by or "offset"
    unused = "`coords=`" if options.coords else f"`color_by={colour}`" if colour != "offset" else ""
    if unused:
        raise FigureError(
            f"{unused} does not apply to an image; {show(layout)} becomes one, as it has {product(layout.shape)} cells",
            hint=f"an image is colored by offset; a grid has at most {options.max_cells} cells (`max_cells=`): draw a slice",
        )


def _columns(layout: AnyLayout, rows: int, cols: int, np: Any) -> Callable[[int, int], Any]:
    """A function that gives the offsets of the columns c0..c1-1; a table of all of them would be gigabytes. Raises: FigureError
    for offsets past 62 bits, as 64-bit integers would wrap; values that are coordinates."""
    known = reach(layout)
    values = offsets(layout) if known is None else []
    if values and not isinstance(values[0], int):
        raise FigureError(f"the values of {show(layout)} are coordinates, which an image cannot show")
    low, high = known or (min(values), max(values))
    if low < -WIDEST or high >= WIDEST:
        raise FigureError(
            f"the offsets of {show(layout)} exceed 62 bits, too large for an image",
            hint="draw a slice or a smaller tile: a grid of few cells can show any offsets",
        )
    if known is None:
        table = np.array(values, np.int64).reshape(cols, rows).T
        return lambda c0, c1: table[:, c0:c1]
    inner: Any = layout
    steps: list[tuple[Swizzle, int]] = []
    while isinstance(inner, ComposedLayout):
        steps.insert(0, (inner.outer, int(inner.offset)))  # type: ignore[arg-type]
        inner = inner.inner
    down, right = (offsets_numpy(mode, np) for mode in modes_of(inner))

    def columns(c0: int, c1: int) -> Any:
        x = down[:, None] + right[None, c0:c1]
        for swizzle, offset in steps:
            x = swizzled(swizzle, x + offset if offset else x)
        return x

    return columns
