"""The map of a thread-value layout, in two views: the tile (who owns a cell) and the table (where a value lies).

A TV layout maps (thread, value) to a place in a tile: a coordinate, or an index into the column-major tile. The
tile view draws its inverse, the table view the layout itself; readers mix them up, so each caption says which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cute_viz.algebra.composed import AnyLayout
from cute_viz.algebra.inttuple import Static, leaves, modes, product, show
from cute_viz.algebra.table import offsets
from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.figures.paint import Painting, by_group, unpainted
from cute_viz.figures.rulers import ruler

COLOR_BY = ("thread", "value", "warp", "row", "column", "none")
WARP = 32  # threads


@dataclass(frozen=True, slots=True)
class TVMap:
    """An evaluated TV layout: places[t + threads * v] is the cell (m * cols + n) of value v of thread t."""

    threads: int
    values: int
    rows: int
    cols: int
    places: list[int]

    def owners(self) -> list[list[int]]:
        """For each cell of the tile, its owners as t * values + v, lowest thread, then value, first."""
        out: list[list[int]] = [[] for _ in range(self.rows * self.cols)]
        for t in range(self.threads):
            for v, place in enumerate(self.places[t :: self.threads]):
                out[place].append(t * self.values + v)
        return out


def tv(layout: AnyLayout, options: FigureOptions) -> Figure:
    """The figure of a TV layout.

    >>> from cute_viz.algebra.layout import Layout
    >>> tv(Layout((2, 2), (2, 1)), FigureOptions(tile=(2, 2))).panels[0].labels
    ('T0\\nV0', 'T1\\nV0', 'T0\\nV1', 'T1\\nV1')
    """
    shape = modes(layout.shape)
    if len(shape) != 2:
        raise FigureError(
            f"a TV layout has two modes, (thread, value); {layout} has {len(shape)}",
            hint="group its modes: ((t0,t1),(v0,v1)); or draw its offsets with --view grid",
        )
    tv_map = evaluate(layout, options)
    owners = tv_map.owners()
    view = options.view or "tv"
    panels: list[Panel] = []
    of_tile = _painting(tv_map, [mine[0] if mine else None for mine in owners], options.color_by)
    if view in ("tv", "both"):
        panels.append(_tile_panel(tv_map, owners, of_tile, options))
    painting = of_tile
    if view in ("table", "both"):
        every = [t * tv_map.values + v for t in range(tv_map.threads) for v in range(tv_map.values)]
        of_table = _painting(tv_map, every, options.color_by)
        cells = _translate(of_table, of_tile) if panels else of_table.cells
        panels.append(_table_panel(tv_map, shape, cells, options, len(panels)))
        painting = _merge(of_tile, of_table) if view == "both" else of_table

    title = options.title or (
        f"{_count(tv_map.threads, 'thread')} × {_count(tv_map.values, 'value')} over a {tv_map.rows} × {tv_map.cols} tile"
    )
    captions = {"tv": _TILE_CAPTION, "table": _TABLE_CAPTION, "both": "one mapping, two views: the tile and the table"}
    notes = _notes(tv_map, owners)
    legend_words = "".join(f" Colour, {legend.title}." for legend in painting.legends)
    return Figure(
        kind="tv",
        title=title,
        source=show(layout),
        caption=captions[view],
        description=f"{title}. {show(layout)}: {captions[view]}. {' '.join(notes)}{legend_words}",
        paints=painting.paints,
        legends=painting.legends,
        panels=tuple(panels),
        notes=notes,
        facts={
            "drawn": _drawn(layout),
            "threads": tv_map.threads,
            "values": tv_map.values,
            "tile": f"{tv_map.rows}x{tv_map.cols}",
        },
    )


_TILE_CAPTION = "cell (m,n) shows its owner T,V: the inverse of the TV layout"
_TABLE_CAPTION = "row T, column V shows the tile coordinate (m,n): the TV layout itself"


def evaluate(layout: AnyLayout, options: FigureOptions) -> TVMap:
    """Every (thread, value) placed in the tile, or a FigureError that says which one falls outside."""
    threads, values = (product(mode) for mode in modes(layout.shape))
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
                hint="give the tile: --tile MxN, such as --tile 8x128",
            )
        rows, cols = options.tile
        pairs = None
    check_cells(rows * cols, f"the {rows} x {cols} tile", options)
    places = [i // rows + (i % rows) * cols for i in table] if pairs is None else [m * cols + n for m, n in pairs]
    for k, value in enumerate(table):
        inside = 0 <= value < rows * cols if pairs is None else 0 <= pairs[k][0] < rows and 0 <= pairs[k][1] < cols
        if not inside:
            where = f"index {value}" if pairs is None else f"coordinate {show(value)}"
            raise FigureError(
                f"value {k // threads} of thread {k % threads} is at {where}, outside of the {rows} x {cols} tile"
                + (f" ({rows * cols} cells)" if pairs is None else ""),
                hint=_larger_tile(table, pairs, rows),
            )
    return TVMap(threads, values, rows, cols, places)


def _larger_tile(table: list[Any], pairs: list[Any] | None, rows: int) -> str:
    low = min(table) if pairs is None else min(min(pair) for pair in pairs)
    if low < 0:
        return "a TV layout maps to places of the tile, 0 and up; this one has negative ones"
    if pairs is None:
        return f"its largest index is {max(table)}: {rows} rows need at least {max(table) // rows + 1} columns"
    m, n = (1 + max(axis) for axis in zip(*pairs, strict=True))
    return f"it needs at least --tile {m}x{n}"


def _tile_panel(tv_map: TVMap, owners: list[list[int]], painting: Painting, options: FigureOptions) -> Panel:
    values = tv_map.values
    first = [mine[0] if mine else None for mine in owners]
    threads = tuple([None if o is None else o // values for o in first])
    value_ids = tuple([None if o is None else o % values for o in first])
    cols = tv_map.cols
    if options.labels == "none":
        labels = [""] * len(first)
    elif options.labels == "coord":
        labels = [f"({i // cols},{i % cols})" for i in range(len(first))]
    elif options.labels == "index":
        labels = [str(i // cols + (i % cols) * tv_map.rows) for i in range(len(first))]
    else:
        labels = ["" if o is None else f"T{o // values}\nV{o % values}" for o in first]
    return Panel(
        caption=f"tile view: {_TILE_CAPTION}" if options.view == "both" else "",
        rows=tv_map.rows,
        cols=cols,
        labels=tuple(labels),
        paints=painting.cells,
        row_ruler=_tile_ruler("M", threads, tv_map.rows, cols, 1),
        col_ruler=_tile_ruler("N", threads, cols, tv_map.rows, cols),
        owners=tuple((cell, tuple(divmod(o, values) for o in mine)) for cell, mine in enumerate(owners) if len(mine) > 1),
        boxes=_boxes(threads, value_ids, tv_map.rows, cols),
        data={"thread": threads, "value": value_ids},
    )


def _tile_ruler(title: str, threads: Sequence[int | None], count: int, width: int, step: int) -> Ruler:
    """Borders where another warp begins along the whole line (2), or where the threads of the first line start over (1)."""
    lines = [threads[i * width : (i + 1) * width] if step == 1 else threads[i::step] for i in range(count)]
    warps = [[None if t is None else t // WARP for t in line] for line in lines]
    out = [0] * (count + 1)
    for i in range(1, count):
        if all(None not in (a, b) and a != b for a, b in zip(warps[i - 1], warps[i], strict=True)):
            out[i] = 2
        elif lines[i] == lines[0] and lines[i - 1] != lines[i]:
            out[i] = 1
    return Ruler(title, tuple(map(str, range(count))), tuple(out))


def _boxes(
    threads: Sequence[int | None], values: Sequence[int | None], rows: int, cols: int
) -> tuple[tuple[int, int, int, int], ...]:
    """Runs of consecutive values of one thread, along the direction that has more of them."""

    def follows(a: int, b: int) -> bool:
        """Whether cell b holds the next value of the thread of cell a."""
        mine, value, following = threads[a], values[a], values[b]
        return mine is not None and mine == threads[b] and value is not None and following == value + 1

    right = {(r, c) for r in range(rows) for c in range(cols - 1) if follows(r * cols + c, r * cols + c + 1)}
    down = {(r, c) for c in range(cols) for r in range(rows - 1) if follows(r * cols + c, (r + 1) * cols + c)}
    across = len(right) >= len(down)
    links = right if across else down
    dr, dc = (0, 1) if across else (1, 0)
    out = []
    for r, c in sorted(links):
        if (r - dr, c - dc) in links:
            continue
        end_r, end_c = r, c
        while (end_r, end_c) in links:
            end_r, end_c = end_r + dr, end_c + dc
        out.append((r, c, end_r + 1, end_c + 1))
    return tuple(out)


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
        caption=f"table view: {_TABLE_CAPTION}" if options.view == "both" else "",
        rows=tv_map.threads,
        cols=tv_map.values,
        labels=tuple(labels),
        paints=paints,
        row_ruler=ruler("thread", shape[0], nested=options.coords, prefix="T"),
        col_ruler=ruler("value", shape[1], nested=options.coords, prefix="V"),
        data={"row": tuple(p // cols for p in order), "column": tuple(p % cols for p in order)},
        place=(0, column),
    )


def _painting(tv_map: TVMap, owners: Sequence[int | None], color_by: str | None) -> Painting:
    """Paints for cells given by their owner, t * values + v."""
    threads, values = tv_map.threads, tv_map.values
    choice = color_by or ("warp" if threads > WARP else "thread")
    if choice not in COLOR_BY:
        raise FigureError(f"a TV map has no colour by {choice!r}", hint=f"choices: {', '.join(COLOR_BY)}")
    if choice == "none":
        bare = unpainted(len(owners))
        return Painting(tuple(-1 if o is None else 0 for o in owners), bare.paints, ())
    if choice == "value":
        return by_group([None if o is None else o % values for o in owners], values, "hue: value", "V")
    if choice in ("row", "column"):
        places = [None if o is None else tv_map.places[o // values + threads * (o % values)] for o in owners]
        if choice == "row":
            return by_group([None if p is None else p // tv_map.cols for p in places], tv_map.rows, "hue: row of the tile", "row ")
        return by_group([None if p is None else p % tv_map.cols for p in places], tv_map.cols, "hue: column of the tile", "column ")
    width = WARP if choice == "warp" else 1
    return by_group(
        [None if o is None else o // values // width for o in owners],
        -(-threads // width),
        f"hue: {choice}" + (" (32 threads)" if choice == "warp" else ""),
        "warp " if choice == "warp" else "T",
        order=[None if o is None else o % values for o in owners],
        order_count=values,
        order_title="shade: value",
        order_prefix="V",
    )


def _translate(painting: Painting, base: Painting) -> tuple[int, ...]:
    """The cells of a painting, renumbered into the paints of `_merge(base, painting)`."""
    paints = _merge(base, painting).paints
    number = [paints.index(paint) for paint in painting.paints]
    return tuple(-1 if p < 0 else number[p] for p in painting.cells)


def _merge(base: Painting, other: Painting) -> Painting:
    extra = tuple(paint for paint in other.paints if paint not in base.paints)
    return Painting(base.cells, base.paints + extra, base.legends)


def _notes(tv_map: TVMap, owners: list[list[int]]) -> tuple[str, ...]:
    cells = tv_map.rows * tv_map.cols
    holes = sum(not mine for mine in owners)
    shared = sum(len(mine) > 1 for mine in owners)
    notes = []
    if holes:
        notes.append(f"{holes} of {cells} cells have no owner and are drawn as holes.")
    if shared:
        most = max(map(len, owners))
        notes.append(f"{shared} cells have several owners (up to {most}); the lowest thread is shown, ×n tells how many there are.")
    if not holes and not shared:
        notes.append("Every cell has exactly one owner.")
    return tuple(notes)


def _drawn(layout: AnyLayout) -> str:
    """The coordinate tensor that print_latex_tv would be given."""
    static = any(isinstance(leaf, Static) for leaf in leaves(layout.shape))
    return f"ArithTuple({'_0,_0' if static else '0,0'}) o {show(layout)}"


def _count(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")
