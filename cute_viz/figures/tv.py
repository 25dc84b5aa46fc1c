"""The map of a thread-value layout, in two views: the tile (who owns a cell) and the table (where a value lies).

A TV layout maps (thread, value) to a place in a tile: a coordinate, or an index into the column-major tile. The
tile view draws its inverse, the table view the layout itself; readers mix them up, so each caption says which.
"""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.common import WARP
from cute_viz.algebra.composed import AnyLayout, has_origin
from cute_viz.algebra.inttuple import leaves, modes, product, show
from cute_viz.algebra.table import offsets
from cute_viz.errors import FigureError
from cute_viz.figures.findings import of_owners
from cute_viz.figures.highlight import highlight_notes, owners_of, paint_owners
from cute_viz.figures.model import Figure, Panel
from cute_viz.figures.options import FigureOptions, an, check_cells
from cute_viz.figures.owners import TVMap, first_owners, ownership_notes, places_of, tile_panel
from cute_viz.figures.paint import Painting, ruler
from cute_viz.spelling import count
from cute_viz.values.integer import Static


def tv(layout: AnyLayout, options: FigureOptions) -> Figure:
    """The figure of a TV layout."""
    tv_map = evaluate(layout, options)
    (owners,) = owners_of([tv_map], options)
    view = options.view or "tv"
    panels: list[Panel] = []
    (cells,), painting = paint_owners([tv_map], [first_owners(owners)], options, [owners] if view != "table" else ())
    of_tile = Painting(cells, painting.paints, painting.legends)
    if view in ("tv", "both"):
        caption = f"Tile view: {_TILE_CAPTION[0].lower()}{_TILE_CAPTION[1:]}" if options.view == "both" else ""
        panels.append(tile_panel(tv_map, owners, of_tile.cells, options, caption))
    painting = of_tile
    if view in ("table", "both"):
        every = [t * tv_map.values + v for t in range(tv_map.threads) for v in range(tv_map.values)]
        (cells,), painting = paint_owners([tv_map], [every], options)
        of_table = Painting(cells, painting.paints, painting.legends)
        cells = _translate(of_table, of_tile) if panels else of_table.cells
        panels.append(_table_panel(tv_map, modes(layout.shape), cells, options, len(panels)))
        painting = _merge(of_tile, of_table) if view == "both" else of_table

    whole = f"{count(tv_map.threads, 'thread')} × {count(tv_map.values, 'value')} over {an(tv_map.rows)} × {tv_map.cols} tile"
    one = options.thread.start if options.thread is not None and len(options.thread) == 1 else None
    title = options.title or (of_owners(panels[0], "", one, values=options.value) if view in ("tv", "both") else "") or whole
    captions = {
        "tv": _UNNAMED if options.labels == "none" else _TILE_CAPTION,
        "table": _TABLE_CAPTION,
        "both": "One mapping, two views: the tile and the table",
    }
    own = whole * (title != whole)
    caption = f"{captions[view]} ({own})" if own else captions[view]
    notes = _notes(tv_map, owners, options)
    facts = {"threads": tv_map.threads, "values": tv_map.values, "tile": f"{tv_map.rows}x{tv_map.cols}"}
    return painting.figure(
        "tv",
        (title, show(layout), caption),
        panels,
        notes,
        {"drawn": _drawn(layout), **facts},
        None if view == "both" or options.labels == "none" else own,
    )


_TILE_CAPTION = "Cell (m,n) shows its owner T,V: the inverse of the TV layout"
_UNNAMED = "Hue is the owner of cell (m,n): the inverse of the TV layout"
_TABLE_CAPTION = "Row T, column V shows the tile coordinate (m,n): the TV layout itself"


def evaluate(layout: AnyLayout, options: FigureOptions) -> TVMap:
    """Every (thread, value) placed in the tile. Raises: FigureError for a layout of other than two modes; places outside of the
    tile, with the first that is."""
    shape = modes(layout.shape)
    if len(shape) != 2:
        raise FigureError(
            f"a TV layout has two modes, (thread, value); {layout} has {len(shape)}",
            hint="group its modes: ((t0,t1),(v0,v1)); or draw its offsets with `view=grid`",
        )
    threads, values = map(product, shape)
    check_cells(threads * values, f"the TV layout {layout}", options)
    table = offsets(layout)
    if isinstance(table[0], tuple):
        if any(not isinstance(c, int) for c in table[0]) or len(table[0]) > 2:
            raise FigureError(f"the values of {layout} are not coordinates (m,n) of a tile")
        pairs = table if len(table[0]) == 2 else [(m, 0) for (m,) in table]
        if options.tile is None:
            rows, cols = (max(1, 1 + max(axis)) for axis in zip(*pairs, strict=True))
        else:
            rows, cols = options.tile
    else:
        if options.tile is None:
            raise FigureError(
                f"the values of {layout} are indices into a tile of unknown shape",
                hint="give the tile, rows x columns, for example `tile=8x128`",
            )
        rows, cols = options.tile
        pairs = None
    check_cells(rows * cols, f"the {rows} x {cols} tile", options)
    places = places_of(table, rows, cols) if pairs is None else [m * cols + n for m, n in pairs]
    for k, value in enumerate(table):
        inside = 0 <= value < rows * cols if pairs is None else 0 <= pairs[k][0] < rows and 0 <= pairs[k][1] < cols
        if not inside:
            where = f"index {value}" if pairs is None else f"coordinate {show(value)}"
            raise FigureError(
                f"value {k // threads} of thread {k % threads} is at {where}, outside the {rows} x {cols} tile"
                + (f" ({rows * cols} cells)" if pairs is None else ""),
                hint=_larger_tile(table, pairs, rows),
            )
    return TVMap(threads, values, rows, cols, places, warp=options.wave or WARP)


def _larger_tile(table: list[Any], pairs: list[Any] | None, rows: int) -> str:
    low = min(table) if pairs is None else min(min(pair) for pair in pairs)
    if low < 0:
        return "a TV layout maps to indices of the tile, 0 and up; this one has negative indices"
    if pairs is None:
        return f"its largest index is {max(table)}: {rows} rows need at least {max(table) // rows + 1} columns"
    m, n = (1 + max(axis) for axis in zip(*pairs, strict=True))
    return f"it needs at least `tile={m}x{n}`"


def _table_panel(tv_map: TVMap, shape: tuple[Any, ...], paints: tuple[int, ...], options: FigureOptions, column: int) -> Panel:
    cols = tv_map.cols
    order = [place for t in range(tv_map.threads) for place in tv_map.places[t :: tv_map.threads]]
    if options.labels == "none":
        labels = [""] * len(order)
    elif options.labels in ("index", "offset"):
        labels = [str(p // cols + (p % cols) * tv_map.rows) for p in order]
    else:
        labels = [f"({p // cols},{p % cols})" for p in order]
    return Panel(
        caption=f"Table view: {_TABLE_CAPTION[0].lower()}{_TABLE_CAPTION[1:]}" if options.view == "both" else "",
        labels=tuple(labels),
        paints=paints,
        row_ruler=ruler("thread", shape[0], nested=options.coords, prefix="T"),
        col_ruler=ruler("value", shape[1], nested=options.coords, prefix="V"),
        data={"row": tuple(p // cols for p in order), "column": tuple(p % cols for p in order)},
        place=(0, column),
        warp=tv_map.warp[0],
        warp_name=tv_map.warp[1],
    )


def _translate(painting: Painting, base: Painting) -> tuple[int, ...]:
    """The cells of a painting, renumbered into the paints of `_merge(base, painting)`."""
    paints = _merge(base, painting).paints
    number = [paints.index(paint) for paint in painting.paints]
    return tuple(-1 if p < 0 else number[p] for p in painting.cells)


def _merge(base: Painting, other: Painting) -> Painting:
    extra = tuple(paint for paint in other.paints if paint not in base.paints)
    return Painting(base.cells, base.paints + extra, base.legends)


def _notes(tv_map: TVMap, owners: list[list[int]], options: FigureOptions) -> tuple[str, ...]:
    notes = ownership_notes(tv_map.rows * tv_map.cols, owners, tv_map.values) or ["Every cell has exactly one owner."]
    return (*notes, *highlight_notes(options))


def _drawn(layout: AnyLayout) -> str:
    """The coordinate tensor that print_latex_tv would be given."""
    if has_origin(layout):
        return show(layout)
    static = any(isinstance(leaf, Static) for leaf in leaves(layout.shape))
    return f"ArithTuple({'_0,_0' if static else '0,0'}) o {show(layout)}"
